"""How many answers in a row a probe needs: what came in between begins the count anew."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.kubelet.prober.prober import ProbeError
from lifecycle.kubelet.prober.worker import LIVENESS, READINESS, STARTUP, Worker


class Scripted:
    """Answers one after the other (`+` well, `-` ill, `?` could not be asked), then none any more."""

    def __init__(self, answers: str) -> None:
        self.left = list(answers)
        self.asked = 0

    async def probe(self, *_: Any) -> tuple[bool, str]:
        if not self.left:
            await asyncio.Event().wait()
        self.asked += 1
        answer = self.left.pop(0)
        if answer == "?":
            raise ProbeError("no such program")
        return answer == "+", ""


def results(kind: str, answers: str, *, restarted_after: int = 0, **probe: int) -> list[tuple[int, bool]]:
    """After how many questions which result counted. `restarted_after`: from then on it is another container."""
    prober = Scripted(answers)
    counted: list[tuple[int, bool]] = []

    def status(_: str) -> Object:
        second = bool(restarted_after) and prober.asked >= restarted_after
        entry = {
            "name": "c",
            "containerID": f"x://{int(second)}",
            "started": kind != STARTUP,
            "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}},
        }
        return {"phase": "Running", "containerStatuses": [entry]}

    async def main() -> None:
        worker = Worker(
            {"metadata": {"uid": "u"}, "spec": {}},
            {"name": "c", f"{kind}Probe": {"periodSeconds": 1, **probe}},
            kind,
            cast(Any, prober),
            status=status,
            now=lambda: 2e9,
            event=lambda *_: None,
            result=lambda *each: counted.append((prober.asked, each[-1])),
        )
        asking = asyncio.create_task(worker.run())
        await asyncio.sleep(len(answers) + 5)
        asking.cancel()

    on_virtual_time(main())
    return counted


@pytest.mark.parametrize("kind", [READINESS, LIVENESS])
@pytest.mark.parametrize("answers", ["+-+-+-+", "+--+--+--", "-+--+-", "--+--+"])
def test_failures_that_are_not_in_a_row_change_nothing(kind: str, answers: str) -> None:
    well = [(at, True) for at, answer in enumerate(answers, 1) if answer == "+"]
    assert results(kind, answers) == well, "three are needed if nothing is said"


IN_A_ROW: list[tuple[str, str, dict[str, int], list[tuple[int, bool]]]] = [
    (READINESS, "+---", {}, [(1, True), (4, False)]),
    (READINESS, "+----", {}, [(1, True), (4, False), (5, False)]),
    (READINESS, "+--+---", {}, [(1, True), (4, True), (7, False)]),
    (READINESS, "+-", {"failureThreshold": 1}, [(1, True), (2, False)]),
    (READINESS, "+-+--", {"failureThreshold": 2}, [(1, True), (3, True), (5, False)]),
    (READINESS, "-+-++", {"successThreshold": 2}, [(5, True)]),
    (READINESS, "+-+-+-+", {"successThreshold": 2}, []),
    (READINESS, "+++---++-+++", {"successThreshold": 3}, [(3, True), (6, False), (12, True)]),
    (READINESS, "+--?-", {}, [(1, True), (5, False)]),
    (READINESS, "+?+", {"successThreshold": 2}, [(3, True)]),
    (LIVENESS, "+---", {}, [(1, True), (4, False)]),
    (LIVENESS, "---------", {}, [(3, False)]),
    (LIVENESS, "-+--+---", {}, [(2, True), (5, True), (8, False)]),
    (LIVENESS, "--+", {"failureThreshold": 2}, [(2, False)]),
    (STARTUP, "-----+", {"failureThreshold": 6}, [(6, True)]),
    (STARTUP, "-----+", {"failureThreshold": 5}, [(5, False)]),
    (STARTUP, "+---", {}, [(1, True)]),
]


@pytest.mark.parametrize(("kind", "answers", "probe", "expected"), IN_A_ROW)
def test_after_how_many_questions_a_state_changes(
    kind: str, answers: str, probe: dict[str, int], expected: list[tuple[int, bool]]
) -> None:
    assert results(kind, answers, **probe) == expected


@pytest.mark.parametrize(
    ("answers", "after", "expected"),
    [("------", 3, [(3, False), (6, False)]), ("---+---", 3, [(3, False), (4, True), (7, False)])],
)
def test_another_container_is_asked_again_and_is_ill_after_as_many_answers(
    answers: str, after: int, expected: list[tuple[int, bool]]
) -> None:
    assert results(LIVENESS, answers, restarted_after=after) == expected
