"""Pods that claim devices, in a cluster that has none: the cases are upstream's, the words are what users see."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.scheduler.config import Profile
from lifecycle.scheduler.framework.events import pod_events
from lifecycle.scheduler.framework.node_info import PodInfo
from lifecycle.scheduler.framework.plugins.dynamic_resources import DynamicResources
from lifecycle.scheduler.framework.plugins.registry import IN_TREE_REGISTRY
from lifecycle.scheduler.framework.runtime.framework import Framework
from lifecycle.scheduler.framework.types import ClusterEvent
from tests.kubelet.small_cluster import small_cluster
from tests.scheduler.cluster_model import Model, make_node, make_pod


def claim(name: str = "gpu", device_class: str = "fast", *, allocation: Object | None = None, **meta: Any) -> Object:
    requests = [{"name": "req-1", "exactly": {"deviceClassName": device_class}}]
    found: Object = {
        "metadata": {"name": name, "namespace": "default", "uid": f"uid of {name}", **meta},
        "spec": {"devices": {"requests": requests}},
    }
    if allocation is not None:
        found["status"] = {"allocation": allocation}
    return found


def claiming(name: str = "gpu", **more: Any) -> Object:
    return make_pod("p", resourceClaims=[{"name": "r", "resourceClaimName": name}], **more)


FROM_TEMPLATE = make_pod("p", resourceClaims=[{"name": "r", "resourceClaimTemplateName": "t"}])
MADE = {**FROM_TEMPLATE, "status": {"resourceClaimStatuses": [{"name": "r", "resourceClaimName": "gpu"}]}}
NEEDLESS = {**FROM_TEMPLATE, "status": {"resourceClaimStatuses": [{"name": "r"}]}}
OWNED = {"ownerReferences": [{"uid": "p", "controller": True}]}


def plugin(*claims: Object, classes: tuple[str, ...] = ("fast",)) -> DynamicResources:
    by_key = {f"default/{c['metadata']['name']}": c for c in claims}
    return DynamicResources(by_key.get, {name: {} for name in classes}.get)


@pytest.mark.parametrize(
    ("pod", "claims", "refusal"),
    [
        (make_pod("p"), [], ""),
        (claiming(), [claim()], ""),
        (claiming(), [], 'resourceclaim.resource.k8s.io "gpu" not found'),
        (claiming(), [claim(deletionTimestamp="2026-11-21T00:00:00Z")], 'resourceclaim "gpu" is being deleted'),
        (FROM_TEMPLATE, [], 'pod "default/p": ResourceClaim not created yet'),
        (MADE, [], 'resourceclaim.resource.k8s.io "gpu" not found'),
        (MADE, [claim(**OWNED)], ""),
        (MADE, [claim()], "ResourceClaim default/gpu was not created for pod default/p (pod is not owner)"),
        (NEEDLESS, [], ""),
    ],
)
def test_a_pod_is_kept_back_until_its_claims_are_there(pod: Object, claims: list[Object], refusal: str) -> None:
    status = plugin(*claims).pre_enqueue(pod)
    assert (status.message if status else "") == refusal


def place(pod: Object, dynamic: DynamicResources) -> str:
    registry = {**IN_TREE_REGISTRY, DynamicResources.name: lambda args, handle: dynamic}
    nodes = [make_node("a", labels={"disk": "ssd"}), make_node("b")]
    return Model(nodes, batch=True, framework=Framework(registry, Profile())).place(pod)


ON_SSD = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}]}
ON_TAPE = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "disk", "operator": "In", "values": ["tape"]}]}]}


@pytest.mark.parametrize(
    ("claims", "classes", "answer"),
    [
        ([claim()], ("fast",), "0/2 nodes are available: 2 cannot allocate all claims."),
        ([claim()], (), "0/2 nodes are available: request req-1: device class fast does not exist."),
        ([claim(allocation={"nodeSelector": ON_SSD})], ("fast",), "a"),
        ([claim(allocation={"nodeSelector": ON_SSD})], (), "a"),  # its class is not asked for any more
        (
            [claim(allocation={"nodeSelector": ON_TAPE})],
            (),
            "0/2 nodes are available: 2 resourceclaim not available on the node.",
        ),
    ],
)
def test_where_a_pod_with_a_claim_may_run(claims: list[Object], classes: tuple[str, ...], answer: str) -> None:
    assert place(claiming(), plugin(*claims, classes=classes)) == answer


def test_one_of_several_alternatives_is_named_with_its_own_name() -> None:
    either = claim()
    choices = [{"name": "best", "deviceClassName": "fast"}, {"name": "next", "deviceClassName": "slow"}]
    either["spec"]["devices"]["requests"] = [{"name": "req-1", "firstAvailable": choices}]
    why = "0/2 nodes are available: request req-1/next: device class slow does not exist."
    assert place(claiming(), plugin(either)) == why


def test_what_may_help() -> None:
    known = plugin(claim(), claim("other"))
    add = known.events_to_register()[ClusterEvent("ResourceClaim", "Add")]
    assert add(PodInfo(claiming()), None, claim())
    assert not add(PodInfo(claiming()), None, claim("other"))
    two = make_pod("p", resourceClaims=[{"name": n, "resourceClaimName": n} for n in ("gpu", "absent")])
    assert not add(PodInfo(two), None, claim())
    [event] = pod_events("Pod", FROM_TEMPLATE, MADE)
    assert event in known.events_to_register()


def test_in_a_whole_cluster_the_pod_waits_in_silence_and_then_says_what_is_missing() -> None:
    async def main() -> None:
        async with small_cluster(nodes=("lifecycle-worker",)) as cluster:
            body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
            container = {"name": "c", "image": "nginx:1.27", "resources": {"claims": [{"name": "r"}]}}
            spec = {"containers": [container], "resourceClaims": [{"name": "r", "resourceClaimName": "gpu"}]}
            await cluster.create_pod({**body, "spec": spec})
            await asyncio.sleep(5)
            assert not (await cluster.pod("p"))["status"].get("conditions")
            head = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "gpu"}}
            wish = {**head, "spec": claim()["spec"]}
            await cluster.admin.create(resource("resourceclaims.resource.k8s.io"), wish, "default")
            told = []
            for kind in ("", "DeviceClass"):
                if kind:
                    made = {"apiVersion": "resource.k8s.io/v1", "kind": kind, "metadata": {"name": "fast"}, "spec": {}}
                    await cluster.admin.create(resource("deviceclasses.resource.k8s.io"), made)
                await asyncio.sleep(5)
                told.append((await cluster.pod("p"))["status"]["conditions"][0]["message"])
            hopeless = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
            assert told == [
                "0/1 nodes are available: request req-1: device class fast does not exist. "
                f"no new claims to deallocate, {hopeless}",
                f"0/1 nodes are available: 1 cannot allocate all claims. still not schedulable, {hopeless}",
            ]

    run_virtual(main())
