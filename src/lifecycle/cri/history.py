"""How it was done before: Docker behind a translator inside the kubelet, and rkt.

**dockershim** (1.5 to 1.23) was a CRI server compiled into the kubelet. Docker knew no
pods, so everything about a pod was folded into the names and labels of its containers:
`k8s_CONTAINER_POD_NAMESPACE_UID_ATTEMPT`, with `POD` as the container's name for the
sandbox. Creating a sandbox took five steps in this order: image, create, checkpoint to
disk, start, network. The checkpoint remembered what Docker could not: host ports and
whether the pod was on the host's network, for the day when it had to be torn down.

**rkt** (1.3 to 1.10) was the opposite: it knew pods itself, so all containers of one
were given at once, in one manifest, and a systemd unit ran them. Containers could not
come and go one by one, which CRI wants; it never got there (the `rktlet` that tried was
given up).

Upstream, v1.20: `pkg/kubelet/dockershim/naming.go` (`makeSandboxName`,
`makeContainerName`), `docker_sandbox.go` (`RunPodSandbox`), `docker_checkpoint.go`;
v1.9: `pkg/kubelet/rkt/rkt.go` (`makePodServiceFileName`, `preparePod`). Left out:
talking to either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from lifecycle.cri.apis.container import ContainerConfig
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig

KUBE_PREFIX, SANDBOX_NAME, DELIMITER = "k8s", "POD", "_"
CHECKPOINT_DIRECTORY = "/var/lib/dockershim/sandbox"

SUPPORTED: Mapping[str, tuple[int, int | None]] = {
    "docker, in the kubelet": (0, 4),
    "docker, through dockershim": (5, 23),
    "rkt, in the kubelet": (3, 10),
    "any runtime that speaks CRI": (5, None),
}
"""First and last minor version 1.x in which the kubelet could use it; None: still."""


def supported(minor: int) -> list[str]:
    """What the kubelet of 1.`minor` could run pods with."""
    return [
        name
        for name, (first, last) in SUPPORTED.items()
        if first <= minor and (last is None or minor <= last)
    ]


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


@dataclass(slots=True, frozen=True)
class DockerCall:
    """One step: a call of Docker's API, a file that is written, or a plugin that is
    run.
    """

    what: str
    details: object


def checkpoint(config: PodSandboxConfig) -> bytes:
    """The file `CHECKPOINT_DIRECTORY/ID` without its checksum."""
    data: dict[str, object] = {}
    mappings = [
        {
            "protocol": m.get("protocol", "TCP").lower(),
            "container_port": m["container_port"],
            "host_port": m["host_port"],
        }
        for m in config.port_mappings
        if m.get("host_port")
    ]
    if mappings:
        data["port_mappings"] = mappings
    if config.host_network:
        data["host_network"] = True
    document = {
        "version": "v1",
        "name": config.metadata.name,
        "namespace": config.metadata.namespace,
        "data": data,
    }
    return orjson.dumps(document)


def dockershim_run_pod_sandbox(
    config: PodSandboxConfig, pause: str = "k8s.gcr.io/pause:3.2"
) -> list[DockerCall]:
    """The steps of `RunPodSandbox`, in order."""
    name = make_sandbox_name(config)
    host = {
        "NetworkMode": "host" if config.host_network else "none",
        "CgroupParent": config.linux.get("cgroup_parent", ""),
    }
    body = {
        "Image": pause,
        "Hostname": config.hostname,
        "Labels": {**config.labels, "io.kubernetes.docker.type": "podsandbox"},
        "HostConfig": {**host, "OomScoreAdj": -998},
    }
    calls = [
        DockerCall("pull image if it is not here", pause),
        DockerCall(f"POST /containers/create?name={name}", body),
        DockerCall(f"write {CHECKPOINT_DIRECTORY}/ID", checkpoint(config)),
        DockerCall("POST /containers/ID/start", None),
    ]
    if not config.host_network:
        calls.append(
            DockerCall(
                "run network plugin",
                {"name": config.metadata.name, "namespace": config.metadata.namespace},
            )
        )
    return calls


def rkt_pod(
    config: PodSandboxConfig, containers: list[ContainerConfig], pod_uuid: str
) -> dict[str, object]:
    """All of a pod at once: the systemd unit's file and the manifest that `rkt prepare`
    was given.
    """
    kubernetes = "rkt.kubernetes.io/"
    return {
        "unit": f"{KUBE_PREFIX}{DELIMITER}{pod_uuid}.service",
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
