"""What the machine refuses a pod is told of, tried again, and no reason to forget what was begun."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.kubelet.cm.cgroup_manager import CgroupError
from lifecycle.kubelet.container.ref import Events
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.main_kubelet import CGROUP_V1_WARNING, _announce
from lifecycle.kubelet.volume.payloads import VolumeError
from tests.kubelet.small_cluster import SmallCluster
from tests.kubelet.test_sync import pod, with_disk

PODS = resource("pods")


async def told(cluster: SmallCluster, *reasons: str) -> set[tuple[str, str, str]]:
    """Type, reason and message."""
    events = await cluster.events("default")
    return {(event["type"], event["reason"], event["message"]) for event in events if event["reason"] in reasons}


def host_of(kubelet: Any) -> LocalPodHost:
    assert isinstance(kubelet.host, LocalPodHost)
    return kubelet.host


def test_a_kubelet_of_a_machine_says_that_it_begins_and_what_it_thinks_of_the_machine(tmp_path: Path) -> None:
    """Upstream: `BirthCry`, `enforceNodeAllocatableCgroups`, `warnIfCgroupV1`."""

    async def main() -> None:
        said: list[tuple[str, str, str]] = []
        events = SimpleNamespace(node_event=lambda *event: said.append(event))
        async with with_disk(tmp_path) as (_, kubelet, _):
            await _announce(cast(Events, events), host_of(kubelet))
        assert said == [
            ("Normal", "Starting", "Starting kubelet."),
            ("Normal", "NodeAllocatableEnforced", "Updated Node Allocatable limit across pods"),
            ("Warning", "CgroupV1", CGROUP_V1_WARNING),
        ]

    run_virtual(main())


@pytest.mark.parametrize(
    "refusal", [VolumeError("unmount failed: target is busy"), OSError(16, "Device or resource busy")]
)
def test_a_pod_stays_until_nothing_of_it_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Exception
) -> None:
    """`SyncTerminatedPod` waits for the volumes, and the pod worker comes again."""

    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, _):
            uid = (await cluster.create_pod(pod(terminationGracePeriodSeconds=1)))["metadata"]["uid"]
            await asyncio.sleep(5)
            host, busy, tried = host_of(kubelet), [True], list[float]()
            unmount = host.volumes.unmount_volumes

            def unmount_volumes(which: str) -> None:
                tried.append(cluster.clock.now())
                if busy[0]:
                    raise refusal
                unmount(which)

            monkeypatch.setattr(host.volumes, "unmount_volumes", unmount_volumes)
            await cluster.admin.delete(PODS, "p", "default")
            await asyncio.sleep(60)
            left = await cluster.pod("p")
            assert left["status"]["phase"] == "Succeeded"
            assert "terminated" in left["status"]["containerStatuses"][0]["state"]
            assert (tmp_path / "kubelet/pods" / uid / "volumes").is_dir()
            assert host.cgroups is not None
            assert host.cgroups.all_pods().keys() == {uid}
            pauses = [later - earlier for earlier, later in pairwise(tried)]
            assert len(pauses) >= 3
            assert all(10 <= pause <= 15 for pause in pauses)
            busy[0] = False
            await asyncio.sleep(16)
            assert await cluster.pods("default") == {}
            await asyncio.sleep(5)
            assert not (tmp_path / "kubelet/pods" / uid).exists()
            assert host.cgroups.all_pods() == {}
            assert await told(cluster, "FailedUnMount") == set()

    run_virtual(main())


def test_a_pod_whose_directory_cannot_be_made_waits_for_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, _, runtime):
            pods = tmp_path / "kubelet/pods"
            pods.parent.mkdir(exist_ok=True)
            pods.write_text("in the way")
            uid = (await cluster.create_pod(pod()))["metadata"]["uid"]
            await asyncio.sleep(20)
            message = f"error making pod data directories: mkdir {pods}/{uid}: not a directory"
            assert await told(cluster, "FailedToMakePodDataDirectories") == {
                ("Warning", "FailedToMakePodDataDirectories", message)
            }
            assert await runtime.list_pod_sandbox() == []
            assert (await cluster.pod("p"))["status"]["phase"] == "Pending"
            pods.unlink()
            await asyncio.sleep(16)
            assert (await cluster.pod("p"))["status"]["phase"] == "Running"

    run_virtual(main())


def test_a_pod_whose_cgroup_cannot_be_made_waits_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, runtime):
            host = host_of(kubelet)
            assert host.cgroups is not None
            assert host.qos_cgroups is not None

            def not_now(active: Any) -> None:
                raise CgroupError(16, "the classes cannot be weighed")

            with monkeypatch.context() as patch:
                patch.setattr(host.qos_cgroups, "update_cgroups", not_now)
                await cluster.create_pod(pod("first"))
                await asyncio.sleep(3)
                assert (await cluster.pod("first"))["status"]["phase"] == "Running", "it has its own group all the same"
            parent = tmp_path / "cgroup/pids" / host.cgroups.cgroup_parent(await cluster.pod("first")).lstrip("/")
            parent = parent.parent
            kept = parent.rename(parent.with_name("kept"))
            parent.write_text("in the way")
            second = (await cluster.create_pod(pod("second")))["metadata"]["uid"]
            await asyncio.sleep(20)
            name = f"[kubepods pod{second}]"
            message = f"unable to ensure pod container exists: failed to create container for {name} : mkdir {parent}: file exists"
            assert await told(cluster, "FailedToCreatePodContainer") == {
                ("Warning", "FailedToCreatePodContainer", message)
            }
            assert [box.metadata.name for box in await runtime.list_pod_sandbox()] == ["first"]
            parent.unlink()
            kept.rename(parent)
            await asyncio.sleep(16)
            assert (await cluster.pod("second"))["status"]["phase"] == "Running"

    run_virtual(main())


def test_a_resize_that_the_machine_refuses_is_in_error_until_it_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, _):
            await cluster.create_pod(pod())
            await asyncio.sleep(5)
            host = host_of(kubelet)

            def refuse(pod: Any) -> None:
                raise CgroupError(22, "failed to write 200000: invalid argument")

            with monkeypatch.context() as patch:
                patch.setattr(host, "grow_cgroup", refuse)
                resources = {"limits": {"cpu": "200m", "memory": "64Mi"}, "requests": {"cpu": "200m", "memory": "64Mi"}}
                change = {"spec": {"containers": [{"name": "c", "resources": resources}]}}
                await cluster.admin.patch(PODS, "p", "default", change, subresource="resize")
                await asyncio.sleep(30)
                (condition,) = [c for c in (await cluster.pod("p"))["status"]["conditions"] if "Resize" in c["type"]]
                assert (condition["type"], condition["reason"]) == ("PodResizeInProgress", "Error")
                assert condition["message"] == "failed to write 200000: invalid argument"
                errors = await told(cluster, "ResizeError")
                assert len(errors) == 1, "it is told once, however often it is tried"
            await asyncio.sleep(16)
            after = (await cluster.pod("p"))["status"]
            assert not [c for c in after["conditions"] if "Resize" in c["type"]]
            assert after["containerStatuses"][0]["resources"]["limits"]["cpu"] == "200m"

    run_virtual(main())


@pytest.mark.parametrize(
    ("call", "reason", "message", "waiting"),
    [
        (
            "run_pod_sandbox",
            "FailedCreatePodSandBox",
            "Failed to create pod sandbox: rpc error: code = Unknown desc = no",
            "ContainerCreating",
        ),
        (
            "image_status",
            "InspectFailed",
            'Failed to inspect image "nginx:1.27": rpc error: code = Unknown desc = no',
            "ImageInspectError",
        ),
        ("create_container", "Failed", "Error: no", "CreateContainerError"),
        ("start_container", "Failed", "Error: no", "RunContainerError"),
    ],
)
def test_what_the_runtime_refuses_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, reason: str, message: str, waiting: str
) -> None:
    async def refuse(*words: Any, **more: Any) -> None:
        raise RuntimeServiceError("rpc error: code = Unknown desc = no")

    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, _, runtime):
            with monkeypatch.context() as patch:
                patch.setattr(runtime, call, refuse)
                await cluster.create_pod(pod())
                await asyncio.sleep(5)
                (status,) = (await cluster.pod("p"))["status"]["containerStatuses"]
                assert status["state"]["waiting"]["reason"] == waiting
                assert await told(cluster, reason) == {("Warning", reason, message)}
            await asyncio.sleep(20)
            after = (await cluster.pod("p"))["status"]
            assert after["phase"] == "Running"
            assert after["containerStatuses"][0]["ready"]

    run_virtual(main())


def test_what_can_be_stopped_only_later_is_stopped_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def refuse(*words: Any, **more: Any) -> None:
        raise RuntimeServiceError("rpc error: code = Unknown desc = it is busy")

    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, _, runtime):
            await cluster.create_pod(pod(terminationGracePeriodSeconds=1))
            await asyncio.sleep(5)
            with monkeypatch.context() as patch:
                patch.setattr(runtime, "stop_pod_sandbox", refuse)
                await cluster.admin.delete(PODS, "p", "default")
                await asyncio.sleep(40)
                assert "p" in await cluster.pods("default")
            await asyncio.sleep(20)
            assert await cluster.pods("default") == {}
            assert await runtime.list_pod_sandbox() == []

    run_virtual(main())
