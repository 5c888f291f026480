"""`lifecycle run scheduler` against our own API server, over TLS, with a certificate of its own."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.api.resources import resource
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.cli.run.lone_component import PATIENCE, LoneComponent, deployment, running, until
from tests.live.real_programs import identity

USER = "system:kube-scheduler"
LEASE = "kube-system/kube-scheduler"


@pytest.fixture(scope="module")
def cluster() -> Iterator[BackgroundCluster]:
    with BackgroundCluster(ClusterConfig(without=("scheduler", "dns"))) as background:
        yield background


@pytest.fixture(scope="module")
def kubeconfig(cluster: BackgroundCluster, tmp_path_factory: pytest.TempPathFactory) -> Path:
    assert cluster.cluster is not None
    path = tmp_path_factory.mktemp("scheduler") / "kubeconfig"
    return identity(cluster.cluster.server.certificates, cluster.url, path, USER, context="alone")


def run_pods(cluster: BackgroundCluster, name: str) -> None:
    """Three of a Deployment, until they run."""
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE):
            await client.create(resource("namespaces"), {"metadata": {"name": name}})
            await client.create(resource("deployments.apps"), deployment("nginx", 3), name)
            await until(client, "pods", name, running(3))

    cluster.run(scene())


def holder(cluster: BackgroundCluster) -> str:
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")
    lease = cluster.run(client.get(resource("leases.coordination.k8s.io"), "kube-scheduler", "kube-system"))
    return str(lease["spec"]["holderIdentity"])


def test_it_gives_pods_nodes_and_the_next_one_takes_over(cluster: BackgroundCluster, kubeconfig: Path) -> None:
    with LoneComponent("scheduler", "--kubeconfig", kubeconfig, program=True) as first:
        name = first.hear(rf"^leading: lease {LEASE} as (\S+)$")
        assert holder(cluster) == name
        run_pods(cluster, "first")
        with LoneComponent("scheduler", "--kubeconfig", kubeconfig) as second:
            second.hear(f"^standing by: lease {LEASE} is held by {name}$")
            assert len(second.said) == 1
            assert second.get("/readyz") == (200, "ok")
            assert 'leader_election_master_status{name="kube-scheduler"} 0\n' in second.get("/metrics")[1]
            assert (first.stop(), first.said[1:], first.printed[1:]) == (0, [], [])
            successor = second.hear(rf"^leading: lease {LEASE} as (\S+)$")
            assert successor != name
            run_pods(cluster, "second")
            assert second.stop(signal.SIGTERM) == 0
    assert holder(cluster) == ""  # it gave the lease back


def test_its_port_tells_how_it_is(cluster: BackgroundCluster, kubeconfig: Path) -> None:
    with LoneComponent("scheduler", "--kubeconfig", kubeconfig, "--leader-elect=false") as lone:
        assert lone.get("/healthz?verbose") == (200, "[+]ping ok\nhealthz check passed\n")
        assert lone.get("/readyz?verbose") == (200, "[+]ping ok\n[+]informer-sync ok\nreadyz check passed\n")
        assert lone.get("/nothing")[0] == 404
        status, text = lone.get("/metrics")
    assert status == 200
    assert 'scheduler_pending_pods{queue="active"} 0\n' in text
    server = re.escape(cluster.url.removeprefix("https://"))
    assert re.search(
        rf'^rest_client_requests_total{{code="200",host="{server}",method="GET"}} \d+$', text, re.MULTILINE
    )
    assert "leader_election_master_status" not in text  # it stands in no election
    assert lone.said == []


def test_a_configuration_names_the_profile_the_server_and_that_nobody_is_elected(
    cluster: BackgroundCluster, kubeconfig: Path, tmp_path: Path
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        f"clientConnection: {{kubeconfig: {kubeconfig}}}\nleaderElection: {{leaderElect: false}}\n"
        "profiles: [{schedulerName: mine}]\n"
    )
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE):
            await client.create(resource("namespaces"), {"metadata": {"name": "mine"}})
            wanted = deployment("nginx", 1)
            wanted["spec"]["template"]["spec"]["schedulerName"] = "mine"
            await client.create(resource("deployments.apps"), wanted, "mine")
            [pod] = await until(client, "pods", "mine", running(1))
            assert pod["spec"]["schedulerName"] == "mine"
            scheduled = await until(
                client, "events", "mine", lambda items: any(each["reason"] == "Scheduled" for each in items)
            )
            assert {e["source"]["component"] for e in scheduled if e["reason"] == "Scheduled"} == {"mine"}

    with LoneComponent("scheduler", "--config", config) as lone:
        cluster.run(scene())
    assert lone.said == []
    with LoneComponent("scheduler", "--config", config, "--leader-elect=true") as lone:
        assert lone.hear("^leading: ")  # what was typed wins
