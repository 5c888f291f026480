"""A whole cluster on each back end: it runs, it survives, and says what is wrong when the store is."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import urllib3
import yaml
from kubernetes import client as official
from kubernetes import config as official_config

from lifecycle.api.http.wire import MASTERS, Request, UserInfo
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.stores import open_store
from lifecycle.etcd.codec import JSON, PROTOBUF, decode_value, encode_value
from lifecycle.etcd.sqlite import SQLiteStore
from tests.etcd.real_etcd import real_etcd

ADMIN = UserInfo("admin", (MASTERS, "system:authenticated"))
DEPLOYMENTS, PODS, CONFIGMAPS = resource("deployments.apps"), resource("pods"), resource("configmaps")


@contextlib.asynccontextmanager
async def cluster_on(store: str, **options: Any) -> AsyncIterator[Cluster]:
    cluster = Cluster(ClusterConfig(store=store, https=False, **options))
    try:
        await cluster.start()
        yield cluster
    finally:
        await cluster.stop()


def deployment(replicas: int) -> dict[str, Any]:
    labels = {"app": "nginx"}
    spec = {"containers": [{"name": "nginx", "image": "nginx"}]}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "nginx"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": spec},
        },
    }


def configmap(name: str, data: str = "v") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}, "data": {"k": data}}


async def until_ready(cluster: Cluster, replicas: int) -> None:
    """Follow the Deployment until it counts so many Ready replicas."""
    async with asyncio.timeout(30):
        async for frame in await cluster.client("kubectl").watch(DEPLOYMENTS, "default"):
            status = frame.object.get("status", {})
            if (status.get("readyReplicas", 0), status.get("replicas", 0)) == (replicas, replicas):
                return


async def pods(cluster: Cluster) -> dict[str, Any]:
    """The pods by uid."""
    items = (await cluster.client("kubectl").list(PODS, "default"))["items"]
    return {pod["metadata"]["uid"]: pod for pod in items}


@contextlib.contextmanager
def address_of(kind: str, directory: Path) -> Iterator[str]:
    if kind == "etcd":
        with real_etcd(directory) as etcd:
            yield f"etcd:{etcd.url}"
    else:
        yield f"sqlite:{directory / 'cluster.db'}" if kind == "sqlite" else kind


@pytest.mark.parametrize("kind", ["memory", "sqlite", pytest.param("etcd", marks=pytest.mark.real)])
def test_a_deployment_becomes_three_ready_pods_on_every_store(kind: str, tmp_path: Path) -> None:
    async def main(address: str) -> None:
        async with cluster_on(address) as cluster:
            await cluster.client("kubectl").create(DEPLOYMENTS, deployment(3), "default")
            await until_ready(cluster, 3)
            assert [pod["status"]["phase"] for pod in (await pods(cluster)).values()] == ["Running"] * 3
            store = cluster.server.store
            for cacher in cluster.server.cachers.values():  # what is stored is what is shown, in either encoding
                if cacher.resource.api_version == "events.k8s.io/v1":
                    continue
                for kv in (await store.range(cacher.prefix, cacher.prefix[:-1] + "0")).kvs:
                    cacher.catch_up()
                    cached = cacher.get(kv.key)
                    if cached is not None and cached.revision == kv.mod_revision:
                        assert decode_value(kv.value, kv.mod_revision) == cached.obj, kv.key
                    assert kv.value.startswith(b"k8s\x00" if kind == "etcd" else b"{"), kv.key
            assert not any(cacher._written for cacher in cluster.server.cachers.values()), "handed over, never fetched"

    with address_of(kind, tmp_path) as address:
        asyncio.run(main(address))


@pytest.mark.parametrize("kind", ["sqlite", pytest.param("etcd", marks=pytest.mark.real)])
def test_a_stopped_and_restarted_cluster_has_its_objects_and_its_pods_keep_running(kind: str, tmp_path: Path) -> None:
    async def main(address: str) -> None:
        async with cluster_on(address) as cluster:
            await cluster.client("kubectl").create(DEPLOYMENTS, deployment(3), "default")
            await cluster.client("kubectl").create(CONFIGMAPS, configmap("kept"), "default")
            await until_ready(cluster, 3)
            before, revision = await pods(cluster), cluster.server.store.revision
        async with cluster_on(address) as cluster:
            client = cluster.client("kubectl")
            assert cluster.server.store.revision >= revision
            assert (await client.get(CONFIGMAPS, "kept", "default"))["data"] == {"k": "v"}
            scale = {"spec": {"replicas": 4}}
            await client.patch(DEPLOYMENTS, "nginx", "default", scale)
            await until_ready(cluster, 4)
            after = await pods(cluster)
            assert before.keys() < after.keys(), "a pod was replaced"
            assert len(after) == 4
            for uid in before:
                assert after[uid]["spec"]["nodeName"] == before[uid]["spec"]["nodeName"]
            assert {pod["status"]["phase"] for pod in after.values()} == {"Running"}

    with address_of(kind, tmp_path) as address:
        asyncio.run(main(address))


@pytest.mark.real
def test_etcd_gone_and_back_under_a_cluster(tmp_path: Path) -> None:
    async def main() -> None:
        async with cluster_on(f"etcd:{etcd.url}") as cluster:
            client, server = cluster.client("kubectl"), cluster.server
            await client.create(DEPLOYMENTS, deployment(1), "default")
            await until_ready(cluster, 1)
            await asyncio.to_thread(etcd.kill)
            for attempt in (
                client.create(CONFIGMAPS, configmap("lost"), "default"),
                client.get(DEPLOYMENTS, "nginx", "default"),
            ):
                with pytest.raises(StatusError, match="Unavailable") as refused:
                    await attempt
                assert refused.value.code == 500
            unhealthy = await server.in_process_transport(ADMIN).round_trip(Request("GET", "/livez/etcd"))
            assert unhealthy.status == 500
            cached = await client.list(PODS, "default", resource_version="0")  # "whatever you have" is still answered
            assert len(cached["items"]) == 1
            etcd.launch()
            await asyncio.to_thread(etcd.wait)
            async with asyncio.timeout(20):
                while True:  # whoever was refused tries again
                    try:
                        await client.patch(DEPLOYMENTS, "nginx", "default", {"spec": {"replicas": 3}})
                        break
                    except StatusError:
                        await asyncio.sleep(0.05)
            await until_ready(cluster, 3)
            healthy = await server.in_process_transport(ADMIN).round_trip(Request("GET", "/livez/etcd"))
            assert healthy.status == 200

    with real_etcd(tmp_path) as etcd:
        asyncio.run(main())


@pytest.mark.real
def test_two_servers_on_one_etcd_see_each_others_writes_at_once(tmp_path: Path) -> None:
    async def main(address: str) -> None:
        bare = {"without": ("scheduler", "controllers", "kubelet")}
        async with cluster_on(address, **bare) as one, cluster_on(address, **bare) as other:
            here, there = one.client("kubectl"), other.client("kubectl")
            for i in range(20):
                await here.create(CONFIGMAPS, configmap(f"c{i}"), "default")
                assert (await there.get(CONFIGMAPS, f"c{i}", "default"))["data"] == {"k": "v"}
                await there.patch(CONFIGMAPS, f"c{i}", "default", {"data": {"k": str(i)}})
                listed = (await here.list(CONFIGMAPS, "default"))["items"]
                assert [c["data"]["k"] for c in listed if c["metadata"]["name"] == f"c{i}"] == [str(i)]
                with pytest.raises(StatusError, match=r"already exists$"):
                    await there.create(CONFIGMAPS, configmap(f"c{i}"), "default")
            await asyncio.gather(
                *(
                    client.patch(CONFIGMAPS, "c0", "default", {"data": {f"{number}-{i}": ""}})
                    for i in range(10)
                    for number, client in enumerate((here, there))
                )
            )
            assert len((await there.get(CONFIGMAPS, "c0", "default"))["data"]) == 21
            await there.delete(CONFIGMAPS, "c1", "default")
            with pytest.raises(StatusError, match=r'configmaps "c1" not found$'):
                await here.get(CONFIGMAPS, "c1", "default")

    with real_etcd(tmp_path) as etcd:
        asyncio.run(main(f"etcd:{etcd.url}"))


@pytest.mark.real
def test_what_others_put_below_our_keys_is_served_if_it_is_an_object(tmp_path: Path) -> None:
    async def main(address: str) -> None:
        bare = {"without": ("scheduler", "controllers", "kubelet")}
        other = await open_store(address)
        prefix = "/registry/configmaps/default/"
        metadata = {"name": "theirs", "namespace": "default", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
        theirs = {**configmap("theirs"), "metadata": metadata}
        await other.put(prefix + "before", b"nonsense")
        async with cluster_on(address, **bare) as cluster:
            client = cluster.client("kubectl")
            await other.put(prefix + "after", b"k8s\x00nonsense")
            for media_type in (JSON, PROTOBUF):
                await other.put(prefix + "theirs", encode_value(theirs, media_type))
                assert (await client.get(CONFIGMAPS, "theirs", "default"))["data"] == {"k": "v"}
            await client.create(CONFIGMAPS, configmap("ours"), "default")
            listed = (await client.list(CONFIGMAPS, "default"))["items"]
            assert [c["metadata"]["name"] for c in listed] == ["ours", "theirs"]
            await other.put(prefix + "theirs", b"spoilt")
            with pytest.raises(StatusError, match=r'configmaps "theirs" not found$'):
                await client.get(CONFIGMAPS, "theirs", "default")
        await other.close()

    with real_etcd(tmp_path) as etcd:
        asyncio.run(main(f"etcd:{etcd.url}"))


@pytest.mark.parametrize("kind", ["sqlite", "memory", pytest.param("etcd", marks=pytest.mark.real)])
def test_tokens_and_kubeconfigs_outlive_a_restart_with_the_keys(tmp_path: Path, kind: str) -> None:
    """On a file by themselves, on an etcd with `cert_dir`; in memory nothing is kept, and nothing written."""

    async def credentials(config: ClusterConfig) -> tuple[str, str]:
        cluster = Cluster(config)
        try:
            await cluster.start()
            accounts = resource("serviceaccounts")
            await cluster.client("kubectl").create(accounts, {"metadata": {"name": "robot"}}, "default")
            answer = await cluster.client("kubectl").create(
                accounts, {"spec": {}}, "default", name="robot", subresource="token"
            )
            return answer["status"]["token"], yaml.safe_dump(cluster.kubeconfig())
        finally:
            await cluster.stop()

    async def accepted(config: ClusterConfig, token: str, kubeconfig: str) -> tuple[bool, bool]:
        """Whether the next cluster takes the token, and whether it and the certificates of the kubeconfig trust each other."""
        cluster = Cluster(config)
        try:
            await cluster.start()
            review = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "spec": {"token": token}}
            answer = await cluster.client("kubectl").create(resource("tokenreviews.authentication.k8s.io"), review)
            described = yaml.safe_load(kubeconfig)
            for each in described["clusters"]:
                each["cluster"]["server"] = cluster.url
            return bool(answer["status"].get("authenticated")), await asyncio.to_thread(answered, described)
        finally:
            await cluster.stop()

    def answered(described: dict[str, Any]) -> bool:
        with official_config.new_client_from_config_dict(described) as api_client:
            try:
                return bool(official.CoreV1Api(api_client).list_namespace(_request_timeout=10).items)
            except urllib3.exceptions.MaxRetryError:
                return False

    with address_of(kind, tmp_path) as address:
        config = ClusterConfig(
            store=address,
            cert_dir=tmp_path / "keys" if kind == "etcd" else None,
            without=("scheduler", "controllers", "kubelet", "proxy", "dns"),
        )
        token, kubeconfig = asyncio.run(credentials(config))
        expected = kind != "memory"
        assert asyncio.run(accepted(config, token, kubeconfig)) == (expected, expected)
    if kind == "memory":
        assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_a_status_and_what_was_acknowledged_stays(tmp_path: Path) -> None:
    async def main() -> None:
        address = f"sqlite:{tmp_path / 'cluster.db'}"
        bare = {"without": ("scheduler", "controllers", "kubelet")}
        acknowledged = []
        async with cluster_on(address, **bare) as cluster:
            store = cluster.server.store
            assert isinstance(store, SQLiteStore)
            pages = store._db.execute("PRAGMA page_count").fetchone()[0]
            store._db.execute(f"PRAGMA max_page_count = {pages + 60}")
            client = cluster.client("kubectl")

            async def fill() -> None:
                for i in range(100):
                    await client.create(CONFIGMAPS, configmap(f"c{i}", "x" * 10_000), "default")
                    acknowledged.append(f"c{i}")

            with pytest.raises(StatusError) as refused:
                await fill()
            said = refused.value
            assert (said.code, said.reason, said.message) == (500, "", "etcdserver: mvcc: database space exceeded")
            assert len((await client.list(CONFIGMAPS, "default"))["items"]) == len(acknowledged) >= 5
        async with cluster_on(address, **bare) as cluster:
            listed = (await cluster.client("kubectl").list(CONFIGMAPS, "default"))["items"]
            assert {c["metadata"]["name"] for c in listed} == set(acknowledged)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("address", "complaint"),
    [
        ("floppy", "--store knows memory, sqlite:PATH, etcd:URL; not floppy"),
        ("memory:", "--store knows memory, sqlite:PATH, etcd:URL; not memory:"),
        ("sqlite:", "--store sqlite: wants the path of a file"),
        ("sqlite:/no/such/directory/x.db", "unable to open database file"),
        ("etcd:", "--store etcd: wants a URL, as in etcd:http://127.0.0.1:2379"),
        ("etcd:127.0.0.1:2379", "--store etcd: wants a URL, as in etcd:http://127.0.0.1:2379"),
        ("etcd:http://127.0.0.1:1", "--store etcd:http://127.0.0.1:1: rpc error: code = Unavailable"),
    ],
)
def test_a_store_that_cannot_be_had_is_refused_in_one_line(address: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint) as refused:
        asyncio.run(open_store(address))
    assert "\n" not in str(refused.value)
