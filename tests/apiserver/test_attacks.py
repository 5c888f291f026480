"""Others are answered while somebody attacks: the worst kinds of `benchmarks.attacks`, against a server of their own.

What counts is the processor time that the server spends while one `/livez` waits, and the limit is a piece of plain Python, timed
beside it: half a second on an ordinary machine, and as much more as this one is slower. A machine that is busy with other things
makes both longer.
"""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import Any

import pytest
from benchmarks.attacks.by_streams import vast
from benchmarks.attacks.table import ATTACKS
from benchmarks.prober import Outcome, probe

WORST = (
    "JSON: 3 MB that ends wrong",
    "data: 200,000 bad keys",
    "labels: 100,000 bad",
    "YAML: below the limit",
    "pod: 40,000 containers",
    "protobuf: pod of containers",
    "JSON patch: 30 doubling copies",
    "JSON patch: 10,000 inserts at the head",
    "merge patch: 200,000 keys",
    "selector: 500 KB of keys",
    "CEL: 24 doubling variables",
    "CEL: a text that doubles",
    "list: 40 MB as YAML",
    "60 lists of 40 MB that nobody reads",
    "100 watches with the initial 40 MB that nobody reads",
    "300 anonymous paths of 900 KB",
)
PATIENCE = 2.0
MOST_KEPT = 384.0
"""MiB that the server may hold afterwards beside what it held before: the attacks send and ask for gigabytes."""


def _plain_python() -> float:
    """Milliseconds of processor time that counting takes."""
    started = time.process_time()
    for _ in range(10_000_000):
        pass
    return (time.process_time() - started) * 1000


async def _run(names: tuple[str, ...]) -> list[Outcome]:
    return [outcome async for outcome in probe(names, PATIENCE)]


def test_others_are_answered_while_somebody_attacks() -> None:
    outcomes = asyncio.run(_run(WORST))
    limit = max(500.0, 2 * _plain_python())
    stalled = tuple(outcome.name for outcome in outcomes if outcome.stall > limit)
    if stalled:  # what is no accident happens again
        again = asyncio.run(_run(stalled))
        assert not [str(outcome) for outcome in again if outcome.stall > limit]
    assert outcomes[-1].after - outcomes[0].before < MOST_KEPT, [str(outcome) for outcome in outcomes]


class Asked:
    """An attacker that only says what it would send."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> int:
        self.bodies += [body] if body else []
        return 201


def test_attacks_send_what_they_are_called_after(monkeypatch: pytest.MonkeyPatch) -> None:
    sleep = asyncio.sleep
    monkeypatch.setattr(asyncio, "sleep", lambda seconds: sleep(0))  # nobody has anything to digest

    async def main(name: str) -> Any:
        who = Asked()
        await ATTACKS[name](who)  # type: ignore[arg-type]
        return who.bodies[0]["spec"]["containers"][0]

    variables = asyncio.run(main("pod: 28 variables, each twice the last"))["env"]
    assert len(variables) == 28
    assert all(later["value"] == 2 * f"$({one['name']})" for one, later in pairwise(variables))
    assert asyncio.run(main("pod: a word of 400,000 brackets that nobody closes"))["command"][1].count("(") == 400_000


def test_a_service_that_is_asked_about_has_as_many_endpoints_and_ports_as_are_said() -> None:
    async def main(*args: Any) -> None:
        who = Asked()
        await vast(who, *args)  # type: ignore[arg-type]
        service, *slices = who.bodies
        addresses = {address for each in slices for end in each["endpoints"] for address in end["addresses"]}
        assert len(addresses) == 5_000
        _, ports = args or ("vast", 1)
        assert [len(each["ports"]) for each in (service["spec"], *slices)] == [ports] * 6
        assert {each["metadata"]["labels"]["kubernetes.io/service-name"] for each in slices} == {
            service["metadata"]["name"]
        }

    asyncio.run(main())
    asyncio.run(main("wide", 100))
    assert "DNS: 20,000 datagrams about 5,000 endpoints with 100 ports each" in ATTACKS
