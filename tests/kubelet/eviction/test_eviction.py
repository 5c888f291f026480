"""Eviction: what counts as too little, who goes first, and what the API server hears of it. On virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.kubelet.eviction.eviction_manager import PRESSURE_TRANSITION_PERIOD
from lifecycle.kubelet.eviction.ranking import eviction_message, rank
from lifecycle.kubelet.eviction.thresholds import node_condition, parse_threshold, parse_thresholds, thresholds_met
from lifecycle.kubelet.kubelet import Kubelet
from lifecycle.kubelet.stats.summary import ContainerUsage, Observation, PodUsage, Summary, memory_available
from tests.kubelet.small_cluster import SmallCluster, small_cluster
from tests.kubelet.test_kubelet import ONE_NODE

Mi = 1 << 20
PLENTY = {"memory.available": Observation(1000 * Mi, 2000 * Mi)}
LITTLE = {"memory.available": Observation(50 * Mi, 2000 * Mi)}


@pytest.mark.parametrize(
    ("signal", "available", "met"),
    [
        ("memory.available", 99 * Mi, True),
        ("memory.available", 100 * Mi, False),
        ("nodefs.available", 99 * Mi, True),
        ("nodefs.available", 100 * Mi + 2, False),  # ten per cent in single precision is a little more
        ("imagefs.available", 149 * Mi, True),
        ("imagefs.inodesFree", 51 * Mi, False),
    ],
)
def test_too_little_is_less_than_the_threshold(signal: str, available: int, met: bool) -> None:
    """100Mi of memory; ten per cent of the node's disk, fifteen of the images'."""
    found = thresholds_met(parse_thresholds(), {signal: Observation(available, 1000 * Mi)})
    assert [threshold.signal for threshold in found] == ([signal] if met else [])


def test_memory_comes_before_all_else() -> None:
    short = {"nodefs.available": Observation(0, 100), "memory.available": Observation(0, 100)}
    assert [t.signal for t in thresholds_met(parse_thresholds(), short)] == ["memory.available", "nodefs.available"]
    assert (node_condition("memory.available"), node_condition("nodefs.inodesFree")) == (
        "MemoryPressure",
        "DiskPressure",
    )


@pytest.mark.parametrize(
    ("signal", "text"), [("cpu.available", "1"), ("memory.available", "101%"), ("memory.available", "-1Mi")]
)
def test_what_is_no_threshold(signal: str, text: str) -> None:
    with pytest.raises(ValueError, match=r"eviction|threshold"):
        parse_threshold(signal, text)


def pod(name: str, request: str = "", priority: int = 0) -> Object:
    resources = {"requests": {"memory": request}} if request else {}
    container = {"name": "c", "image": "busybox:1.36", "command": ["sh", "-c", "sleep 3600"], "resources": resources}
    made: Object = {"metadata": {"name": name, "uid": name}, "spec": {"containers": [container]}}
    if priority:
        made["spec"]["priority"] = priority
    return made


def uses(**mebibytes: int) -> dict[str, PodUsage]:
    return {name: PodUsage({"c": ContainerUsage(memory=size * Mi)}) for name, size in mebibytes.items()}


def test_who_goes_first() -> None:
    """Over its request, then the least important, then who is furthest over."""
    pods = [pod("modest", "100Mi"), pod("greedy"), pod("greedier"), pod("important", priority=1000), pod("unknown")]
    usages = uses(modest=90, greedy=50, greedier=60, important=500)
    names = [p["metadata"]["name"] for p in rank(pods, usages, "memory")]
    assert names == ["unknown", "greedier", "greedy", "important", "modest"]


def test_what_is_said_of_it() -> None:
    threshold = parse_threshold("memory.available", "100Mi")
    said = eviction_message(pod("p", "32Mi"), uses(p=64)["p"], threshold, Observation(50 * Mi, 2000 * Mi))
    assert said == (
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. "
        "Container c was using 64Mi, request is 32Mi, has larger consumption of memory. "
    )
    small = eviction_message(pod("p", "128Mi"), uses(p=64)["p"], threshold, Observation(50 * Mi, 2000 * Mi))
    assert "Container" not in small


def test_what_the_kernel_says_of_its_memory(tmp_path: Path) -> None:
    said = "MemTotal:       2048 kB\nMemFree:          64 kB\nMemAvailable:     512 kB\nHugePages_Total:       0\n"
    (tmp_path / "meminfo").write_text(said)
    assert memory_available(tmp_path / "meminfo") == Observation(512 << 10, 2048 << 10)


class Stage:
    """A node with pods, and what is measured on it: the pod's usage is known by its name."""

    cluster: SmallCluster

    def __init__(self) -> None:
        self.usages: dict[str, PodUsage] = {}
        self.observations = PLENTY
        self.uids: dict[str, str] = {}

    @property
    def kubelet(self) -> Kubelet:
        [kubelet] = self.cluster.kubelets.values()
        return kubelet

    async def summary(self) -> Summary:
        return Summary(
            self.observations, {self.uids[name]: usage for name, usage in self.usages.items() if name in self.uids}
        )

    async def node(self) -> dict[str, Any]:
        found = await self.cluster.admin.get(resource("nodes"), self.kubelet.node_name, "")
        return {c["type"]: c for c in found["status"]["conditions"]}


