"""Pods whose sync stops half way: what they need first is not to be had."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.kubelet import pod_workers
from tests.agreements.beyond_the_claims.logged import logged

BUG = "sync of buggy failed: RuntimeError"
NO_NETWORK = "NetworkPluginNotReady"


def _got_as_far_as(node: OneNode, name: str) -> str:
    return [step for step, pod in node.steps if pod == name][-1]


def test_without_a_network_only_pods_of_the_host_begin() -> None:
    async def scene(node: OneNode) -> None:
        node.kubelet.registration.network_error = NO_NETWORK
        pod = await node.run_pod("offline")
        on_host = await node.run_pod("of-the-host", hostNetwork=True)
        assert (pod["status"]["phase"], on_host["status"]["phase"]) == ("Pending", "Running")
        assert _got_as_far_as(node, "offline") == "status"
        [told, *_] = await node.events("NetworkNotReady")
        assert told.startswith("network is not ready: ")
        assert told.endswith(NO_NETWORK)
        node.kubelet.registration.network_error = ""
        await asyncio.sleep(60)
        assert (await node.pod("offline"))["status"]["phase"] == "Running"

    on_one_node(scene)


@pytest.mark.parametrize(
    ("place", "step", "reason", "said"),
    [
        ("cgroup/cpu/kubepods.slice", "cgroups", "FailedToCreatePodContainer", "unable to ensure pod container exists"),
        ("kubelet/pods", "directories", "FailedToMakePodDataDirectories", "error making pod data directories"),
    ],
)
def test_a_file_where_a_directory_should_be_is_waited_for(place: str, step: str, reason: str, said: str) -> None:
    async def scene(node: OneNode) -> None:
        await node.run_pod("before")
        there, aside = node.directory / place, node.directory / "aside"
        there.rename(aside)
        there.touch()
        assert (await node.run_pod("p"))["status"]["phase"] == "Pending"
        assert _got_as_far_as(node, "p") == step
        [told, *_] = await node.events(reason)
        assert told.startswith(f"{said}: ")
        there.unlink()
        aside.rename(there)
        await asyncio.sleep(60)
        assert (await node.pod("p"))["status"]["phase"] == "Running"

    on_one_node(scene)


def test_a_bug_in_a_sync_is_logged_and_the_pod_runs_in_the_end() -> None:
    async def scene(node: OneNode) -> list[str]:
        failures = iter(range(2))

        def fail(step: str, pod: Object) -> None:
            if (step, pod["metadata"]["name"]) == ("volumes", "buggy"):
                for _ in failures:
                    raise RuntimeError("nobody thought of it")

        node.watchers.append(fail)
        with logged(pod_workers.__name__) as lines:
            pod = await node.run_pod("buggy", seconds=60)
        assert pod["status"]["phase"] == "Running"
        return lines

    assert on_one_node(scene) == [f"ERROR {BUG}"] * 2


def test_of_a_claim_that_leads_nowhere_the_event_names_all_that_the_pod_waits_for() -> None:
    """And of what cannot be set up there is an event of its own. Upstream: `WaitForAttachAndMount`, `MountVolume.SetUp`."""

    async def scene(node: OneNode) -> list[str]:
        claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
        await node.create("persistentvolumeclaims", {"metadata": {"name": "data"}, "spec": claim})
        volumes = [
            {"name": "v", "persistentVolumeClaim": {"claimName": "data"}},
            {"name": "s", "secret": {"secretName": "none"}},
        ]
        pod = await node.run_pod("claims", volumes=volumes)
        assert (pod["status"]["phase"], _got_as_far_as(node, "claims")) == ("Pending", "volumes")
        return await node.events("FailedMount")

    waited, *failed = on_one_node(scene)
    lists = "unmounted volumes=[s v], unattached volumes=[], failed to process volumes=[v]"
    assert waited == f"Unable to attach or mount volumes: {lists}: error processing PVC default/data: PVC is not bound"
    assert set(failed) == {'MountVolume.SetUp failed for volume "s" : secret "none" not found'}


def test_what_holds_a_pod_up_is_told_as_a_warning() -> None:
    async def scene(node: OneNode) -> dict[str, str]:
        node.kubelet.registration.network_error = NO_NETWORK
        await node.run_pod("offline")
        node.kubelet.registration.network_error = ""
        await asyncio.sleep(60)
        for place, pod in (("cgroup/cpu/kubepods.slice", "no-cgroup"), ("kubelet/pods", "no-directory")):
            there, aside = node.directory / place, node.directory / "aside"
            there.rename(aside)
            there.touch()
            await node.run_pod(pod)
            there.unlink()
            aside.rename(there)
        events = (await node.admin.list(resource("events"), "default"))["items"]
        return {event["reason"]: event["type"] for event in events}

    kinds = on_one_node(scene)
    held_up = ("NetworkNotReady", "FailedToCreatePodContainer", "FailedToMakePodDataDirectories")
    assert {reason: kinds.get(reason) for reason in held_up} == dict.fromkeys(held_up, "Warning")
