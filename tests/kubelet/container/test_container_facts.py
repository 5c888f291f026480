"""Small facts of containers: variables in texts, ends that nobody saw, whether any has been started."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.cri.apis.pod_sandbox import PodSandboxMetadata, PodSandboxState, PodSandboxStatus
from lifecycle.kubelet.container.container_facts import (
    LOST_KILLED,
    ended_unseen,
    expand_command_only_static,
    format_pod,
    has_any_active_regular_container_started,
    has_any_regular_container_started,
)
from lifecycle.kubelet.container.runtime import PodStatus


def test_a_probes_command_knows_only_what_variables_say_themselves() -> None:
    envs = [{"name": "A", "value": "1"}, {"name": "FROM", "valueFrom": {}}]
    assert expand_command_only_static(["$(A)", "x$(FROM)y", "$(NONE)"], envs) == ("1", "xy", "$(NONE)")


def test_an_end_that_nobody_saw_has_no_times() -> None:
    assert LOST_KILLED == 137
    assert ended_unseen("ContainerStatusUnknown", "gone", 137) == {
        "terminated": {
            "exitCode": 137,
            "reason": "ContainerStatusUnknown",
            "message": "gone",
            "startedAt": None,
            "finishedAt": None,
        }
    }


SPEC = {"containers": [{"name": "a"}, {"name": "b"}], "initContainers": [{"name": "i"}]}


@pytest.mark.parametrize(
    ("by_name", "started"),
    [
        ({}, False),
        ({"a": {"state": {"waiting": {}}}, "b": {}}, False),
        ({"a": {"state": {"waiting": {}}}, "b": {"state": {"running": {}}}}, True),
        ({"a": {"state": {"terminated": {}}}}, True),
        ({"a": {"state": None}}, False),
        ({"i": {"state": {"running": {}}}}, False),
    ],
)
def test_whether_one_of_its_own_runs_or_has_run(by_name: Any, started: bool) -> None:
    assert has_any_regular_container_started(SPEC, by_name) is started


@pytest.mark.parametrize(
    ("name", "state", "where", "started"),
    [
        ("a", ContainerState.RUNNING, "new", True),
        ("b", ContainerState.EXITED, "new", True),
        ("a", ContainerState.CREATED, "new", False),
        ("a", ContainerState.RUNNING, "old", False),
        ("i", ContainerState.RUNNING, "new", False),
    ],
)
def test_only_what_was_started_in_the_sandbox_in_use_counts(
    name: str, state: ContainerState, where: str, started: bool
) -> None:
    metadata = PodSandboxMetadata("p", "u", "shop", 0)
    sandboxes = [
        PodSandboxStatus("new", metadata, PodSandboxState.READY, 2),
        PodSandboxStatus("old", metadata, PodSandboxState.NOTREADY, 1),
    ]
    run = ContainerStatus("id", where, ContainerMetadata(name, 0), state, 0, "i", "r")
    assert has_any_active_regular_container_started({"spec": SPEC}, PodStatus(sandboxes, [run])) is started


def test_a_pod_is_named_with_its_uid() -> None:
    assert format_pod({"metadata": {"name": "web", "namespace": "shop", "uid": "u1"}}) == "web_shop(u1)"


class Watched(list[ContainerStatus]):
    """Counts how often somebody went through it."""

    times = 0

    def __iter__(self) -> Any:
        self.times += 1
        return super().__iter__()


def test_all_runs_are_gone_through_once_however_many_containers_are_asked_for() -> None:
    names = ["a", "b", "a", "c"]
    runs = Watched(
        ContainerStatus(str(number), "s", ContainerMetadata(name, 0), ContainerState.RUNNING, 0, "", "")
        for number, name in enumerate(names)
    )
    status = PodStatus(containers=runs)
    assert [run.id for run in status.history("a")] == ["0", "2"]
    assert status.history("x") == []
    assert (status.latest("b"), status.latest("x")) == (runs[1], None)
    assert runs.times == 1
