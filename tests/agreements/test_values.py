"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "apiserver.initializers.Stage",
    "claim_checks.deployment_life.Life",
    "claim_checks.informers.Seen",
    "controllers.deployments.Sync",
    "dns_answers.DigAnswer",
    "kubectl.kubeconfig.Files",
    "kubelet.kubelet_scene.Scene",
    "kubelet.played_nodes.PlayedNode",
    "kubelet.pleg.Life",
    "kubelet.pod_status.Played",
    "scheduler.scheduling.Decision",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("agreements") == CHANGEABLE
