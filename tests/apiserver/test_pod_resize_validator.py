"""PodResizeValidator: more than the whole node has is refused at once. (Its words: `tests/agreements/kubelet/test_resized_pods.py`.)"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import UPDATE, Attributes
from lifecycle.apiserver.admission.pod_resize_validator import PodResizeValidator
from lifecycle.apiserver.storage.object_reader import StaticReader


def pod(node: str = "n", **requests: str) -> Object:
    container = {"name": "c", "resources": {"requests": requests}}
    return {"kind": "Pod", "metadata": {"name": "p"}, "spec": {"nodeName": node, "containers": [container]}}


def resized(to: Object, **labels: str) -> None:
    """Node `n` has two CPUs and a gibibyte."""
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n", "labels": labels},
        "status": {"allocatable": {"cpu": "2", "memory": "1Gi"}},
    }
    old = copy.deepcopy(to)
    old["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1"}}
    attributes = Attributes(UPDATE, resource("pods"), "resize", "default", "p", to, old)
    PodResizeValidator(StaticReader([node])).validate(attributes)


@pytest.mark.parametrize(
    ("requests", "why"),
    [
        ({"cpu": "2001m"}, "cpu, requested: 2001, allocatable: 2000"),
        ({"memory": "2Gi"}, "memory, requested: 2147483648, allocatable: 1073741824"),
        (
            {"cpu": "3", "memory": "2Gi"},
            "cpu, requested: 3000, allocatable: 2000; memory, requested: 2147483648, allocatable: 1073741824",
        ),
    ],
)
def test_more_than_the_node_has_is_refused(requests: dict[str, str], why: str) -> None:
    with pytest.raises(StatusError) as refused:
        resized(pod(**requests))
    status = refused.value.status
    assert status["message"] == f'pods "p" is forbidden: node didn\'t have enough allocatable resources: {why}'
    assert status["details"]["causes"] == [{"reason": "NodeCapacity"}]


def test_a_node_that_resizes_nothing_and_one_that_is_not_there() -> None:
    with pytest.raises(
        StatusError, match=r'pods "p" is forbidden: pod resize is only supported on linux nodes, node "n" is "windows"$'
    ) as refused:
        resized(pod(cpu="1500m"), **{"kubernetes.io/os": "windows"})
    assert refused.value.status["details"]["causes"] == [{"reason": "UnsupportedPlatform"}]
    with pytest.raises(StatusError, match=r'pods "p" is forbidden: node "gone" not found$'):
        resized(pod("gone", cpu="1500m"))


@pytest.mark.parametrize("to", [pod(cpu="2", memory="1Gi"), pod("", cpu="9"), pod(cpu="1")])
def test_what_fits_and_what_has_no_node_and_what_changes_nothing(to: Any) -> None:
    resized(to)
