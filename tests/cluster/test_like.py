"""`--like`: a cluster that starts out as a recorded one, and then lives."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Awaitable, Callable
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.cluster import like
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from tests.conftest import RECORDINGS

KIND, BARE = RECORDINGS / "kind-1.36.2", RECORDINGS / "bare-1.20.2"


def on(recording: Path, ask: Callable[[Cluster, Client], Awaitable[Any]]) -> Any:
    """What `ask` finds out about a cluster like the recorded one."""

    async def main() -> Any:
        cluster = Cluster(ClusterConfig(like=recording, https=False, seed=1))
        try:
            await cluster.start()
            return await ask(cluster, cluster.client("test"))
        finally:
            await cluster.stop()

    return run_virtual(main())


def service(name: str, **spec: Any) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name},
        "spec": {"ports": [{"port": 80}], **spec},
    }


async def listed(client: Client, name: str) -> dict[str, Object]:
    return {item["metadata"]["name"]: item for item in (await client.list(resource(name)))["items"]}


@pytest.mark.parametrize("recording", [KIND, BARE], ids=lambda path: path.name)
def test_everything_that_was_recorded_is_there_and_stays(recording: Path) -> None:
    seed = like.read(recording)

    async def ask(cluster: Cluster, client: Client) -> list[str]:
        await asyncio.sleep(900)  # long enough for the garbage collector, the node monitor and every resync
        changed = []
        for row, obj in seed.objects:
            metadata = obj["metadata"]
            try:
                now = await client.get(row, metadata["name"], metadata.get("namespace", ""))
            except StatusError as error:
                changed.append(error.message)
                continue
            if now["metadata"]["uid"] != metadata["uid"]:
                changed.append(f"{row.plural} {metadata['name']} is another one")
        return changed

    assert len(seed.objects) > 150
    assert on(recording, ask) == []


def test_namespaces_trust_this_cluster_from_the_start() -> None:
    async def ask(cluster: Cluster, client: Client) -> tuple[Object, str]:
        await asyncio.sleep(1)
        return await client.get(
            resource("configmaps"), "kube-root-ca.crt", "default"
        ), cluster.server.certificates.ca_pem.decode()

    found, authority = on(KIND, ask)
    assert found["data"] == {"ca.crt": authority}
    recorded = next(o for _, o in like.read(KIND).objects if o["metadata"]["name"] == "kube-root-ca.crt")
    assert found["metadata"]["managedFields"] == recorded["metadata"]["managedFields"]  # nobody had to write it again


@pytest.mark.parametrize(
    ("recording", "groups"), [(KIND, {"kubeadm:cluster-admins"}), (BARE, {"system:masters"})], ids=["kind", "bare"]
)
def test_the_administrator_is_in_the_groups_of_the_recorded_one(recording: Path, groups: set[str]) -> None:
    async def ask(cluster: Cluster, client: Client) -> tuple[Object, str]:
        review: Object = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        certificate = b64decode(cluster.kubeconfig()["users"][0]["user"]["client-certificate-data"])
        names = x509.load_pem_x509_certificate(certificate).subject.get_attributes_for_oid(
            x509.NameOID.ORGANIZATION_NAME
        )
        answer = await client.create(resource("selfsubjectreviews.authentication.k8s.io"), review)
        return answer["status"]["userInfo"], {str(name.value) for name in names}

    user, in_certificate = on(recording, ask)
    assert user["username"] == "kubernetes-admin"
    assert set(user["groups"]) == groups | {"system:authenticated"}
    assert in_certificate == groups


@pytest.mark.parametrize(("recording", "code"), [(KIND, 500), (BARE, 422)], ids=["kind", "bare"])
def test_a_role_binding_without_a_kind_of_role_is_refused_as_there(recording: Path, code: int) -> None:
    """RBAC has to look the role up for everybody but system:masters, and cannot."""

    async def ask(cluster: Cluster, client: Client) -> int:
        metadata: Object = {"name": "x", "namespace": "default"}
        binding: Object = {"metadata": metadata, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "name": "r"}}
        with pytest.raises(StatusError) as refused:
            await client.create(resource("rolebindings.rbac.authorization.k8s.io"), binding, "default")
        return refused.value.code

    assert on(recording, ask) == code


def test_machines_keep_names_addresses_and_pod_networks() -> None:
    async def ask(cluster: Cluster, client: Client) -> dict[str, Object]:
        return await listed(client, "nodes")

    nodes = on(KIND, ask)
    recorded = {shape.name: shape for shape in like.read(KIND).nodes}
    assert set(nodes) == {"lifecycle-control-plane", "lifecycle-worker", "lifecycle-worker2"}
    for name, node in nodes.items():
        shape = recorded[name]
        assert node["spec"]["podCIDR"] == shape.pod_cidr
        addresses = {entry["type"]: entry["address"] for entry in node["status"]["addresses"]}
        assert addresses == {"InternalIP": shape.address, "Hostname": name}
        assert node["metadata"]["labels"].items() >= dict(shape.labels).items()


def test_add_ons_run_on_where_they_ran() -> None:
    seed = like.read(KIND)
    recorded = {obj["metadata"]["name"]: obj for row, obj in seed.objects if row.plural == "pods"}
    pod_networks = {shape.name: shape.pod_cidr for shape in seed.nodes}

    async def ask(cluster: Cluster, client: Client) -> dict[str, Object]:
        await asyncio.sleep(60)
        return await listed(client, "pods")

    pods = on(KIND, ask)
    assert set(pods) == set(recorded)
    assert len(pods) >= 13
    for name, pod in pods.items():
        assert pod["status"]["phase"] == "Running"
        ready = {condition["type"]: condition["status"] for condition in pod["status"]["conditions"]}["Ready"]
        assert ready == "True", name
        assert pod["spec"]["nodeName"] == recorded[name]["spec"]["nodeName"]
        assert pod["status"]["podIP"] == recorded[name]["status"]["podIP"]
        if not pod["spec"].get("hostNetwork"):
            assert ip_address(pod["status"]["podIP"]) in ip_network(pod_networks[pod["spec"]["nodeName"]])


def test_containers_that_ran_run_on_and_none_is_lost() -> None:
    recorded = {obj["metadata"]["name"]: obj for row, obj in like.read(KIND).objects if row.plural == "pods"}

    async def ask(cluster: Cluster, client: Client) -> dict[str, Object]:
        await asyncio.sleep(300)
        return await listed(client, "pods")

    def told(pod: Object) -> list[Any]:
        return [
            (
                entry["name"],
                entry["containerID"].partition("://")[2],
                entry["restartCount"],
                entry["state"],
                entry["lastState"],
            )
            for entry in pod["status"]["containerStatuses"]
        ]

    pods = on(KIND, ask)
    assert {name: told(pod) for name, pod in pods.items()} == {name: told(pod) for name, pod in recorded.items()}
    assert {name: pod["status"]["podIP"] for name, pod in pods.items()} == {
        name: pod["status"]["podIP"] for name, pod in recorded.items()
    }


def test_new_services_are_allocated_around_the_recorded_ones() -> None:
    async def ask(cluster: Cluster, client: Client) -> tuple[dict[str, Object], StatusError, str]:
        for number in range(20):
            await client.create(resource("services"), service(f"new-{number}"), "default")
        with pytest.raises(StatusError) as taken:
            await client.create(resource("services"), service("thief", clusterIP="10.96.0.10"), "default")
        free = await client.create(resource("services"), service("wish", clusterIP="10.96.0.11"), "default")
        return await listed(client, "services"), taken.value, free["spec"]["clusterIP"]

    services, taken, free = on(KIND, ask)
    addresses = [item["spec"]["clusterIP"] for item in services.values()]
    assert services["kube-dns"]["spec"]["clusterIP"] == "10.96.0.10"
    assert services["kubernetes"]["spec"]["clusterIP"] == "10.96.0.1"
    assert len(set(addresses)) == len(addresses) == 23
    assert taken.code == 422
    assert "provided IP is already allocated" in taken.message
    assert free == "10.96.0.11"


@pytest.mark.parametrize("recording", [KIND, BARE], ids=lambda path: path.name)
def test_new_workloads_run_on_it(recording: Path) -> None:
    deployment: Object = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web"},
        "spec": {
            "replicas": 3,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "nginx", "image": "nginx"}]},
            },
        },
    }

    async def ask(cluster: Cluster, client: Client) -> tuple[int, set[str], list[str]]:
        await client.create(resource("deployments.apps"), deployment, "default")
        await asyncio.sleep(30)
        live = await client.get(resource("deployments.apps"), "web", "default")
        pods = [pod for pod in (await listed(client, "pods")).values() if pod["metadata"]["namespace"] == "default"]
        return (
            live["status"]["readyReplicas"],
            {p["spec"]["nodeName"] for p in pods},
            [p["status"]["podIP"] for p in pods],
        )

    ready, nodes, addresses = on(recording, ask)
    assert ready == 3
    assert nodes == {"lifecycle-worker", "lifecycle-worker2"}
    assert len(set(addresses)) == 3


def test_a_pod_may_follow_its_namespace_at_once() -> None:
    """Admission waits for the service account that a controller is about to make."""
    pod: Object = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "quick"},
        "spec": {"containers": [{"name": "c", "image": "nginx"}]},
    }

    async def ask(cluster: Cluster, client: Client) -> Object:
        namespace: Object = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}
        await client.create(resource("namespaces"), namespace)
        return await client.create(resource("pods"), pod, "new")

    assert on(KIND, ask)["spec"]["serviceAccountName"] == "default"


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        (None, "--like wants a recording with http/objects.jsonl"),
        ([], "--like wants a recording that lists nodes"),
    ],
)
def test_what_is_no_recording_is_refused_in_one_line(
    tmp_path: Path, lines: list[Object] | None, complaint: str
) -> None:
    if lines is not None:
        (tmp_path / "http").mkdir()
        (tmp_path / "http" / "objects.jsonl").write_bytes(b"\n".join(map(fast_json.dumps, lines)))
    with pytest.raises(ValueError, match=complaint) as refused:
        like.read(tmp_path)
    assert "\n" not in str(refused.value)
