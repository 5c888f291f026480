"""What a new ReplicaSet is called, what it takes over, and how large it may be."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from lifecycle.agreements.claim_checks.played_deployments import a_deployment, a_named_deployment
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.compare.program_answers import recorded_programs
from lifecycle.controllers.deployment.deployment_util import new_rs_new_replicas
from lifecycle.controllers.deployment.revisions import MAX_REPLICAS
from lifecycle.controllers.deployment.sync import new_replica_set, proportional_sizes
from tests.conftest import RECORDINGS

ANSWERS = recorded_programs(RECORDINGS)["v1.36"]
NAMES, TAKEN = ANSWERS["names/collisions"], ANSWERS["names/taken"]
DEPLOYMENTS, SETS = resource("deployments.apps"), resource("replicasets.apps")


@pytest.mark.parametrize(("count", "name"), NAMES["names"])
def test_its_name_is_the_real_controllers_after_so_many_collisions(count: int | None, name: str) -> None:
    deployment = a_named_deployment(template=NAMES["template"])
    if count is not None:
        deployment["status"] = {"collisionCount": count}
    assert new_replica_set(deployment)["metadata"]["name"] == name


def test_where_its_name_is_taken_it_gets_the_name_that_the_real_one_got() -> None:
    """A Deployment `web` of one container `c` of `nginx`, and somebody else's ReplicaSet."""

    async def scene(cluster: RehearsedCluster) -> tuple[list[str], int]:
        client = cluster.client("test")
        labels = {"app": "other"}
        other = {
            "kind": "ReplicaSet",
            "apiVersion": "apps/v1",
            "metadata": {"name": TAKEN["taken"]},
            "spec": {
                "replicas": 0,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "other"}]}},
            },
        }
        await client.create(SETS, other, "default")
        await client.create(DEPLOYMENTS, a_deployment(image="nginx", replicas=0), "default")
        await asyncio.sleep(10)
        owned = [s["metadata"] for s in await cluster.items("replicasets.apps") if s["metadata"].get("ownerReferences")]
        deployment = await client.get(DEPLOYMENTS, "web", "default")
        return [each["name"] for each in owned], deployment["status"]["collisionCount"]

    names, collisions = rehearse(scene, nodes=1, without=frozenset({"scheduler", "kubelet"}))
    assert (names, collisions) == (TAKEN["names"], TAKEN["collisionCount"])


@pytest.mark.parametrize(("spec", "seconds"), [({"minReadySeconds": 7}, 7), ({}, None)])
def test_how_long_a_pod_has_to_be_ready_is_taken_over_where_it_is_said(spec: Any, seconds: int | None) -> None:
    assert new_replica_set(a_named_deployment(**spec))["spec"].get("minReadySeconds") == seconds


@pytest.mark.parametrize(
    ("strategy", "size"),
    [({"type": "Recreate"}, 3), ({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}, 2)],
)
def test_beside_one_old_pod_of_three_it_may_be_so_large(strategy: Object, size: int) -> None:
    """Whole, where the old had to go first: there is nothing left to wait for."""
    old, new = {"spec": {"replicas": 2}}, {"spec": {"replicas": 1}}
    assert new_rs_new_replicas(a_deployment(strategy=strategy), [old, new], new) == size


def _sized(name: str, size: int, of: int) -> Object:
    return {
        "metadata": {
            "name": name,
            "annotations": {MAX_REPLICAS: str(of)},
            "creationTimestamp": f"2026-01-0{name}T00:00:00Z",
        },
        "spec": {"replicas": size},
    }


@pytest.mark.parametrize(
    ("wanted", "there", "shares"),
    [
        (10, (3, 2), [6, 4]), (2, (3, 2), [1, 1]), (5, (1, 1, 1), [1, 2, 2]),
        (4, (2, 2), [2, 2]), (3, (2, 2), [1, 2]), (4, (), []),
    ],
)  # fmt: skip
def test_another_size_in_the_midst_of_a_roll_out_is_shared_out(
    wanted: int, there: tuple[int, ...], shares: list[int]
) -> None:
    """The newest comes first."""
    active = [_sized(str(n), size, sum(there)) for n, size in enumerate(there, 1)]
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1}}
    sizes = proportional_sizes(active[::-1], a_deployment(replicas=wanted, strategy=strategy))
    assert [size for _, size in sorted(sizes, key=lambda each: each[0]["metadata"]["name"])] == shares


