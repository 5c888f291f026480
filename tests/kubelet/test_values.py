"""What is built in this room stays as it was built; the exceptions are known."""

from __future__ import annotations

from tests.changeable import changeable

CHANGEABLE = {
    "container.runtime.PodStatus",
    "images.image_gc_manager.ImageRecord",
    "images.image_pull_manager._Record",
    "kubelet.Kubelet",
    "kubelet_configuration.KubeletConfiguration",
    "kubelet_configuration.LocalNode",
    "kubelet_node_status.Machine",
    "kubelet_pods.container_statuses.StatusInputs",
    "kubelet_pods.phase._Counted",
    "kuberuntime.init_container_actions.InitContainerActions",
    "kuberuntime.pod_actions.PodActions",
    "main_kubelet.Dependencies",
    "volumemanager.volume_manager.MountResult",
    "volumemanager.volume_manager.MountedVolume",
}
"""What is filled in step by step, or keeps a state: by module and name."""


def test_what_is_built_is_not_changed_afterwards() -> None:
    assert changeable("kubelet") == CHANGEABLE
