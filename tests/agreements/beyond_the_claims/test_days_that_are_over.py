"""A pod that has been active for too long: what it says of itself, and what it goes on to say."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import VIRTUAL_EPOCH, format_time
from lifecycle.kubelet.active_deadline import (
    MESSAGE,
    ActiveDeadlineHandler,
    ShouldEvictResponse,
    generate_status,
    generate_status_1_20,
)

STARTED: Object = {"startTime": format_time(VIRTUAL_EPOCH)}
COMPUTED: Object = {
    "phase": "Running",
    "conditions": [{"type": "Ready", "status": "True"}],
    "containerStatuses": [{"name": "c", "restartCount": 3}],
    "initContainerStatuses": [{"name": "i"}],
    "podIP": "10.0.0.7",
    "podIPs": [{"ip": "10.0.0.7"}],
    "hostIP": "172.19.0.2",
    "qosClass": "Burstable",
    **STARTED,
}
OVER = {"phase": "Failed", "reason": "DeadlineExceeded", "message": MESSAGE}


@pytest.mark.parametrize(
    ("seconds", "after", "over"),
    [(30, 29.5, False), (30, 30, True), (30, 3000, True), (0, 0, True), (1, 0.5, False), (None, 3000, False)],
)
@pytest.mark.parametrize("computed", [COMPUTED, {"phase": "Pending", "reason": "Waits", "message": "for you"}, {}])
def test_it_has_failed_and_all_else_is_told_as_ever(
    seconds: int | None, after: float, over: bool, computed: Object
) -> None:
    spec = {} if seconds is None else {"activeDeadlineSeconds": seconds}
    pod: Object = {"metadata": {"uid": "u"}, "spec": spec}
    handler = ActiveDeadlineHandler({"u": STARTED}.get, lambda: VIRTUAL_EPOCH + after)
    made = deepcopy(computed)
    told = generate_status(lambda: made, pod, [handler.should_evict])
    assert told == ({**computed, **OVER} if over else computed)
    assert made == computed, "nothing is changed in what was computed"
    before = generate_status_1_20(lambda: made, pod, [handler.should_evict])
    assert before == (OVER if over else computed), "it was so once"


def test_the_first_who_objects_has_the_word() -> None:
    def says(reason: str) -> Any:
        return lambda pod: ShouldEvictResponse(bool(reason), reason, f"it is {reason}" if reason else "")

    pod: Object = {"metadata": {"uid": "u"}, "spec": {}}
    told = generate_status(lambda: COMPUTED, pod, map(says, ("", "Late", "Later")))
    assert told == {**COMPUTED, "phase": "Failed", "reason": "Late", "message": "it is Late"}
    assert generate_status(lambda: COMPUTED, pod, map(says, ("", ""))) == COMPUTED
