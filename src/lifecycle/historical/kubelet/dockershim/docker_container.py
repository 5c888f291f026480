"""A model of what dockershim did with a `ContainerConfig`, until 1.23.

The kubelet spoke CRI even then, to a server inside itself: it took the protobuf message
apart and filled in the structures of Docker's own API. Docker had no notion of
sandboxes or log paths, so three labels of dockershim's made up for it: what kind of
container this is, where its log is, and which sandbox it belongs to. Annotations, which
Docker did not have either, became labels with a prefix.

Upstream (v1.20): `pkg/kubelet/dockershim/docker_container.go` (`CreateContainer`),
`helpers.go` (`makeLabels`), `docker_service.go` (`containerTypeLabelKey`,
`containerLogPathLabelKey`, `sandboxIDLabelKey`). Gone in 1.24.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.container import ContainerConfig

CONTAINER_TYPE, LOG_PATH = (
    "io.kubernetes.docker.type",
    "io.kubernetes.container.logpath",
)
SANDBOX_ID = "io.kubernetes.sandbox.id"
ANNOTATION_PREFIX = "annotation."


def make_labels(config: ContainerConfig) -> dict[str, str]:
    """Labels and, with a prefix, annotations."""
    return {
        **config.labels,
        **{ANNOTATION_PREFIX + key: value for key, value in config.annotations.items()},
    }


def docker_create_config(
    config: ContainerConfig, sandbox_id: str, log_directory: str
) -> Object:
    """The body of Docker's `POST /containers/create`."""
    labels = make_labels(config)
    labels[CONTAINER_TYPE] = "container"
    labels[LOG_PATH] = f"{log_directory}/{config.log_path}"
    labels[SANDBOX_ID] = sandbox_id
    resources = config.resources
    binds = [
        f"{m['host_path']}:{m['container_path']}" + (":ro" if m.get("readonly") else "")
        for m in config.mounts
    ]
    return {
        "Entrypoint": list(config.command),
        "Cmd": list(config.args),
        "Env": [f"{key}={value}" for key, value in config.envs],
        "Image": config.image,
        "WorkingDir": config.working_dir,
        "Labels": labels,
        "OpenStdin": config.stdin,
        "StdinOnce": config.stdin_once,
        "Tty": config.tty,
        "Healthcheck": {"Test": ["NONE"]},  # the kubelet has probes of its own
        "HostConfig": {
            "Binds": binds,
            "NetworkMode": f"container:{sandbox_id}",
            "IpcMode": f"container:{sandbox_id}",
            "CpuShares": resources.get("cpu_shares", 0),
            "CpuPeriod": resources.get("cpu_period", 0),
            "CpuQuota": resources.get("cpu_quota", 0),
            "Memory": resources.get("memory_limit_in_bytes", 0),
            "OomScoreAdj": resources.get("oom_score_adj", 0),
        },
    }
