"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "endpointslice.reconciler._DesiredEndpoints",
    "endpointslice.slice_changes.Changes",
    "endpointslicemirroring.mirrored_slices.Changes",
    "expectations._Expected",
    "job.job_count.JobCount",
    "namespace.namespaced_resources_deleter._Totals",
    "node_lifecycle.health.NodeHealth",
    "podautoscaler.replica_calculator.PodGroups",
    "podautoscaler.scaling_rules.ScaleHistory",
    "taint_eviction.taint_eviction_controller._Scheduled",
    "trigger_time_tracker._State",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("controllers") == CHANGEABLE
