"""`lifecycle run proxy` against our own API server: rules printed, and rules in a kernel."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.api.resources import resource
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.proxy.iptables.tables import Tables
from tests.cli.run.lone_component import PATIENCE, LoneComponent, deployment, running, until
from tests.live.real_programs import identity
from tests.proxy.namespace import network_namespace, saved

NODE = "lifecycle-control-plane"


@pytest.fixture(scope="module")
def cluster() -> Iterator[BackgroundCluster]:
    with BackgroundCluster(ClusterConfig(nodes=1, without=("dns",))) as background:
        yield background


@pytest.fixture(scope="module")
def kubeconfig(cluster: BackgroundCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert cluster.cluster is not None
    path = tmp_path_factory.mktemp("proxy") / "kubeconfig"
    return identity(
        cluster.cluster.server.certificates, cluster.url, path, "system:kube-proxy", "system:node-proxier", context="x"
    )


def web(cluster: BackgroundCluster, name: str) -> None:
    """A Service with two endpoints."""
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE):
            await client.create(resource("deployments.apps"), deployment(name, 2), "default")
            spec = {"selector": {"app": name}, "ports": [{"port": 80}]}
            await client.create(resource("services"), {"metadata": {"name": name}, "spec": spec}, "default")
            await until(client, "pods", "default", running(2 if name == "one" else 4))

    cluster.run(scene())


def ours(cluster: BackgroundCluster, *tables: str) -> str:
    """The rules of the cluster's own proxy for that node."""
    assert cluster.cluster is not None
    assert cluster.cluster.proxies is not None
    return cluster.run(cluster.cluster.proxies.iptables_save(NODE, *tables))


def test_a_dry_run_prints_what_would_be_loaded_and_each_change(cluster: BackgroundCluster, kubeconfig: Path) -> None:
    words = ("proxy", "--kubeconfig", kubeconfig, "--hostname-override", NODE, "--dry-run")
    with LoneComponent(*words, program=True) as lone:
        lone.hear('"default/kubernetes:https')
        web(cluster, "one")
        lone.hear(r"-A KUBE-SVC-\w+ -m comment --comment \"default/one -> 10\.244\.\d+\.\d+:80\"")
        assert 'kubeproxy_sync_proxy_rules_iptables_total{ip_family="IPv4",table="nat"}' in lone.get("/metrics")[1]
        assert lone.get("/readyz?verbose")[1] == "[+]ping ok\n[+]rules ok\nreadyz check passed\n"
        assert lone.stop() == 0
    assert [line for line in lone.said if not line.startswith("ready ")] == []
    tables = Tables()
    inputs = "\n".join(lone.printed).split("*filter\n")[1:]
    assert len(inputs) >= 2
    for text in inputs:
        tables.restore(f"*filter\n{text}\n")  # everything that was printed, it takes
    assert "default/one" in tables.save("nat")


@pytest.mark.real
def test_the_rules_in_the_kernel_are_those_of_the_embedded_proxy_and_stay_when_it_ends(
    cluster: BackgroundCluster, kubeconfig: Path
) -> None:
    web(cluster, "two")
    words = ("proxy", "--kubeconfig", kubeconfig, "--hostname-override", NODE)
    with network_namespace("alone") as namespace:
        with LoneComponent(*words, "--netns", f"/run/netns/{namespace}") as lone:
            assert lone.stop(signal.SIGTERM) == 0
        assert lone.said == []
        assert "default/two -> 10.244." in saved(namespace)
        chains = [line for line in saved(namespace).splitlines() if line.startswith("-A KUBE-SVC")]
        assert chains == [line for line in ours(cluster, "nat").splitlines() if line.startswith("-A KUBE-SVC")]
