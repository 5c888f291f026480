"""From Deployment to pods, and back to nothing: all controllers against the API server, on virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any

import pytest
from tests.controllers.small_cluster import (
    DEPLOYMENTS,
    ENDPOINTS,
    NAMESPACES,
    NODES,
    PODS,
    REPLICA_SETS,
    SERVICES,
    SLICES,
    SmallCluster,
    deployment,
    service,
    small_cluster,
)

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError

Scenario = Callable[[SmallCluster], Coroutine[Any, Any, None]]


def play(scenario: Scenario, **options: Any) -> None:
    async def main() -> None:
        async with small_cluster(**options) as cluster:
            await scenario(cluster)

    run_virtual(main())


def condition(obj: Object, name: str) -> Object:
    return next(c for c in obj["status"]["conditions"] if c["type"] == name)


def test_a_deployment_becomes_three_ready_pods_with_owners() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(), "ns")
        await asyncio.sleep(5)
        [d], [rs], pods = [await cluster.items(r) for r in (DEPLOYMENTS, REPLICA_SETS, PODS)]
        assert rs["metadata"]["name"] == "nginx-747d4c55d8"
        assert [o["uid"] for o in rs["metadata"]["ownerReferences"]] == [d["metadata"]["uid"]]
        assert [p["metadata"]["ownerReferences"][0]["uid"] for p in pods] == [rs["metadata"]["uid"]] * 3
        assert d["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "1"}
        assert {k: v for k, v in d["status"].items() if k != "conditions"} == {
            "observedGeneration": 1,
            "replicas": 3,
            "updatedReplicas": 3,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "terminatingReplicas": 0,
        }
        assert condition(d, "Available")["reason"] == "MinimumReplicasAvailable"
        assert condition(d, "Progressing")["message"] == 'ReplicaSet "nginx-747d4c55d8" has successfully progressed.'
        assert await cluster.messages("nginx") == ["Scaled up replica set nginx-747d4c55d8 from 0 to 3"]
        assert Counter(await cluster.messages(rs["metadata"]["name"])) == Counter(
            f"Created pod: {p['metadata']['name']}" for p in pods
        )

    play(scenario)


def test_the_controllers_write_what_the_recorded_ones_wrote_in_their_order() -> None:
    """From the creation until the pods are bound; the recorded cluster's writes of that span are the expectation."""

    async def scenario(cluster: SmallCluster) -> None:
        cluster.witness.writes.clear()
        await cluster.client.create(DEPLOYMENTS, deployment(), "ns")
        await asyncio.sleep(0.9)
        writes = [(c, m, p.removeprefix("/apis/apps/v1/namespaces/ns/"), s) for c, m, p, s, _ in cluster.witness.writes]
        deployment_writes = [w[1:] for w in writes if w[0] == "deployment-controller" and "events" not in w[2]]
        assert deployment_writes == [
            ("POST", "replicasets", 201),
            ("PUT", "deployments/nginx/status", 200),
            ("PUT", "deployments/nginx/status", 409),  # its own first write has made the copy old
            ("PUT", "deployments/nginx/status", 200),
            ("PUT", "deployments/nginx/status", 200),
        ]
        replica_set_writes = [w[1:] for w in writes if w[0] == "replicaset-controller" and "events" not in w[2]]
        assert replica_set_writes == [
            ("POST", "/api/v1/namespaces/ns/pods", 201),
            ("POST", "/api/v1/namespaces/ns/pods", 201),
            ("POST", "/api/v1/namespaces/ns/pods", 201),
            ("PUT", "replicasets/nginx-747d4c55d8/status", 200),
            ("PUT", "replicasets/nginx-747d4c55d8/status", 200),
        ]

    play(scenario)


