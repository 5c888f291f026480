"""The claims about ownership and garbage collection: put to a rehearsed cluster, and to
the end of the recorded journeys.
"""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from lifecycle.agreements.claim_checks.played_deployments import a_deployment
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.client.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.controllers.manager import ControllerManager
from lifecycle.inspector import Recording

DEPLOYMENTS, SETS, PODS = (
    resource("deployments.apps"),
    resource("replicasets.apps"),
    resource("pods"),
)


def replica_set(name: str, replicas: int) -> Object:
    """A ReplicaSet that selects `app=web`."""
    body = {k: v for k, v in a_deployment()["spec"].items() if k != "replicas"}
    return {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {"name": name},
        "spec": {**body, "replicas": replicas},
    }


def orphan(name: str) -> Object:
    """A pod that fits the selector and belongs to nobody."""
    template = a_deployment()["spec"]["template"]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": name, **template["metadata"]},
        "spec": template["spec"],
    }


@cache
def _ownership() -> dict[str, Any]:
    """Adoption, a race for one pod, a pod of somebody else's, an orphaning deletion, a
    cascading one.
    """

    async def scene(cluster: RehearsedCluster) -> dict[str, Any]:
        client = cluster.client("test")
        observed: dict[str, Any] = {}
        await client.create(PODS, orphan("lost"), "default")
        await client.create(SETS, replica_set("one", 1), "default")
        await asyncio.sleep(5)
        pods = await cluster.items("pods")
        observed["adopted"] = [(p["metadata"]["name"], _owner(p)) for p in pods]
        await client.create(SETS, replica_set("two", 1), "default")
        await asyncio.sleep(5)
        observed["beside"] = sorted(_owner(p) for p in await cluster.items("pods"))
        two = await client.get(SETS, "two", "default")
        reference = {
            "apiVersion": "apps/v1",
            "kind": "ReplicaSet",
            "name": "two",
            "uid": two["metadata"]["uid"],
            "controller": True,
        }
        try:
            patch = {"metadata": {"ownerReferences": [reference]}}
            await client.patch(
                PODS, "lost", "default", patch, patch_type=STRATEGIC_MERGE_PATCH
            )
            observed["second"] = 200
        except StatusError as error:
            observed["second"], observed["message"] = error.code, error.message
        await client.delete(SETS, "one", "default", propagation="Orphan")
        await client.delete(SETS, "two", "default", propagation="Background")
        await asyncio.sleep(60)
        observed["left"] = [
            (p["metadata"]["name"], _owner(p)) for p in await cluster.items("pods")
        ]
        return observed

    return rehearse(scene)


@cache
def _foreground() -> tuple[bool, bool, list[str]]:
    """A ReplicaSet deleted in the foreground while a pod of it is held: whether it is
    still there, and afterwards; the pods left in the end.
    """

    async def scene(cluster: RehearsedCluster) -> tuple[bool, bool, list[str]]:
        client = cluster.client("test")
        await client.create(SETS, replica_set("one", 1), "default")
        await asyncio.sleep(5)
        (pod,) = [p["metadata"]["name"] for p in await cluster.items("pods")]

        async def hold(finalizers: list[str] | None) -> None:
            patch = {"metadata": {"finalizers": finalizers}}
            await client.patch(PODS, pod, "default", patch, patch_type=MERGE_PATCH)

        await hold(["example.com/hold"])
        await client.delete(SETS, "one", "default", propagation="Foreground")
        await asyncio.sleep(60)
        waits = bool(await cluster.items("replicasets.apps"))
        await hold(None)
        await asyncio.sleep(60)
        stays = bool(await cluster.items("replicasets.apps"))
        left = [p["metadata"]["name"] for p in await cluster.items("pods")]
        return waits, stays, left

    return rehearse(scene)


@cache
def _restart() -> bool:
    async def scene(cluster: RehearsedCluster) -> bool:
        await cluster.client("test").create(DEPLOYMENTS, a_deployment(), "default")
        await asyncio.sleep(10)
        before = {
            (p["metadata"]["uid"], _owner(p)) for p in await cluster.items("pods")
        }
        await cluster.stop_component("controllers")
        await asyncio.sleep(30)
        again = ControllerManager(
            cluster.client("again"),
            clock=cluster.clock,
            names=cluster.names,
            client_for=cluster._controller_client,
        )
        cluster.supervisor.run("controllers", again.run)
        await asyncio.sleep(60)
        return (
            before
            == {(p["metadata"]["uid"], _owner(p)) for p in await cluster.items("pods")}
            and len(before) == 3
        )

    return rehearse(scene)


def _owner(obj: Object) -> str:
    references = obj["metadata"].get("ownerReferences") or []
    return str(references[0]["name"]) if references else ""


@check("garbage-collection-cascading-delete")
def cascade(recording: Recording) -> bool | None:
    """When the recorded Deployment is gone, so are its ReplicaSets, though nobody named
    them.
    """
    gone = [
        line["path"].partition("?")[0].rpartition("/")[2]
        for line in recording.watch("journey")
        if line["event"].get("type") == "DELETED"
    ]
    if "deployments" not in gone:
        return None
    return "replicasets" in gone


@rebuilt("garbage-collection-cascading-delete")
def cascade_here() -> bool:
    """The pods of the ReplicaSet that was deleted in the background; in the foreground
    the pods go first.
    """
    return (
        _foreground() == (True, False, [])
        and all(owner != "two" for _, owner in _ownership()["left"])
        and len(_ownership()["left"]) == 1
    )


@rebuilt("garbage-collection-owner-reference-prevents-fights")
def no_fights() -> bool:
    """Two sets with one selector, one pod each: neither touches the other's."""
    return bool(_ownership()["beside"] == ["one", "two"])


@rebuilt("garbage-collection-topology-survives-controller-restart")
def restart() -> bool:
    """Killed and started again: the same pods, the same owners, none made or lost."""
    return _restart()


@rebuilt("garbage-collection-controllers-ignore-what-they-do-not-own")
def ignore() -> Partly:
    """What is another's is neither touched nor counted; what is nobody's is taken and
    counted.
    """
    observed = _ownership()
    return Partly(
        observed["beside"] == ["one", "two"], observed["adopted"] == [("lost", "one")]
    )


@rebuilt("garbage-collection-orphans-are-adopted")
def adopted() -> bool:
    """One pod wanted, one there that fits: none is made, that one is taken."""
    return bool(_ownership()["adopted"] == [("lost", "one")])


@rebuilt("garbage-collection-adoption-race-has-one-winner")
def one_winner() -> bool:
    """A second controller is refused by validation."""
    observed = _ownership()
    return (
        observed["second"] == 422
        and "Only one reference can have Controller set to true" in observed["message"]
    )


@rebuilt("garbage-collection-orphan-policy-keeps-children")
def orphaned() -> bool:
    """The pod whose set was deleted with `Orphan` is still there, and nobody's."""
    return bool(_ownership()["left"] == [("lost", "")])
