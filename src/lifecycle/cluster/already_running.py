"""What runs on a machine of a recorded cluster when its kubelet starts: the containers
that the planted pods' statuses say run, under their own ids and since their own time.

A kubelet that comes up over running containers takes them as they are; one that finds
none would tell of containers that were lost.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.kuberuntime.container_config import (
    generate_container_config,
    generate_pod_sandbox_config,
)


def resume_pods(runtime: HollowRuntime, node: str, pods: Iterable[Object]) -> None:
    """Let the pods of a node run on in its runtime."""
    for pod in pods:
        if pod["spec"].get("nodeName") == node:
            _resume(runtime, pod)


def _resume(runtime: HollowRuntime, pod: Object) -> None:
    status = pod.get("status") or {}
    running = [
        entry
        for entry in status.get("containerStatuses") or ()
        if "running" in entry["state"]
    ]
    if not running:
        return
    address = "" if pod["spec"].get("hostNetwork") else status.get("podIP", "")
    config = generate_pod_sandbox_config(pod, 0)
    sandbox = runtime.resume_pod_sandbox(config, address, _nanos(status["startTime"]))
    containers = {entry["name"]: entry for entry in pod["spec"]["containers"]}
    for entry in running:
        container = containers[entry["name"]]
        user = (entry.get("user") or {}).get("linux") or {}
        runtime.resume_container(
            sandbox,
            generate_container_config(
                pod,
                container,
                entry["restartCount"],
                image=container["image"],
                image_uid=user.get("uid"),
            ),
            entry["containerID"].partition("://")[2],
            _nanos(entry["state"]["running"]["startedAt"]),
        )


def _nanos(time: str) -> int:
    return int(parse_time(time) * 1_000_000_000)