def test_scaling_up_and_down() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(), "ns")
        await asyncio.sleep(5)
        for size in (5, 1, 0):
            await cluster.client.patch(DEPLOYMENTS, "nginx", "ns", {"spec": {"replicas": size}})
            await asyncio.sleep(5)
            assert len(await cluster.items(PODS)) == size
            [rs] = await cluster.items(REPLICA_SETS)
            assert rs["metadata"]["annotations"]["deployment.kubernetes.io/desired-replicas"] == str(size)
        assert await cluster.messages("nginx") == [
            "Scaled up replica set nginx-747d4c55d8 from 0 to 3",
            "Scaled up replica set nginx-747d4c55d8 from 3 to 5",
            "Scaled down replica set nginx-747d4c55d8 from 5 to 1",
            "Scaled down replica set nginx-747d4c55d8 from 1 to 0",
        ]

    play(scenario)


def test_a_rolling_update_keeps_within_its_limits_and_can_be_undone() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(5), "ns")
        await asyncio.sleep(5)
        await cluster.set_image("nginx:1.28")
        for _ in range(300):
            await asyncio.sleep(0.1)
            pods = [p for p in await cluster.items(PODS) if "deletionTimestamp" not in p["metadata"]]
            ready = [p for p in pods if any(c["type"] == "Ready" for c in p["status"].get("conditions", ()))]
            assert len(pods) <= 7  # 5 + 25 % rounded up
            assert len(ready) >= 4  # 5 - 25 % rounded down
        sizes = {rs["metadata"]["name"]: rs["spec"]["replicas"] for rs in await cluster.items(REPLICA_SETS)}
        assert sizes == {"nginx-747d4c55d8": 0, "nginx-77d8c487d7": 5}
        await cluster.set_image("nginx:1.27")
        await asyncio.sleep(30)
        by_name = {rs["metadata"]["name"]: rs for rs in await cluster.items(REPLICA_SETS)}
        assert {name: rs["spec"]["replicas"] for name, rs in by_name.items()} == {
            "nginx-747d4c55d8": 5,
            "nginx-77d8c487d7": 0,
        }
        annotations = by_name["nginx-747d4c55d8"]["metadata"]["annotations"]
        assert annotations["deployment.kubernetes.io/revision"] == "3"
        assert annotations["deployment.kubernetes.io/revision-history"] == "1"

    play(scenario)


def test_a_rollout_that_cannot_finish_stops_and_times_out() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(4), "ns")
        await asyncio.sleep(5)
        cluster.kubelets.broken_images.add("nginx:broken")
        await cluster.set_image("nginx:broken")
        await asyncio.sleep(590)
        [d] = await cluster.items(DEPLOYMENTS)
        assert condition(d, "Progressing")["reason"] == "ReplicaSetUpdated"
        assert d["status"]["availableReplicas"] == 3  # 4 - 25 %
        await asyncio.sleep(30)
        [d] = await cluster.items(DEPLOYMENTS)
        assert condition(d, "Progressing")["reason"] == "ProgressDeadlineExceeded"
        assert condition(d, "Available")["status"] == "True"

    play(scenario)


def test_recreate_waits_for_the_old_pods_to_be_gone() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        cluster.kubelets.stop_seconds = 10
        await cluster.client.create(DEPLOYMENTS, deployment(2, strategy={"type": "Recreate"}), "ns")
        await asyncio.sleep(5)
        await cluster.set_image("nginx:1.28")
        await asyncio.sleep(3)
        waiting = await cluster.client.get(DEPLOYMENTS, "nginx", "ns")
        assert waiting["status"]["observedGeneration"] == waiting["metadata"]["generation"] == 2
        assert "updatedReplicas" not in waiting["status"], "the new ones have to wait, and that is told meanwhile"
        for _ in range(200):
            await asyncio.sleep(0.1)
            images = {p["spec"]["containers"][0]["image"] for p in await cluster.items(PODS)}
            assert len(images) <= 1
        assert images == {"nginx:1.28"}

    play(scenario)


