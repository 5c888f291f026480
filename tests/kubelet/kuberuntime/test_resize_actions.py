"""What a running container needs to have what it was promised."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.kubelet.kuberuntime.resize_actions import Resize, resize_action

HAS = {"cpu_shares": 102, "cpu_quota": 20000, "cpu_period": 100000, "memory_limit_in_bytes": 1 << 26}


def run(**resources: int) -> ContainerStatus:
    state = ContainerState.RUNNING
    return ContainerStatus("c1", "s1", ContainerMetadata("nginx"), state, 1, "nginx", "nginx", resources=resources)


def policy(name: str) -> Object:
    return {"name": "nginx", "resizePolicy": [{"resourceName": name, "restartPolicy": "RestartContainer"}]}


@pytest.mark.parametrize("name", ["cpu_shares", "cpu_quota", "memory_limit_in_bytes"])
def test_each_number_that_differs_is_an_update(name: str) -> None:
    assert resize_action({"name": "nginx"}, run(**HAS), {**HAS, name: HAS[name] + 1}) is Resize.UPDATE


def test_what_is_the_same_needs_nothing() -> None:
    assert resize_action({"name": "nginx"}, run(**HAS), HAS) is Resize.NOTHING


def test_no_limit_is_no_limit_however_a_runtime_says_it() -> None:
    assert resize_action({"name": "nginx"}, run(cpu_shares=2, cpu_quota=-1), {"cpu_shares": 2}) is Resize.NOTHING


@pytest.mark.parametrize(
    ("changed", "told_of", "needed"),
    [
        ("cpu_quota", "cpu", Resize.RESTART),
        ("cpu_quota", "memory", Resize.UPDATE),
        ("memory_limit_in_bytes", "memory", Resize.RESTART),
        ("memory_limit_in_bytes", "cpu", Resize.UPDATE),
    ],
)
def test_only_what_a_policy_speaks_of_starts_anew(changed: str, told_of: str, needed: Resize) -> None:
    assert resize_action(policy(told_of), run(**HAS), {**HAS, changed: HAS[changed] + 1}) is needed


def test_a_runtime_that_does_not_tell_is_left_alone() -> None:
    assert resize_action({"name": "nginx"}, run(), HAS) is Resize.NOTHING
