"""What a kubelet writes onto a container, to know it again after it was started anew."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.kubelet.kuberuntime.container_config import container_annotations, container_labels, hash_container

CONTAINER: Any = {"name": "c", "image": "nginx:1.27"}
POD: Any = {"metadata": {"name": "p", "namespace": "ns", "uid": "u"}, "spec": {"containers": [CONTAINER]}}
HOOK = {"exec": {"command": ["sleep", "1"]}}
PORTS = [{"containerPort": 80, "protocol": "TCP"}]


def noted(attempt: int = 0, meta: dict[str, Any] | None = None, spec: dict[str, Any] | None = None, **more: Any) -> Any:
    pod = {"metadata": {**POD["metadata"], **(meta or {})}, "spec": {**POD["spec"], **(spec or {})}}
    return container_annotations(pod, {**CONTAINER, **more}, attempt)


def test_of_a_plain_container_its_hash_its_number_and_where_its_last_words_stand() -> None:
    told = noted(2, terminationMessagePath="/dev/termination-log", terminationMessagePolicy="File")
    assert told == {
        "io.kubernetes.container.hash": hash_container(CONTAINER),
        "io.kubernetes.container.restartCount": "2",
        "io.kubernetes.container.terminationMessagePath": "/dev/termination-log",
        "io.kubernetes.container.terminationMessagePolicy": "File",
    }
    assert noted()["io.kubernetes.container.terminationMessagePath"] == ""
    assert noted()["io.kubernetes.container.terminationMessagePolicy"] == ""


@pytest.mark.parametrize(
    ("told", "key", "value"),
    [
        ({"meta": {"deletionGracePeriodSeconds": 0}}, "io.kubernetes.pod.deletionGracePeriod", "0"),
        ({"spec": {"terminationGracePeriodSeconds": 0}}, "io.kubernetes.pod.terminationGracePeriod", "0"),
        ({"spec": {"terminationGracePeriodSeconds": 30}}, "io.kubernetes.pod.terminationGracePeriod", "30"),
        (
            {"lifecycle": {"preStop": HOOK}},
            "io.kubernetes.container.preStopHandler",
            '{"exec":{"command":["sleep","1"]}}',
        ),
        ({"ports": PORTS}, "io.kubernetes.container.ports", '[{"containerPort":80,"protocol":"TCP"}]'),
    ],
)
def test_how_it_is_to_be_ended_and_its_ports_are_written_down_if_there_is_something(
    told: dict[str, Any], key: str, value: str
) -> None:
    assert noted(**told)[key] == value
    assert key not in noted(lifecycle={}, ports=[])


def test_it_says_whose_it_is() -> None:
    assert container_labels(POD, CONTAINER) == {
        "io.kubernetes.container.name": "c",
        "io.kubernetes.pod.name": "p",
        "io.kubernetes.pod.namespace": "ns",
        "io.kubernetes.pod.uid": "u",
    }
