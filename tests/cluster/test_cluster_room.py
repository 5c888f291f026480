"""Putting a cluster together: shapes of machines, kubeconfig, refusals, start and stop."""

from __future__ import annotations

import asyncio
import dataclasses
import inspect
import stat
from pathlib import Path

import pytest
import yaml

import lifecycle
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.doctor import PROGRAMS, checkup
from lifecycle.cluster.kubeconfig_file import kubeconfig, write_kubeconfig
from lifecycle.cluster.node_readiness import NodesReady
from lifecycle.cluster.nodes import NodeShape, kind_nodes, pod_network, with_pod_cidrs
from lifecycle.cluster.stores import open_store


def test_nodes_are_named_and_tainted_as_kind_does() -> None:
    control_plane, worker, worker2 = kind_nodes(3)
    assert [n.name for n in (control_plane, worker, worker2)] == [
        "lifecycle-control-plane",
        "lifecycle-worker",
        "lifecycle-worker2",
    ]
    assert [taint["key"] for taint in control_plane.taints] == ["node-role.kubernetes.io/control-plane"]
    assert worker.taints == ()
    assert len({n.address for n in (control_plane, worker, worker2)}) == 3


def test_a_single_node_runs_pods_itself() -> None:
    assert kind_nodes(1)[0].taints == ()


def test_a_cluster_without_nodes_is_refused() -> None:
    with pytest.raises(ValueError, match=r"a cluster needs at least one node$"):
        kind_nodes(0)


def test_many_nodes_get_a_larger_pod_network() -> None:
    assert pod_network(3) == "10.244.0.0/16"
    assert pod_network(257) != pod_network(256)


