"""What the events of a resize say."""

from __future__ import annotations

from lifecycle.kubelet.allocation.resize_messages import (
    pod_resize_completed_message,
    pod_resize_error_message,
    pod_resize_pending_message,
    pod_resize_started_message,
)

POD = {
    "spec": {
        "containers": [
            {
                "name": "c",
                "resources": {"requests": {"memory": "1Mi", "cpu": "1"}, "limits": {"cpu": "2"}, "claims": []},
            },
            {"name": "d"},
        ]
    }
}
WISH = '"containers":[{"name":"c","resources":{"limits":{"cpu":"2"},"requests":{"cpu":"1","memory":"1Mi"}}},{"name":"d","resources":{}}]'


def test_they_begin_with_words_and_go_on_with_the_wish() -> None:
    assert pod_resize_started_message(POD, 3) == f'Pod resize started: {{{WISH},"generation":3}}'
    assert pod_resize_completed_message(POD, 4) == f'Pod resize completed: {{{WISH},"generation":4}}'


def test_what_went_wrong_stands_at_the_end() -> None:
    assert (
        pod_resize_error_message(POD, 3, "no room") == f'Pod resize error: {{{WISH},"generation":3,"error":"no room"}}'
    )
    assert pod_resize_pending_message(POD, "Deferred", "later", 5) == (
        f'Pod resize Deferred: {{{WISH},"generation":5,"error":"later"}}'
    )
    assert pod_resize_pending_message(POD, "Infeasible", "", 5) == f'Pod resize Infeasible: {{{WISH},"generation":5}}'


def test_init_containers_come_first() -> None:
    pod = {"spec": {"initContainers": [{"name": "i"}], "containers": []}}
    assert pod_resize_started_message(pod, 1) == (
        'Pod resize started: {"initContainers":[{"name":"i","resources":{}}],"generation":1}'
    )
