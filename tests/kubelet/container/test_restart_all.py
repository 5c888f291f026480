"""One container's end may start the whole pod again."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.kubelet.container.restart_all import (
    all_containers_restarting,
    cleaned_up,
    containers_to_reset,
    should_all_containers_restart,
)
from lifecycle.kubelet.container.runtime import PodStatus

RULES = [{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]
SPEC = {
    "initContainers": [{"name": "first"}, {"name": "watchdog", "restartPolicyRules": RULES}],
    "containers": [{"name": "web", "restartPolicyRules": RULES}, {"name": "side"}],
}
ONLY_RESTARTS = {
    "containers": [{"name": "web", "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "NotIn"}}]}]
}
BEGUN = {"conditions": [{"type": "AllContainersRestarting", "status": "True"}]}


def run(name: str, code: int | None = None, id: str = "") -> ContainerStatus:
    state = ContainerState.RUNNING if code is None else ContainerState.EXITED
    return ContainerStatus(id or name, "s", ContainerMetadata(name, 0), state, 0, "i", "r", exit_code=code or 0)


def reported(name: str, code: int, key: str = "containerStatuses") -> dict[str, Any]:
    return {key: [{"name": name, "state": {"terminated": {"exitCode": code}}}]}


@pytest.mark.parametrize(
    ("spec", "runs", "status", "all_again"),
    [
        (SPEC, [run("web", 42)], {}, True),
        (SPEC, [run("watchdog", 42)], {}, True),
        (SPEC, [run("side"), run("web", 42)], {}, True),
        (SPEC, [run("web", 1)], {}, False),
        (SPEC, [run("side", 42)], {}, False),
        (SPEC, [run("first", 42)], {}, False),
        (SPEC, [run("web"), run("web", 42)], {}, False),
        (SPEC, [], {}, False),
        (SPEC, [], BEGUN, True),
        (SPEC, [], {"conditions": [{"type": "AllContainersRestarting", "status": "False"}]}, False),
        (SPEC, [], reported("web", 42), False),
        (SPEC, [run("web")], reported("web", 42), False),
        (SPEC, [run("web", 1)], reported("web", 42), True),
        (SPEC, None, reported("web", 42), True),
        (SPEC, None, reported("watchdog", 42, "initContainerStatuses"), True),
        (SPEC, None, reported("web", 1), False),
        (SPEC, None, reported("side", 42), False),
        (SPEC, None, {"containerStatuses": [{"name": "web", "state": {"running": {}}}]}, False),
        (SPEC, None, {"containerStatuses": [{"name": "web"}]}, False),
        (ONLY_RESTARTS, [run("web", 42)], {}, False),
        (ONLY_RESTARTS, [run("web", 42)], BEGUN, True),
    ],
)
def test_a_rule_of_the_container_that_ended_says_so(spec: Any, runs: Any, status: Any, all_again: bool) -> None:
    runtime = None if runs is None else PodStatus(containers=runs)
    assert should_all_containers_restart(spec, runtime, status) is all_again


@pytest.mark.parametrize(
    ("runs", "clean"), [([], True), ([run("side", 0)], False), ([run("first", 0)], False), ([run("stranger")], True)]
)
def test_it_begins_anew_when_nothing_is_left(runs: list[ContainerStatus], clean: bool) -> None:
    assert cleaned_up(SPEC, PodStatus(containers=runs)) is clean


def test_the_cause_is_removed_last_and_earlier_runs_too() -> None:
    runs = [
        run("watchdog", 42),
        run("web", 42, "web2"),
        run("web", 1, "web1"),
        run("side"),
        run("first", 0),
        run("stranger"),
    ]
    resets = containers_to_reset(SPEC, PodStatus(containers=runs))
    assert [each.id for each in resets] == ["web1", "side", "first", "web2", "watchdog"]


def test_a_run_that_goes_on_is_no_cause_whatever_its_code() -> None:
    running = ContainerStatus(
        "web", "s", ContainerMetadata("web", 0), ContainerState.RUNNING, 0, "i", "r", exit_code=42
    )
    resets = containers_to_reset(SPEC, PodStatus(containers=[running, run("side")]))
    assert [each.id for each in resets] == ["web", "side"]


@pytest.mark.parametrize(
    ("runs", "phase", "more"),
    [
        ([run("web", 42)], "Succeeded", {"status": "False", "reason": "PodCompleted"}),
        ([run("web", 42)], "Failed", {"status": "False", "reason": "PodFailed"}),
        ([run("web", 1)], "Running", {"status": "False"}),
        ([], "Running", {"status": "False"}),
        (
            [run("web", 42)],
            "Running",
            {
                "status": "True",
                "reason": "RestartAllContainersStarted",
                "message": "container exited with restart policy rule",
            },
        ),
    ],
)
def test_the_condition_is_true_from_the_cause_until_all_is_removed(runs: Any, phase: str, more: Any) -> None:
    condition = all_containers_restarting(SPEC, PodStatus(containers=runs), {}, phase)
    assert condition == {"type": "AllContainersRestarting", **more}


def test_what_was_begun_is_over_when_all_is_removed() -> None:
    assert all_containers_restarting(SPEC, PodStatus(), BEGUN, "Running")["status"] == "False"
