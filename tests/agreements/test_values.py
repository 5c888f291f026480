"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "claim_checks.deployment_life.Life",
    "claim_checks.informers.Seen",
    "deployments.Sync",
    "dns_answers.DigAnswer",
    "initializers.Stage",
    "kubeconfig.Files",
    "kubelet_scene.Scene",
    "played_nodes.PlayedNode",
    "pleg.Life",
    "pod_status.Played",
    "scheduling.Decision",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("agreements") == CHANGEABLE
