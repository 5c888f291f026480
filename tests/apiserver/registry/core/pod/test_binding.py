"""What a binding leaves of a pod's conditions. (How bindings are answered is held against the recording: `agreements/scheduler/binding.py`.)"""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.registry.core.pod.binding import assign_pod
from lifecycle.apiserver.registry.scope import RequestScope

NOW, BEFORE = "2026-01-01T00:00:10Z", "2026-01-01T00:00:00Z"
REFUSED = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "lastTransitionTime": BEFORE}
READY = {"type": "Ready", "status": "False", "lastTransitionTime": BEFORE}


def bound(*conditions: Object) -> list[Object]:
    pod = {"metadata": {"name": "web", "uid": "u"}, "spec": {}, "status": {"conditions": list(conditions)}}
    binding = {"metadata": {"name": "web"}, "target": {"kind": "Node", "name": "one"}}
    new = assign_pod(pod, binding, RequestScope(resource("pods"), "shop", "web"), NOW)
    assert pod["status"] == {"conditions": list(conditions)}  # the stored pod stays as it is
    conditions_after: list[Object] = new["status"]["conditions"]
    return conditions_after


@pytest.mark.parametrize("place", [0, 1])
def test_a_refused_pod_that_is_bound_has_its_condition_where_it_stood(place: int) -> None:
    conditions = [READY]
    conditions.insert(place, REFUSED)
    after = bound(*conditions)
    assert [each["type"] for each in after] == [each["type"] for each in conditions]
    assert after[place] == {
        "type": "PodScheduled",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": NOW,
    }


def test_a_condition_that_was_true_already_keeps_its_time() -> None:
    [after] = bound({"type": "PodScheduled", "status": "True", "lastTransitionTime": BEFORE})
    assert after["lastTransitionTime"] == BEFORE


def test_a_new_condition_comes_last() -> None:
    assert [each["type"] for each in bound(READY)] == ["Ready", "PodScheduled"]
