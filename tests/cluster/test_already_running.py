"""What runs on a recorded machine when its kubelet comes: containers under their own ids and since their own times."""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.cluster.already_running import resume_pods
from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.hollow.runtime import HollowRuntime

START, LATER = "2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"
SECONDS = 1767225600


def entry(name: str, state: str = "running", restarts: int = 0) -> dict[str, Any]:
    return {
        "name": name,
        "state": {state: {"startedAt": LATER}},
        "restartCount": restarts,
        "containerID": f"containerd://{name}1",
    }


def pod(name: str, *entries: Any, node: str = "n", **spec: Any) -> dict[str, Any]:
    containers = [{"name": each, "image": "nginx:1.27"} for each in ("a", "b")]
    return {
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "containers": containers, **spec},
        "status": {"podIP": "10.1.0.9", "startTime": START, "containerStatuses": list(entries)},
    }


def resumed(*pods: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Sandboxes, and their containers."""

    async def main() -> tuple[list[Any], list[Any]]:
        runtime = HollowRuntime(clock=Clock(), names=NameSource(1))
        await runtime.pull_image("nginx:1.27")
        resume_pods(runtime, "n", pods)
        return await runtime.list_pod_sandbox(), await runtime.list_containers()

    return asyncio.run(main())


def test_containers_that_ran_run_on_under_their_ids() -> None:
    (sandbox,), (container,) = resumed(pod("p", entry("a", "terminated"), entry("b", restarts=3)))
    assert (sandbox.metadata.name, sandbox.ip, sandbox.created_at) == ("p", "10.1.0.9", SECONDS * 10**9)
    assert (container.id, container.metadata.name, container.metadata.attempt) == ("b1", "b", 3)
    assert (container.state, container.started_at) == (ContainerState.RUNNING, (SECONDS + 5) * 10**9)
    assert container.pod_sandbox_id == sandbox.id
    assert container.image.startswith("docker.io/library/nginx:")


def test_a_pod_on_the_nodes_network_has_no_address_of_its_own() -> None:
    (sandbox,), _ = resumed(pod("p", entry("a"), hostNetwork=True))
    assert sandbox.ip == ""


def test_what_ran_elsewhere_or_not_at_all_is_not_there() -> None:
    idle = pod("idle", entry("a", "terminated"), entry("b", "waiting"))
    assert resumed(pod("far", entry("a"), node="m"), idle, {**pod("new"), "status": None}) == ([], [])


COREDNS = "registry.k8s.io/coredns/coredns:v1.14.2"


def test_they_run_on_as_whom_they_ran() -> None:
    users: list[Any] = []

    async def main() -> None:
        runtime = HollowRuntime(clock=Clock(), names=NameSource(1))
        planted = pod("p", {**entry("a"), "user": {"linux": {"uid": 65532, "gid": 65532}}}, entry("b"))
        planted["spec"]["containers"][0]["image"] = COREDNS
        resume_pods(runtime, "n", [planted])
        statuses = [await runtime.container_status(each) for each in ("a1", "b1")]
        users.extend(each.user for each in statuses)

    asyncio.run(main())
    root = {"uid": 0, "gid": 0, "supplemental_groups": [0]}
    assert users == [{"uid": 65532, "gid": 65532, "supplemental_groups": [65532]}, root]
