"""Docker, rkt, and who could use which of them."""

from __future__ import annotations

from lifecycle.cri.apis.container import ContainerConfig, ContainerMetadata
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.historical.kubelet.rkt import rkt_pod
from lifecycle.historical.kubelet.supported_runtimes import supported


def test_what_kubelets_could_use() -> None:
    assert supported(4) == ["docker, in the kubelet", "rkt, in the kubelet"]
    assert supported(20) == ["docker, through dockershim", "any runtime that speaks CRI"]
    assert supported(36) == ["any runtime that speaks CRI"]


def test_rkt_was_given_all_containers_of_a_pod_at_once() -> None:
    config = PodSandboxConfig(PodSandboxMetadata("web", "u-1", "default", 0))
    containers = [ContainerConfig(ContainerMetadata(name, 0), f"image-{name}") for name in "ab"]
    pod = rkt_pod(config, containers, "1234")
    assert pod["unit"] == "k8s_1234.service"
    manifest = pod["manifest"]
    assert isinstance(manifest, dict)
    assert [app["name"] for app in manifest["apps"]] == ["a", "b"]
    assert manifest["annotations"]["rkt.kubernetes.io/uid"] == "u-1"