def test_pods_are_adopted_and_released_by_their_labels() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(2), "ns")
        await asyncio.sleep(5)
        first, _ = sorted(p["metadata"]["name"] for p in await cluster.items(PODS))
        await cluster.client.patch(PODS, first, "ns", {"metadata": {"labels": {"app": "debug"}}})
        await asyncio.sleep(5)
        pods = {p["metadata"]["name"]: p for p in await cluster.items(PODS)}
        assert len(pods) == 3
        assert "ownerReferences" not in pods[first]["metadata"]
        await cluster.client.patch(PODS, first, "ns", {"metadata": {"labels": {"app": "nginx"}}})
        await asyncio.sleep(5)
        pods = {p["metadata"]["name"]: p for p in await cluster.items(PODS)}
        assert len(pods) == 2
        assert all(p["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet" for p in pods.values())

    play(scenario)


def test_a_deleted_pod_is_replaced() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(3), "ns")
        await asyncio.sleep(5)
        victim = (await cluster.items(PODS))[0]["metadata"]["name"]
        await cluster.client.delete(PODS, victim, "ns")
        await asyncio.sleep(5)
        names = [p["metadata"]["name"] for p in await cluster.items(PODS)]
        assert len(names) == 3
        assert victim not in names

    play(scenario)


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_deleting_the_deployment_takes_everything_along(policy: str) -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(3), "ns")
        await asyncio.sleep(5)
        await cluster.client.delete(DEPLOYMENTS, "nginx", "ns", propagation=policy)
        await asyncio.sleep(0.5)  # the pods take a second to stop
        held = await cluster.items(DEPLOYMENTS)
        assert [d["metadata"]["finalizers"] for d in held] == (
            [["foregroundDeletion"]] if policy == "Foreground" else []
        )
        assert len(await cluster.items(PODS)) == 3
        await asyncio.sleep(10)
        for res in (DEPLOYMENTS, REPLICA_SETS, PODS):
            assert await cluster.items(res) == []
        deletes = Counter(
            w[2] for w in cluster.witness.writes if w[0] == "generic-garbage-collector" and w[1] == "DELETE"
        )
        assert set(deletes.values()) == {1}
        assert len(deletes) == 4

    play(scenario)


def test_orphaning_leaves_the_replica_set_and_a_new_deployment_adopts_it() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(DEPLOYMENTS, deployment(3), "ns")
        await asyncio.sleep(5)
        pods = {p["metadata"]["uid"] for p in await cluster.items(PODS)}
        await cluster.client.delete(DEPLOYMENTS, "nginx", "ns", propagation="Orphan")
        await asyncio.sleep(5)
        assert await cluster.items(DEPLOYMENTS) == []
        [rs] = await cluster.items(REPLICA_SETS)
        assert "ownerReferences" not in rs["metadata"]
        await cluster.client.create(DEPLOYMENTS, deployment(3), "ns")
        await asyncio.sleep(5)
        [d], [rs] = await cluster.items(DEPLOYMENTS), await cluster.items(REPLICA_SETS)
        assert rs["metadata"]["ownerReferences"][0]["uid"] == d["metadata"]["uid"]
        assert {p["metadata"]["uid"] for p in await cluster.items(PODS)} == pods

    play(scenario)


def test_an_object_with_an_owner_that_never_existed_is_deleted() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        owner = {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "name": "ghost",
            "uid": "11111111-1111-4111-8111-111111111111",
        }
        config_maps = resource("configmaps")
        for name, owners in (("doomed", [owner]), ("kept", [])):
            body = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "ownerReferences": owners}}
            await cluster.client.create(config_maps, body, "ns")
        await asyncio.sleep(5)
        assert {c["metadata"]["name"] for c in await cluster.items(config_maps)} == {"kept", "kube-root-ca.crt"}

    play(scenario)