@pytest.mark.parametrize(
    ("config", "complaint"),
    [
        (ClusterConfig(nodes=0), "--nodes must be at least 1"),
        (
            ClusterConfig(without=("kubelets",)),
            "--without knows scheduler, controllers, kubelet, proxy, dns; not kubelets",
        ),
        (ClusterConfig(runtime="docker"), "--runtime knows hollow, sandbox, containerd, containerd:SOCKET; not docker"),
    ],
)
def test_impossible_configurations_are_refused_in_one_line(config: ClusterConfig, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refused:
        Cluster(config)
    assert "\n" not in str(refused.value)


def test_an_unknown_store_is_refused() -> None:
    with pytest.raises(ValueError, match=r"--store knows memory, sqlite:PATH, etcd:URL; not floppy$"):
        asyncio.run(open_store("floppy"))


def test_a_kubeconfig_is_for_its_owner_only_and_names_the_context(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config"
    write_kubeconfig(kubeconfig("https://127.0.0.1:1", b"ca", b"cert", b"key", name="kind-lifecycle"), path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    config = yaml.safe_load(path.read_text())
    assert config["current-context"] == "kind-lifecycle"
    assert config["clusters"][0]["cluster"]["server"] == "https://127.0.0.1:1"


def test_the_doctor_speaks_of_every_program(tmp_path: Path) -> None:
    lines = checkup(str(tmp_path))
    assert len(lines) == len(PROGRAMS)
    assert all(line.startswith("missing") for line in lines)


def test_start_returns_with_every_node_ready_and_stop_leaves_nothing_running() -> None:
    async def main() -> None:
        before = asyncio.all_tasks()
        cluster = Cluster(ClusterConfig(nodes=3, https=False, seed=1))
        await cluster.start()
        nodes = (await cluster.client("test").list(resource("nodes")))["items"]
        ready = [c["status"] for node in nodes for c in node["status"]["conditions"] if c["type"] == "Ready"]
        assert ready == ["True"] * 3
        await cluster.stop()
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == before

    run_virtual(main())


def test_a_seed_makes_names_and_uids_repeatable() -> None:
    async def names() -> list[tuple[str, str]]:
        cluster = Cluster(ClusterConfig(nodes=2, https=False, seed=7))
        await cluster.start()
        namespaces = (await cluster.client("test").list(resource("namespaces")))["items"]
        await cluster.stop()
        return [(n["metadata"]["name"], n["metadata"]["uid"]) for n in namespaces]

    assert run_virtual(names()) == run_virtual(names())


def test_left_out_components_do_not_run() -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(https=False, without=("kubelet", "controllers", "scheduler")))
        await cluster.start()
        assert (await cluster.client("test").list(resource("nodes")))["items"] == []
        await cluster.stop()

    run_virtual(main())


def test_without_controllers_a_cluster_is_ready_and_its_nodes_have_ranges_of_addresses() -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(https=False, without=("controllers",)))
        answering = []
        try:
            await cluster.start(lambda: answering.append(list(cluster.kubelets)))
            assert answering == [[]]  # the API answered before any node had joined
            nodes = (await cluster.client("test").list(resource("nodes")))["items"]
            assert len({node["spec"]["podCIDR"] for node in nodes}) == 3
            conditions = {c["type"]: c["status"] for node in nodes for c in node["status"]["conditions"]}
            assert conditions["Ready"] == "True"
            taints = {taint["key"] for node in nodes for taint in node["spec"]["taints"]}
            assert "node.kubernetes.io/not-ready" in taints  # which only a controller takes away
            account = {"metadata": {"name": "default"}}
            await cluster.client("test").create(resource("serviceaccounts"), account, "default")
            spec = {
                "nodeName": "lifecycle-worker",
                "automountServiceAccountToken": False,
                "containers": [{"name": "c", "image": "nginx"}],
            }
            pods = resource("pods")
            await cluster.client("test").create(pods, {"metadata": {"name": "p"}, "spec": spec}, "default")
            await asyncio.sleep(30)
            pod = await cluster.client("test").get(pods, "p", "default")
            assert (pod["status"]["phase"], pod["status"]["podIP"][:7]) == ("Running", "10.244.")
        finally:
            await cluster.stop()

    run_virtual(main())


def test_controllers_that_come_later_find_the_ranges_taken() -> None:
    shapes = [
        NodeShape("a", "10.0.0.1"),
        NodeShape("b", "10.0.0.2", pod_cidr="10.244.0.0/24"),
        NodeShape("c", "10.0.0.3"),
    ]
    assert [shape.pod_cidr for shape in with_pod_cidrs(shapes)] == ["10.244.1.0/24", "10.244.0.0/24", "10.244.2.0/24"]


def test_nodes_that_never_become_ready_are_named() -> None:
    async def main() -> None:
        cluster = Cluster(ClusterConfig(https=False, ready_timeout=0))
        try:
            with pytest.raises(
                TimeoutError,
                match=r"not Ready after 0 s: lifecycle-control-plane, lifecycle-worker, lifecycle-worker2$",
            ):
                await cluster.start()
        finally:
            await cluster.stop()

    run_virtual(main())


@pytest.mark.parametrize(
    ("count", "summary"),
    [
        (0, ""),
        (1, "node-1"),
        (3, "node-1, node-2, node-3"),
        (4, "node-1, node-2, node-3 and 1 more"),
        (5000, "node-1, node-2, node-3 and 4,997 more"),
    ],
)
def test_of_many_nodes_that_are_not_ready_the_first_are_named(count: int, summary: str) -> None:
    shapes = [NodeShape(f"node-{number}", "10.0.0.1") for number in range(1, count + 1)]
    assert NodesReady(shapes, managed=True).summary() == summary


def test_who_is_ready_is_not_named() -> None:
    nodes = NodesReady([NodeShape(name, "10.0.0.1") for name in "abcde"], managed=True)
    nodes.waiting -= {"a", "c"}
    assert nodes.summary() == "b, d, e"


def test_the_synchronous_face_also_enters_asynchronously() -> None:
    async def main() -> str:
        async with lifecycle.up(nodes=1) as cluster:
            return str(cluster.client.VersionApi().get_code().git_version)

    assert asyncio.run(main()) == "v1.36.2"


def test_up_names_every_option_of_a_cluster_and_is_listed_by_dir() -> None:
    parameters = inspect.signature(lifecycle.up).parameters
    assert list(parameters) == [field.name for field in dataclasses.fields(ClusterConfig)]
    config = ClusterConfig()
    up = lifecycle.up().config
    assert up == config
    assert "up" in dir(lifecycle)
