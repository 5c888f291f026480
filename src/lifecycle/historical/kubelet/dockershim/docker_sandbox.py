"""The five steps of a sandbox, in this order: image, create, checkpoint to disk, start,
network.

The checkpoint remembered what Docker could not: host ports and whether the pod was on
the host's network, for the day when it had to be torn down.

Upstream (v1.20): `pkg/kubelet/dockershim/docker_sandbox.go` (`RunPodSandbox`),
`docker_checkpoint.go`. Gone in 1.24.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api import fast_json
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig
from lifecycle.historical.kubelet.dockershim.naming import make_sandbox_name

CHECKPOINT_DIRECTORY = "/var/lib/dockershim/sandbox"


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
    return fast_json.dumps(document)


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
