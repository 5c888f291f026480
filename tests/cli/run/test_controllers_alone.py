"""`lifecycle run controllers` against our own API server, over TLS, with a certificate of its own."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.api.resources import resource
from lifecycle.cluster.background import BackgroundCluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.cli.run.lone_component import PATIENCE, LoneComponent, deployment, running, until
from tests.live.real_programs import identity

USER = "system:kube-controller-manager"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("controllers")


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[BackgroundCluster]:
    with BackgroundCluster(ClusterConfig(without=("controllers", "dns"), cert_dir=folder / "pki")) as background:
        yield background


@pytest.fixture(scope="module")
def kubeconfig(cluster: BackgroundCluster, folder: Path) -> Path:
    assert cluster.cluster is not None
    return identity(cluster.cluster.server.certificates, cluster.url, folder / "kubeconfig", USER, context="alone")


def test_a_deployment_becomes_running_pods_and_each_controller_was_itself(
    cluster: BackgroundCluster, kubeconfig: Path, folder: Path
) -> None:
    assert cluster.cluster is not None
    client = cluster.cluster.client("kubectl")

    async def scene() -> None:
        async with asyncio.timeout(PATIENCE):
            await client.create(resource("namespaces"), {"metadata": {"name": "run"}})
            await client.create(resource("deployments.apps"), deployment("nginx", 3), "run")
            pods = await until(client, "pods", "run", running(3))
            assert {pod["metadata"]["managedFields"][0]["manager"] for pod in pods} == {"kube-controller-manager"}
            trusted = await client.get(resource("configmaps"), "kube-root-ca.crt", "run")
            assert trusted["data"]["ca.crt"] == (folder / "pki/ca.crt").read_text()
            accounts = await client.list(resource("serviceaccounts"), "kube-system")
            names = {account["metadata"]["name"] for account in accounts["items"]}
            assert {"deployment-controller", "replicaset-controller", "root-ca-cert-publisher"} <= names

            notes = {"kubernetes.io/service-account.name": "default"}
            secret = {
                "metadata": {"name": "token", "annotations": notes},
                "type": "kubernetes.io/service-account-token",
            }
            await client.create(resource("secrets"), secret, "run")
            [kept] = await until(client, "secrets", "run", lambda items: bool(items[0].get("data")))
            review = {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "spec": {"token": base64.b64decode(kept["data"]["token"]).decode()},
            }
            answer = await client.create(resource("tokenreviews.authentication.k8s.io"), review)
            assert answer["status"]["user"]["username"] == "system:serviceaccount:run:default"

    key = folder / "pki/sa.key"
    with LoneComponent("controllers", "--kubeconfig", kubeconfig, "--service-account-private-key-file", key) as lone:
        cluster.run(scene())
        assert lone.get("/readyz") == (200, "ok")
        text = lone.get("/metrics")[1]
        assert 'running_managed_controllers{manager="kube-controller-manager",name="job-controller"} 1\n' in text
        assert lone.stop() == 0
    assert [line for line in lone.said if not line.startswith("leading: ")] == []


def test_only_those_that_are_named_run(cluster: BackgroundCluster, kubeconfig: Path) -> None:
    options = ("--controllers", "job-controller,ttl-controller", "--leader-elect=false")
    with LoneComponent("controllers", "--kubeconfig", kubeconfig, *options, program=True) as lone:
        text = lone.get("/metrics")[1]
    assert text.count("running_managed_controllers{") == 2
