"""A pod on a machine with a disk: steps in upstream's order, everything made, and nothing left when it is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.kubelet.kubelet import USER_AGENT, Kubelet, node_user
from lifecycle.kubelet.kubelet_configuration import KubeletConfiguration, LocalNode
from lifecycle.kubelet.local_pod_host import LocalPodHost
from lifecycle.kubelet.main_kubelet import Dependencies, new_main_kubelet
from lifecycle.kubelet.pod.startup_latency_tracker import POD_START, POD_WORKER, POD_WORKER_START, Histogram
from lifecycle.kubelet.sync_pod import OnStep, nobody_watches
from tests.kubelet.small_cluster import SmallCluster, small_cluster

NODE = "lifecycle-worker"


@asynccontextmanager
async def with_disk(
    tmp_path: Path, on_step: OnStep = nobody_watches, **settings: Any
) -> AsyncIterator[tuple[SmallCluster, Kubelet, HollowRuntime]]:
    """One node that has a directory for a disk and another for a cgroup tree."""
    tree = tmp_path / "cgroup"
    for controller in ("cpu", "memory", "pids"):
        (tree / controller).mkdir(parents=True)
    async with small_cluster(nodes=()) as cluster:
        user, groups = node_user(NODE)
        runtime = cluster.runtimes[NODE] = HollowRuntime(clock=cluster.clock, names=cluster.names)
        local = LocalNode(tmp_path / "kubelet", tree, cgroup_version=1, cluster_dns=("10.96.0.10",))
        client = cluster.client(USER_AGENT, user, groups)
        config = KubeletConfiguration(NODE, "172.19.0.2", "10.244.1.0/24", local=local, **settings)
        kubelet = cluster.kubelets[NODE] = new_main_kubelet(
            config, Dependencies(client, runtime, cluster.clock, on_step=on_step)
        )
        cluster.run(kubelet)
        await asyncio.sleep(1)
        await cluster.untaint()
        root = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "kube-root-ca.crt"},
            "data": {"ca.crt": "CA"},
        }
        await cluster.admin.create(resource("configmaps"), root, "default")
        yield cluster, kubelet, runtime


def pod(name: str = "p", **spec: object) -> Object:
    container = {"name": "c", "image": "nginx:1.27", "resources": {"limits": {"cpu": "100m", "memory": "64Mi"}}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": {"containers": [container], **spec}}


def test_the_steps_come_in_upstreams_order_and_the_runtime_last(tmp_path: Path) -> None:
    steps: list[str] = []

    async def main() -> None:
        async with with_disk(tmp_path, lambda step, pod: steps.append(step)) as (cluster, _, _):
            await cluster.create_pod(pod())
            await asyncio.sleep(5)

    run_virtual(main())
    assert steps[:7] == ["metrics", "status", "cgroups", "directories", "volumes", "pull secrets", "runtime"]


def test_all_is_made_and_nothing_is_left(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, runtime):
            uid = (await cluster.create_pod(pod(hostname="me")))["metadata"]["uid"]
            await asyncio.sleep(5)
            assert (await cluster.pod("p"))["status"]["phase"] == "Running"
            base = tmp_path / "kubelet/pods" / uid
            names = sorted(str(p.relative_to(base)) for p in base.iterdir())
            assert names == ["containers", "etc-hosts", "plugins", "volumes"]
            assert "\tme\n" in (base / "etc-hosts").read_text()
            (access,) = (base / "volumes/kubernetes.io~projected").iterdir()
            assert {p.name for p in access.glob("[!.]*")} == {"ca.crt", "namespace", "token"}
            assert (access / "token").read_text().count(".") == 2
            local = kubelet.host
            assert isinstance(local, LocalPodHost)
            assert local.cgroups is not None
            assert local.cgroups.all_pods().keys() == {uid}
            (container,) = await runtime.list_containers()
            targets = {mount["container_path"]: mount for mount in container.mounts}
            assert set(targets) == {
                "/var/run/secrets/kubernetes.io/serviceaccount",
                "/etc/hosts",
                "/dev/termination-log",
            }
            await cluster.admin.delete(resource("pods"), "p", "default")
            await asyncio.sleep(60)
            assert not base.exists()
            assert local.cgroups.all_pods() == {}
            assert local.volumes.mounted == {}

    run_virtual(main())


def test_a_pod_waits_for_its_config_map_and_starts_when_it_comes(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, _, runtime):
            waiting = pod(volumes=[{"name": "x", "configMap": {"name": "y"}}])
            waiting["spec"]["containers"][0]["volumeMounts"] = [{"name": "x", "mountPath": "/x"}]
            await cluster.create_pod(waiting)
            await asyncio.sleep(10)
            assert await runtime.list_pod_sandbox() == []
            messages = {
                event["message"] for event in await cluster.events("default") if event["reason"] == "FailedMount"
            }
            assert messages == {'MountVolume.SetUp failed for volume "x" : configmap "y" not found'}
            late = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "y"}}
            await cluster.admin.create(resource("configmaps"), late, "default")
            await asyncio.sleep(40)
            assert (await cluster.pod("p"))["status"]["phase"] == "Running"

    run_virtual(main())


def test_a_finished_pod_keeps_no_volumes_but_its_directories_until_it_is_deleted(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, _):
            done = pod(restartPolicy="Never")
            done["spec"]["containers"][0] |= {"image": "busybox:1.36", "command": ["sh", "-c", "echo done"]}
            uid = (await cluster.create_pod(done))["metadata"]["uid"]
            await asyncio.sleep(10)
            assert (await cluster.pod("p"))["status"]["phase"] == "Succeeded"
            base = tmp_path / "kubelet/pods" / uid
            assert list((base / "volumes/kubernetes.io~projected").iterdir()) == []
            assert (base / "containers/c").is_dir()
            assert isinstance(kubelet.host, LocalPodHost)
            assert kubelet.host.cgroups is not None
            assert kubelet.host.cgroups.all_pods() == {}

    run_virtual(main())


def test_a_refused_pod_fails_before_anything_is_made(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, _, runtime):
            greedy = pod(nodeName=NODE)
            greedy["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "999"}}
            await cluster.create_pod(greedy)
            await asyncio.sleep(2)
            status = (await cluster.pod("p"))["status"]
            assert (status["phase"], status["reason"]) == ("Failed", "OutOfcpu")
            assert not status.get("conditions")
            assert status["message"].startswith(
                "Pod was rejected: Node didn't have enough resource: cpu, requested: 999000"
            )
            assert await runtime.list_pod_sandbox() == []
            assert not (tmp_path / "kubelet/pods").exists()
            await cluster.admin.delete(resource("pods"), "p", "default", grace_period=0)
            await asyncio.sleep(2)
            assert await cluster.pods("default") == {}

    run_virtual(main())


def test_of_a_pod_that_somebody_holds_back_the_end_is_told_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, _):
            held = pod(nodeName=NODE, terminationGracePeriodSeconds=1)
            held["metadata"]["finalizers"] = ["example.com/held"]
            await cluster.create_pod(held)
            await asyncio.sleep(5)
            await cluster.admin.delete(resource("pods"), "p", "default")
            await asyncio.sleep(10)
            ended = await cluster.pod("p")
            assert ended["status"]["conditions"][0]["status"] == "False"
            kubelet.pod_workers.update_pod(ended)
            await asyncio.sleep(10)
            assert (await cluster.pod("p"))["metadata"]["resourceVersion"] == ended["metadata"]["resourceVersion"]

    run_virtual(main())


def test_a_node_tells_of_an_image_as_soon_as_it_renews_its_lease(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, _, _):
            await cluster.create_pod(pod(nodeName=NODE))
            await asyncio.sleep(25)
            [node] = (await cluster.admin.list(resource("nodes")))["items"]
            assert any("nginx:1.27" in name for image in node["status"]["images"] for name in image["names"])
            await asyncio.sleep(60)
            [later] = (await cluster.admin.list(resource("nodes")))["items"]
            assert later["metadata"]["resourceVersion"] == node["metadata"]["resourceVersion"], "nothing is new"

    run_virtual(main())


def test_an_idle_pod_is_looked_at_again_after_one_to_one_and_a_half_minutes(tmp_path: Path) -> None:
    times: list[float] = []

    def on_step(step: str, pod: Object) -> None:
        if step == "status":
            times.append(asyncio.get_running_loop().time())

    async def main() -> None:
        async with with_disk(tmp_path, on_step, sync_frequency=60.0) as (cluster, _, _):
            await cluster.create_pod(pod())
            await asyncio.sleep(5)
            times.clear()
            await asyncio.sleep(600)

    run_virtual(main())
    gaps = [b - a for a, b in pairwise(times)]
    assert 6 <= len(times) <= 10
    assert all(60 <= gap <= 90 for gap in gaps)


def test_starting_a_pod_is_counted_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, _):
            for name in ("a", "b"):
                await cluster.create_pod(pod(name))
            await asyncio.sleep(200)
            counts = kubelet.metrics.counts()
            assert (counts[POD_WORKER_START], counts[POD_START]) == (2, 2)
            assert f"{POD_START}_count 2" in kubelet.metrics.text()
            assert kubelet.metrics.histogram(POD_WORKER, "create").count == 2
            await cluster.admin.delete(resource("pods"), "a", "default")
            await asyncio.sleep(60)
            # a deletion leaves a pod time to end: upstream calls that an update
            assert kubelet.metrics.histogram(POD_WORKER, "update").count > 0
            assert kubelet.metrics.histogram(POD_WORKER, "create").count == 2

    run_virtual(main())


def test_a_histogram_counts_what_is_at_most_the_bound() -> None:
    histogram = Histogram((1, 2))
    for value in (1, 1.5, 9):
        histogram.observe(value)
    assert list(histogram.lines("x", ""))[:3] == ['x_bucket{le="1"} 1', 'x_bucket{le="2"} 2', 'x_bucket{le="+Inf"} 3']


def test_less_time_to_end_may_be_given_later_but_never_more(tmp_path: Path) -> None:
    async def main() -> None:
        async with with_disk(tmp_path) as (cluster, kubelet, _):
            slow = pod()
            slow["spec"] |= {"terminationGracePeriodSeconds": 100}
            slow["spec"]["containers"][0] |= {"image": "busybox:1.36", "command": ["sh", "-c", "sleep 3600"]}
            uid = (await cluster.create_pod(slow))["metadata"]["uid"]
            await asyncio.sleep(5)
            await cluster.admin.delete(resource("pods"), "p", "default", grace_period=60)
            await asyncio.sleep(1)
            worker = kubelet.pods.get(uid)
            assert worker is not None
            assert worker.grace_period == 60
            await cluster.admin.delete(resource("pods"), "p", "default", grace_period=5)
            await asyncio.sleep(1)
            worker = kubelet.pods.get(uid)
            assert worker is not None
            assert worker.grace_period == 5
            await asyncio.sleep(10)
            assert await cluster.pods("default") == {}

    run_virtual(main())
