"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "config.Profile",
    "config.SchedulerConfiguration",
    "framework.handle.Candidate",
    "framework.plugins.volume_binding.binder.PodVolumes",
    "framework.plugins.volume_binding.volume_binding.ClaimState",
    "framework.types.Diagnosis",
    "schedule_pod.ScheduleResult",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("scheduler") == CHANGEABLE