@pytest.mark.parametrize(
    ("wanted", "surge", "there", "new", "size"), [(4, 1, 5, 5, 5), (4, 1, 6, 5, 5), (4, 1, 4, 3, 4)]
)
def test_where_there_is_no_room_it_keeps_its_size(wanted: int, surge: int, there: int, new: int, size: int) -> None:
    """Also if it has more than is wanted: who shrinks it is somebody else. Upstream: `NewRSNewReplicas`, "Cannot scale up"."""
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge}}
    sets = [{"spec": {"replicas": there - new}}, {"spec": {"replicas": new}}]
    assert new_rs_new_replicas(a_deployment(replicas=wanted, strategy=strategy), sets, sets[1]) == size


def test_nobody_is_given_less_than_no_pod() -> None:
    """Without its annotation a set has no share; all that is to go is the first one's, which has two."""
    active = [
        {"metadata": {"name": n, "creationTimestamp": f"2026-01-0{n}T00:00:00Z"}, "spec": {"replicas": 2}}
        for n in "123"
    ]
    strategy = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}
    sizes = proportional_sizes(active, a_deployment(replicas=1, strategy=strategy))
    assert sorted(size for _, size in sizes) == [0, 2, 2]


def test_it_is_the_template_and_the_selector_with_one_label_more() -> None:
    """And the Deployment's own, which its owner's words are not changed by. Upstream: `getNewReplicaSet`."""
    labels = {"app": "web", "tier": "front"}
    expression = [{"key": "tier", "operator": "Exists"}]
    deployment = a_named_deployment(
        selector={"matchLabels": {"app": "web"}, "matchExpressions": expression},
        template={"metadata": {"labels": labels, "annotations": {"a": "b"}}, "spec": {"containers": [{"name": "c"}]}},
    )
    before = json.dumps(deployment)
    made = new_replica_set(deployment)
    assert json.dumps(deployment) == before
    [owner] = made["metadata"].pop("ownerReferences")
    assert (owner["uid"], owner["controller"]) == (deployment["metadata"]["uid"], True)
    name = deployment["metadata"]["name"]
    hashed = {"pod-template-hash": made["metadata"]["name"].removeprefix(f"{name}-")}
    assert made["metadata"] == {
        "name": f"{name}-{hashed['pod-template-hash']}",
        "namespace": deployment["metadata"]["namespace"],
        "labels": labels | hashed,
    }
    assert made["spec"]["selector"] == {"matchLabels": {"app": "web"} | hashed, "matchExpressions": expression}
    assert made["spec"]["template"] == {
        "metadata": {"labels": labels | hashed, "annotations": {"a": "b"}},
        "spec": deployment["spec"]["template"]["spec"],
    }
    assert made["spec"]["replicas"] == 0


def test_a_long_name_is_not_cut() -> None:
    """There is room for it: what is too long, nobody could have made."""
    deployment = a_named_deployment()
    deployment["metadata"]["name"] = "a" * 200
    name, _, hashed = new_replica_set(deployment)["metadata"]["name"].partition("-")
    assert name == "a" * 200
    assert hashed


def test_a_hash_that_somebody_has_copied_along_is_replaced() -> None:
    """From a ReplicaSet of before, say. Upstream: `CloneAndAddLabel`."""
    copied = {"app": "web", "pod-template-hash": "of-before"}
    template = {"metadata": {"labels": copied}, "spec": {"containers": [{"name": "c"}]}}
    made = new_replica_set(a_named_deployment(selector={"matchLabels": copied}, template=template))
    hashed = made["metadata"]["name"].rpartition("-")[2]
    assert hashed != "before"
    for labels in (
        made["metadata"]["labels"],
        made["spec"]["selector"]["matchLabels"],
        made["spec"]["template"]["metadata"]["labels"],
    ):
        assert labels == {"app": "web", "pod-template-hash": hashed}
