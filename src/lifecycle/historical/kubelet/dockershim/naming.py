"""Names that say whose container this is: `k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT`,
with `POD` as the container's name for the sandbox.

Upstream (v1.20): `pkg/kubelet/dockershim/naming.go` (`makeSandboxName`,
`makeContainerName`, `parseSandboxName`, `parseContainerName`). Gone in 1.24.
"""

from __future__ import annotations

from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig

KUBE_PREFIX, SANDBOX_NAME, DELIMITER = "k8s", "POD", "_"


def make_sandbox_name(config: PodSandboxConfig) -> str:
    """What `docker ps` showed for the pause container."""
    metadata = config.metadata
    parts = (
        KUBE_PREFIX,
        SANDBOX_NAME,
        metadata.name,
        metadata.namespace,
        metadata.uid,
        str(metadata.attempt),
    )
    return DELIMITER.join(parts)


def make_container_name(sandbox: PodSandboxConfig, config: ContainerConfig) -> str:
    """What `docker ps` showed for a container; the last number counts its restarts."""
    metadata, own = sandbox.metadata, config.metadata
    return DELIMITER.join(
        (
            KUBE_PREFIX,
            own.name,
            metadata.name,
            metadata.namespace,
            metadata.uid,
            str(own.attempt),
        )
    )


def parse_name(name: str) -> tuple[str, str, str, str, int]:
    """Container (`POD` for a sandbox), pod, namespace, uid, attempt. Raises ValueError
    for names that Kubernetes did not give.

    After a conflict of names a random seventh part was added.
    """
    parts = name.removeprefix("/").split(DELIMITER)
    if len(parts) not in (6, 7) or parts[0] != KUBE_PREFIX:
        raise ValueError(f'failed to parse the container name: "{name}"')
    return parts[1], parts[2], parts[3], parts[4], int(parts[5])