@asynccontextmanager
async def staged(*pods: Object) -> AsyncIterator[Stage]:
    """The eviction manager looks for the first time 6 seconds after this, then every 10."""
    stage = Stage()
    async with small_cluster(nodes=ONE_NODE, summary=stage.summary) as stage.cluster:
        for made in pods:
            name = made["metadata"]["name"]
            created = await stage.cluster.create_pod({"metadata": {"name": name}, "spec": made["spec"]})
            stage.uids[name] = created["metadata"]["uid"]
        await asyncio.sleep(3)
        yield stage


def test_a_pod_that_has_to_go_has_failed_and_says_why() -> None:
    async def main() -> None:
        async with staged(pod("greedy"), pod("modest", "100Mi")) as stage:
            cluster = stage.cluster
            stage.usages = uses(greedy=500, modest=50)
            await asyncio.sleep(15)
            assert (await cluster.pod("greedy"))["status"]["phase"] == "Running"
            assert (await stage.node())["MemoryPressure"]["status"] == "False"
            stage.observations = LITTLE
            await asyncio.sleep(9)  # one look: one pod
            status = (await cluster.pod("greedy"))["status"]
            assert (status["phase"], status["reason"]) == ("Failed", "Evicted")
            assert status["message"].startswith("The node was low on resource: memory. Threshold quantity: 100Mi")
            told = {c["type"]: c for c in status["conditions"]}
            assert (told["DisruptionTarget"]["status"], told["DisruptionTarget"]["reason"]) == (
                "True",
                "TerminationByKubelet",
            )
            assert told["DisruptionTarget"]["message"] == status["message"]
            assert told["Ready"]["reason"] == "PodFailed"
            assert status["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
            assert (await cluster.pod("modest"))["status"]["phase"] == "Running"
            pressure = (await stage.node())["MemoryPressure"]
            assert (pressure["status"], pressure["reason"]) == ("True", "KubeletHasInsufficientMemory")
            events = {e["reason"]: e for e in await cluster.events("default")}
            assert events["Evicted"]["message"] == status["message"]
            assert events["EvictionThresholdMet"]["message"] == "Attempting to reclaim memory"
            await asyncio.sleep(10)
            assert (await cluster.pod("modest"))["status"]["reason"] == "Evicted"  # it is the turn of the next

    run_virtual(main())


def test_under_pressure_a_node_takes_only_pods_that_asked_for_memory() -> None:
    async def main() -> None:
        async with staged() as stage:
            cluster = stage.cluster
            stage.observations = LITTLE
            await asyncio.sleep(11)
            stage.observations = PLENTY
            for made in (pod("asks", "10Mi"), pod("does-not")):
                made["spec"]["nodeName"] = stage.kubelet.node_name
                await cluster.create_pod({"metadata": {"name": made["metadata"]["name"]}, "spec": made["spec"]})
            await asyncio.sleep(3)
            assert (await cluster.pod("asks"))["status"]["phase"] == "Running"
            refused = (await cluster.pod("does-not"))["status"]
            assert (refused["reason"], refused["message"]) == (
                "Evicted",
                "Pod was rejected: The node had condition: [MemoryPressure]. ",
            )
            await asyncio.sleep(PRESSURE_TRANSITION_PERIOD - 60)
            assert (await stage.node())["MemoryPressure"]["status"] == "True"
            await asyncio.sleep(80)
            assert (await stage.node())["MemoryPressure"]["status"] == "False"

    run_virtual(main())


def test_critical_pods_stay() -> None:
    async def main() -> None:
        async with staged(pod("plain")) as stage:
            cluster = stage.cluster
            [known] = stage.kubelet.pods.active_pods()
            known["spec"]["priority"] = 2_000_000_000
            stage.usages, stage.observations = uses(plain=500), LITTLE
            await asyncio.sleep(25)
            assert (await cluster.pod("plain"))["status"]["phase"] == "Running"

    run_virtual(main())
