"""How programs call themselves, as the audit log of the recorded cluster has it."""

from __future__ import annotations

import pytest

from lifecycle.api.version import user_agent
from lifecycle.inspector import open_recording


@pytest.fixture(scope="module")
def recorded() -> set[str]:
    return {event.get("userAgent", "") for event in open_recording().audit()}


@pytest.mark.parametrize(
    ("command", "role"),
    [
        ("kubectl", ""),
        ("kubelet", ""),
        ("kube-scheduler", "scheduler"),
        ("kube-controller-manager", "system:serviceaccount:kube-system:deployment-controller"),
    ],
)
def test_user_agents_are_those_of_the_recorded_programs(recorded: set[str], command: str, role: str) -> None:
    assert user_agent(command, role) in recorded