def test_endpoints_and_slices_follow_the_pods() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        await cluster.client.create(SERVICES, service(), "ns")
        await asyncio.sleep(1)
        [empty] = await cluster.items(SLICES)
        assert (empty["endpoints"], empty["ports"]) == (None, None)
        await cluster.client.create(DEPLOYMENTS, deployment(3), "ns")
        await asyncio.sleep(5)
        [filled], [endpoints] = await cluster.items(SLICES), await cluster.items(ENDPOINTS)
        assert filled["metadata"]["uid"] == empty["metadata"]["uid"]
        assert [e["conditions"]["ready"] for e in filled["endpoints"]] == [True] * 3
        addresses = sorted(ip for e in filled["endpoints"] for ip in e["addresses"])
        assert addresses == sorted(a["ip"] for s in endpoints["subsets"] for a in s["addresses"])
        await cluster.client.patch(DEPLOYMENTS, "nginx", "ns", {"spec": {"replicas": 1}})
        await asyncio.sleep(0.5)
        [mixed] = await cluster.items(SLICES)
        assert Counter(e["conditions"]["terminating"] for e in mixed["endpoints"]) == {True: 2, False: 1}
        await cluster.client.delete(SERVICES, "nginx", "ns")
        await asyncio.sleep(5)
        assert await cluster.items(SLICES) == []
        assert await cluster.items(ENDPOINTS) == []

    play(scenario)


def test_a_namespace_gets_its_furniture_and_is_emptied_pods_first() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        assert [a["metadata"]["name"] for a in await cluster.items(resource("serviceaccounts"))] == ["default"]
        [ca] = await cluster.items(resource("configmaps"))
        assert ca["data"] == {"ca.crt": "PEM"}
        await cluster.client.create(DEPLOYMENTS, deployment(3), "ns")
        await asyncio.sleep(5)
        cluster.witness.writes.clear()
        await cluster.client.delete(NAMESPACES, "ns")
        await asyncio.sleep(4)
        assert len(await cluster.items(PODS)) == 3  # the grace period of five seconds
        await asyncio.sleep(60)
        with pytest.raises(StatusError) as refused:
            await cluster.client.get(NAMESPACES, "ns")
        assert refused.value.code == 404
        collections = [w[2] for w in cluster.witness.writes if w[0] == "namespace-controller" and w[1] == "DELETE"]
        assert collections[0] == "/api/v1/namespaces/ns/pods"
        assert "/apis/apps/v1/namespaces/ns/deployments" in collections
        finalize = [w[3] for w in cluster.witness.writes if w[2].endswith("/finalize")]
        assert finalize == [409, 200]  # as recorded: the status update has made the copy old

    play(scenario)


def test_nodes_get_a_pod_range_and_lose_their_taint_when_ready() -> None:
    async def scenario(cluster: SmallCluster) -> None:
        nodes = await cluster.items(NODES, "")
        assert [n["spec"]["podCIDR"] for n in nodes] == ["10.244.0.0/24", "10.244.1.0/24"]
        assert nodes[0]["metadata"]["annotations"] == {"node.alpha.kubernetes.io/ttl": "0"}
        assert "taints" not in nodes[0]["spec"]  # what admission gave is gone: there is no condition to back it
        ready = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        await cluster.client.patch(NODES, "n2", "", ready, subresource="status")  # or nobody would be given up
        for status, taints in (
            ("True", []),
            ("False", [("node.kubernetes.io/not-ready", "NoSchedule"), ("node.kubernetes.io/not-ready", "NoExecute")]),
            ("True", []),
        ):
            conditions = [{"type": "Ready", "status": status}]
            await cluster.client.patch(NODES, "n1", "", {"status": {"conditions": conditions}}, subresource="status")
            await asyncio.sleep(6)  # the next look at nodes' health
            node = await cluster.client.get(NODES, "n1")
            assert [(t["key"], t["effect"]) for t in node["spec"].get("taints", [])] == taints

    play(scenario)
