"""rkt, 1.3 to 1.10: the opposite of Docker, as it knew pods itself.

All containers of a pod were given at once, in one manifest, and a systemd unit ran
them. Containers could not come and go one by one, which CRI wants; it never got there
(the `rktlet` that tried was given up).

Upstream (v1.9): `pkg/kubelet/rkt/rkt.go` (`makePodServiceFileName`, `preparePod`). Left
out: talking to it.
"""

from __future__ import annotations

from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig


def rkt_pod(
    config: PodSandboxConfig, containers: list[ContainerConfig], pod_uuid: str
) -> dict[str, object]:
    """All of a pod at once: the systemd unit's file and the manifest that `rkt prepare`
    was given.
    """
    kubernetes = "rkt.kubernetes.io/"
    return {
        "unit": f"k8s_{pod_uuid}.service",
        "manifest": {
            "acKind": "PodManifest",
            "apps": [
                {
                    "name": container.metadata.name,
                    "image": container.image,
                    "exec": [*container.command, *container.args],
                }
                for container in containers
            ],
            "annotations": {
                kubernetes + "uid": config.metadata.uid,
                kubernetes + "name": config.metadata.name,
                kubernetes + "namespace": config.metadata.namespace,
                kubernetes + "managed-by-kubelet": "true",
            },
        },
    }
