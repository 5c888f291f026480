"""How long a pod may be active, and what its status says when that is over."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time
from lifecycle.kubelet.active_deadline import (
    ActiveDeadlineHandler,
    ShouldEvictResponse,
    generate_status,
    generate_status_1_20,
)

NOON = 1_800_000_000
MESSAGE = "Pod was active on the node longer than the specified deadline"
COMPUTED = {"phase": "Running", "reason": "", "message": "m", "containerStatuses": [{"name": "c"}]}
OVER = {"phase": "Failed", "reason": "DeadlineExceeded", "message": MESSAGE}


def pod(seconds: int | None, started: int | None = None) -> Object:
    spec = {} if seconds is None else {"activeDeadlineSeconds": seconds}
    status = {} if started is None else {"startTime": format_time(started)}
    return {"metadata": {"uid": "u"}, "spec": spec, "status": status}


@pytest.mark.parametrize(
    ("asked", "known", "deadline"),
    [
        (pod(30, NOON), None, NOON + 30),
        (pod(30, NOON), {"startTime": format_time(NOON + 5)}, NOON + 35),  # what the kubelet knows is newer
        (pod(30, NOON), {}, NOON + 30),
        (pod(30), {"startTime": format_time(NOON)}, NOON + 30),
        (pod(30), {"phase": "Pending"}, None),
        (pod(30), None, None),
        (pod(None, NOON), None, None),
        (pod(0, NOON), None, NOON),
    ],
)
def test_the_time_counts_from_the_start(asked: Object, known: Any, deadline: float | None) -> None:
    now = [0.0]
    handler = ActiveDeadlineHandler({"u": known}.get, lambda: now[0])
    assert handler.deadline(asked) == deadline
    for after, evict in ((-1, False), (0, True), (1, True)):
        now[0] = (NOON if deadline is None else deadline) + after
        expected = deadline is not None and evict
        assert handler.should_evict(asked) == (
            ShouldEvictResponse(True, "DeadlineExceeded", MESSAGE) if expected else ShouldEvictResponse(False)
        )


@pytest.mark.parametrize(
    ("verdicts", "newest", "of_1_20"),
    [
        ([], COMPUTED, COMPUTED),
        ([ShouldEvictResponse(False, "x", "y")], COMPUTED, COMPUTED),
        ([ShouldEvictResponse(True, "DeadlineExceeded", MESSAGE)], {**COMPUTED, **OVER}, OVER),
        (
            [
                ShouldEvictResponse(False),
                ShouldEvictResponse(True, "DeadlineExceeded", MESSAGE),
                ShouldEvictResponse(True, "a", "b"),
            ],
            {**COMPUTED, **OVER},
            OVER,
        ),
    ],
)
def test_the_first_who_objects_ends_the_pod_and_since_1_21_the_rest_is_told_too(
    verdicts: list[ShouldEvictResponse], newest: Object, of_1_20: Object
) -> None:
    order: list[str] = []

    def compute() -> Object:
        order.append("computed")
        return dict(COMPUTED)

    def handler(number: int, verdict: ShouldEvictResponse) -> Any:
        return lambda asked: order.append(f"{number} {asked['metadata']['uid']}") or verdict

    handlers = [handler(number, verdict) for number, verdict in enumerate(verdicts)]
    objects = next((number for number, verdict in enumerate(verdicts) if verdict.evict), None)
    asked = [f"{number} u" for number in range(len(verdicts) if objects is None else objects + 1)]
    assert generate_status(compute, pod(1), handlers) == newest
    assert order == ["computed", *asked]
    order.clear()
    assert generate_status_1_20(compute, pod(1), handlers) == of_1_20
    assert order == [*asked, *(["computed"] if objects is None else [])]
