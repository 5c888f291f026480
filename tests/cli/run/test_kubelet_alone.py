"""`lifecycle run kubelet`, and all three of ours as processes of their own, for our own API server."""

from __future__ import annotations

import asyncio
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.api.http.wire import MASTERS, Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.cli.run.lone_component import PATIENCE, LoneComponent, deployment, running, until
from tests.live.real_programs import identity

WITHOUT = ("scheduler", "controllers", "kubelet", "proxy", "dns")


@pytest.fixture(scope="module")
def cluster() -> Iterator[BackgroundCluster]:
    with BackgroundCluster(ClusterConfig(without=WITHOUT)) as background:
        yield background


def user(cluster: BackgroundCluster, folder: Path, name: str, *groups: str) -> Path:
    assert cluster.cluster is not None
    path = folder / f"{name}.kubeconfig"
    return identity(cluster.cluster.server.certificates, cluster.url, path, name, *groups, context="alone")


def node(cluster: BackgroundCluster, name: str) -> Object:
    assert cluster.cluster is not None
    return cluster.run(cluster.cluster.client("kubectl").get(resource("nodes"), name))


def ask(cluster: BackgroundCluster, folder: Path, port: int, path: str, *subject: str) -> tuple[int, str]:
    """Ask the kubelet's own port, as somebody whom the cluster's authority vouches for, or as nobody."""
    assert cluster.cluster is not None
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # as an API server without an authority for it
    if subject:
        certificate, key = cluster.cluster.server.certificates.client_certificate(subject[0], subject[1:])
        chain = folder / "chain.pem"
        chain.write_bytes(certificate + key)
        context.load_cert_chain(chain)
    try:
        with urllib.request.urlopen(f"https://127.0.0.1:{port}{path}", context=context, timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_it_registers_its_node_and_keeps_its_lease(cluster: BackgroundCluster, tmp_path: Path) -> None:
    kubeconfig = user(cluster, tmp_path, "system:node:first", "system:nodes")
    options = (
        "--node-labels",
        "rack=a,disk=ssd",
        "--register-with-taints",
        "own=yes:NoSchedule,tired:PreferNoSchedule",
    )
    words = ("kubelet", "--kubeconfig", kubeconfig, "--hostname-override", "first", "--port", "0", *options)
    with LoneComponent(*words, "--pod-cidr", "10.244.7.0/24", program=True) as lone:
        registered = node(cluster, "first")
        labels = registered["metadata"]["labels"]
        assert (labels["rack"], labels["disk"], labels["kubernetes.io/hostname"]) == ("a", "ssd", "first")
        assert {"key": "own", "value": "yes", "effect": "NoSchedule"} in registered["spec"]["taints"]
        assert {"key": "tired", "effect": "PreferNoSchedule"} in registered["spec"]["taints"]
        assert {"type": "InternalIP", "address": "127.0.0.1"} in registered["status"]["addresses"]
        assert lone.get("/readyz?verbose")[1].startswith("[+]ping ok\n[+]node-registration ok\n")
        assert "kubelet_running_pods 0\n" in lone.get("/metrics")[1]
        assert cluster.cluster is not None
        client = cluster.cluster.client("kubectl")
        lease = cluster.run(client.get(resource("leases.coordination.k8s.io"), "first", "kube-node-lease"))
        assert lease["spec"]["holderIdentity"] == "first"
        port = registered["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"]
        status, text = ask(cluster, tmp_path, port, "/pods", "admin", MASTERS)
        assert (status, json.loads(text)["kind"]) == (200, "PodList")
        assert ask(cluster, tmp_path, port, "/pods", "nobody")[0] == 403
        assert ask(cluster, tmp_path, port, "/pods")[0] == 403  # anonymous
        assert lone.stop() == 0
    assert lone.said == []


def test_a_node_under_somebody_elses_name_is_refused_aloud(cluster: BackgroundCluster, tmp_path: Path) -> None:
    kubeconfig = user(cluster, tmp_path, "system:node:me", "system:nodes")
    words = ("kubelet", "--kubeconfig", kubeconfig, "--hostname-override", "other", "--port", "0")
    with LoneComponent(*words, ready=False) as lone:
        assert lone.hear("Unable to register node with API server: other: (.*)").startswith(
            'nodes "other" is forbidden'
        )
        assert lone.stop() == 130
    assert lone.said[-1] == "lifecycle: ended by a signal before it was ready"
    assert lone.printed == []


def test_three_processes_of_ours_make_a_deployment_run(cluster: BackgroundCluster, tmp_path: Path) -> None:
    manager = user(cluster, tmp_path, "system:kube-controller-manager")
    scheduler = user(cluster, tmp_path, "system:kube-scheduler")
    kubelet = user(cluster, tmp_path, "system:node:lone", "system:nodes")
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE):
            await client.create(resource("namespaces"), {"metadata": {"name": "three"}})
            await client.create(resource("deployments.apps"), deployment("nginx", 3), "three")
            pods = await until(client, "pods", "three", running(3))
            assert {pod["spec"]["nodeName"] for pod in pods} == {"lone"}
            assert all(pod["status"]["podIP"].startswith("10.244.") for pod in pods)
            await client.delete(resource("namespaces"), "three")
            await until(client, "pods", "three", lambda items: not items)

    with (
        LoneComponent("controllers", "--kubeconfig", manager) as one,
        LoneComponent("scheduler", "--kubeconfig", scheduler) as two,
        LoneComponent("kubelet", "--kubeconfig", kubelet, "--hostname-override", "lone", "--port", "0") as three,
    ):
        cluster.run(scene())
        for each in (three, two, one):
            assert each.get("/healthz") == (200, "ok")
            assert each.stop() == 0
            assert [line for line in each.said if not line.startswith("leading: ")] == []


def test_its_port_believes_only_the_clusters_authority(cluster: BackgroundCluster) -> None:
    from lifecycle.cluster.alone.kubelet import serving_context

    own, other = CertificateAuthority(), CertificateAuthority()
    context = serving_context("n", "127.0.0.1", own.ca_pem)
    assert context.verify_mode is ssl.CERT_OPTIONAL
    subjects = [dict(part[0] for part in each["subject"]) for each in context.get_ca_certs()]
    assert subjects == [{"commonName": "kubernetes"}]
    assert context.get_ca_certs(binary_form=True) != serving_context("n", "127.0.0.1", other.ca_pem).get_ca_certs(
        binary_form=True
    )
    assert serving_context("n", "127.0.0.1", b"").verify_mode is ssl.CERT_NONE
