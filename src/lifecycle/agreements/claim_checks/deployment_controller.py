"""The claims about the Deployment controller: put to a rehearsed life of a Deployment,
and to the recorded one of both versions.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import cache

from lifecycle.agreements.claim_checks.new_replica_sets import (
    a_deployment,
    a_named_deployment,
    names_differ,
    patience,
    shares,
    sizes,
)
from lifecycle.agreements.claim_checks.retried_keys import TRIES, tried_again
from lifecycle.api.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.resources import resource
from lifecycle.api.tracing import Span, listening
from lifecycle.api.wire import Object
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cluster.rehearsal import Asked, RehearsedCluster, rehearse
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.controllers.deployment.deployment_controller import DeploymentController
from lifecycle.controllers.deployment.deployment_util import deployment_complete
from lifecycle.inspector import Recording

DEPLOYMENTS, SETS = resource("deployments.apps"), resource("replicasets.apps")
HASH, REVISION = "pod-template-hash", "deployment.kubernetes.io/revision"
CONTROLLER = "deployment-controller"


@dataclass(slots=True)
class Life:
    """What one rehearsed Deployment went through."""

    first: list[Object] = field(default_factory=list)
    pods: list[Object] = field(default_factory=list)
    created: Object = field(default_factory=dict)
    after_scale: int = 0
    scaled_to: int = 0
    after_image: int = 0
    scalings: list[str] = field(default_factory=list)
    after_loss: int = 0
    asked: list[Asked] = field(default_factory=list)
    idle: int = 0
    looks: int = 0
    overdue: list[str] = field(default_factory=list)
    kept: int = 0


@cache
def life() -> Life:
    """Created, scaled, changed, robbed of its ReplicaSet, stuck."""
    seen = Life()

    async def scene(cluster: RehearsedCluster) -> None:
        client = cluster.client("test")

        async def sets(name: str = "web") -> list[Object]:
            return [
                s
                for s in await cluster.items("replicasets.apps")
                if s["metadata"]["labels"]["app"] == name
            ]

        await client.create(DEPLOYMENTS, a_deployment(), "default")
        await asyncio.sleep(10)
        seen.first, seen.pods = await sets(), await cluster.items("pods")
        seen.created = await client.get(DEPLOYMENTS, "web", "default")
        seen.asked = cluster.requests(CONTROLLER)
        await client.patch(DEPLOYMENTS, "web", "default", {"spec": {"replicas": 5}})
        await asyncio.sleep(10)
        seen.after_scale = len(await sets())
        seen.scaled_to = sum(s["spec"]["replicas"] for s in await sets())
        change = {
            "spec": {"template": a_deployment(image="nginx:1.28")["spec"]["template"]}
        }
        await client.patch(DEPLOYMENTS, "web", "default", change)
        await asyncio.sleep(30)
        seen.scalings = [
            event["message"]
            for event in await cluster.items("events")
            if event["reason"] == "ScalingReplicaSet"
        ]
        seen.after_image = len(await sets())
        for newest in [s for s in await sets() if s["spec"]["replicas"]]:
            await client.delete(
                SETS, newest["metadata"]["name"], "default", propagation="Orphan"
            )
        await asyncio.sleep(10)
        seen.after_loss = sum(1 for s in await sets() if s["spec"]["replicas"] == 5)
        await client.create(
            DEPLOYMENTS,
            a_deployment(
                "stuck",
                "registry.invalid/x:1",
                revisionHistoryLimit=0,
                progressDeadlineSeconds=200,
            ),
            "default",
        )
        await asyncio.sleep(60)
        before, looks = len(cluster.requests(CONTROLLER)), list[Span]()
        with listening(looks.append):
            await asyncio.sleep(100)
        seen.idle = len(cluster.requests(CONTROLLER)) - before
        seen.looks = sum(
            span.attributes.get("key") == "default/stuck" for span in looks
        )
        for seconds in (35, 15):  # just before it is over, and just after
            await asyncio.sleep(seconds)
            stuck = await client.get(DEPLOYMENTS, "stuck", "default")
            seen.overdue += [
                c["reason"]
                for c in (stuck.get("status") or {}).get("conditions") or ()
                if c["type"] == "Progressing"
            ]
        change = {"spec": {"template": a_deployment("stuck")["spec"]["template"]}}
        await client.patch(DEPLOYMENTS, "stuck", "default", change)
        await asyncio.sleep(60)
        seen.kept = len(await sets("stuck"))

    rehearse(scene)
    return seen


@cache
def journey(recording: Recording) -> tuple[list[Object], list[Object]]:
    """Every state of the recorded Deployment and of its ReplicaSets, in order."""
    states: dict[str, list[Object]] = {"deployments": [], "replicasets": []}
    for line in recording.watch("journey"):
        kind, event = line["path"].partition("?")[0].rpartition("/")[2], line["event"]
        if kind in states and event.get("type") in ("ADDED", "MODIFIED"):
            states[kind].append(event["object"])
    return states["deployments"], states["replicasets"]


def _bare(template: Object) -> Object:
    labels = {k: v for k, v in template["metadata"]["labels"].items() if k != HASH}
    return {**template, "metadata": {**template["metadata"], "labels": labels}}


def _owned(children: list[Object], kind: str) -> bool:
    return bool(children) and all(
        (c["metadata"].get("ownerReferences") or [{}])[0].get("kind") == kind
        for c in children
    )


@cache
def _queued() -> tuple[bool, list[str]]:
    """Whether handlers for all three events are there, and what is in the queue after
    an add, twice.
    """

    async def scene(cluster: RehearsedCluster) -> tuple[bool, list[str]]:
        client = cluster.client("c")
        informers = SharedInformerFactory(client)
        controller = DeploymentController(
            client, informers, clock=Clock(), names=NameSource(1)
        )
        [handlers] = informers.informer(DEPLOYMENTS)._handlers
        obj = a_named_deployment()
        add, update, delete = handlers.add, handlers.update, handlers.delete
        if add is None or update is None or delete is None:
            return False, []
        for _ in range(2):
            add(obj)
        keys = [await controller._queue.get() for _ in range(len(controller._queue))]
        return True, keys

    return rehearse(
        scene, nodes=1, without=frozenset({"controllers", "scheduler", "kubelet"})
    )


@rebuilt("deployment-controller-informer-callbacks")
def callbacks() -> bool:
    """One function each."""
    return _queued()[0]


@rebuilt("deployment-controller-uses-work-queue-and-sync")
def queue() -> bool:
    """Two adds, one key; and what was queued came to a sync, or nothing would have been
    created. A sync that fails is tried again, later each time, until that is too often.
    """
    return (
        _queued()[1] == ["default/web"]
        and bool(life().first)
        and tried_again() == TRIES
    )


@rebuilt("deployment-controller-reconciles-towards-spec")
def reconciles() -> bool:
    """Robbed of its ReplicaSet it makes another one, of the wanted size."""
    return life().after_loss == 1


@check("deployment-controller-ownership-hierarchy")
def hierarchy(recording: Recording) -> bool:
    """By the recorded owner references."""
    return _owned(journey(recording)[1], "Deployment")


@rebuilt("deployment-controller-ownership-hierarchy")
def hierarchy_here() -> bool:
    """By ours, from the pods up."""
    return _owned(life().pods, "ReplicaSet") and _owned(life().first, "Deployment")


@check("deployment-controller-new-replicaset-on-image-change")
def image_change(recording: Recording) -> bool:
    """The journey has two images and two ReplicaSets, each with its own."""
    images = {
        s["metadata"]["name"]: s["spec"]["template"]["spec"]["containers"][0]["image"]
        for s in journey(recording)[1]
    }
    return len(images) == len(set(images.values())) == 2


@rebuilt("deployment-controller-new-replicaset-on-image-change")
def image_change_here() -> bool:
    """One more, of another name; and of yet another if that is taken."""
    return life().after_image == life().after_scale + 1 and names_differ()


@check("deployment-controller-new-replicaset-on-scale")
def scaling(recording: Recording) -> bool | None:
    """The journey scales twice: with one ReplicaSet for each scaling there would be
    more than images.
    """
    deployments, sets = journey(recording)
    sizes = {d["spec"]["replicas"] for d in deployments}
    images = {s["spec"]["template"]["spec"]["containers"][0]["image"] for s in sets}
    return (
        len({s["metadata"]["name"] for s in sets}) > len(images)
        if len(sizes) > 1
        else None
    )


@rebuilt("deployment-controller-new-replicaset-on-scale")
def scaling_here() -> bool:
    """Another one after scaling."""
    assert life().scaled_to == 5, "it was scaled"
    return life().after_scale > len(life().first)


@rebuilt("deployment-controller-finds-children-by-label-selector")
def lists() -> bool:
    """Whether it asked for any list beyond those its informers began with, one for each
    resource.
    """
    lists = [
        a.path
        for a in life().asked
        if a.method == "GET" and a.path.rpartition("/")[2] in ("replicasets", "pods")
    ]
    assert life().asked, "it asks for something"
    return any("/namespaces/" in path for path in lists) or len(lists) > len(set(lists))


@rebuilt("deployment-controller-queues-a-replicaset-create-request")
def queue_holds() -> bool:
    """Whether anything but the Deployment's key is ever queued."""
    keys = _queued()[1]
    assert keys, "something is queued"
    return any(key != "default/web" for key in keys)


@check("deployment-controller-creates-first-replicaset")
def first(recording: Recording) -> bool:
    """Named after the Deployment and its hash."""
    [d, *_], [s, *_] = journey(recording)
    return bool(
        s["metadata"]["name"]
        == f"{d['metadata']['name']}-{s['metadata']['labels'][HASH]}"
    )


@rebuilt("deployment-controller-creates-first-replicaset")
def first_here() -> bool:
    """Exactly one."""
    return len(life().first) == 1


def _selector(deployment: Object, replica_set: Object) -> Partly:
    theirs, its = (
        deployment["spec"]["selector"]["matchLabels"],
        replica_set["spec"]["selector"]["matchLabels"],
    )
    return Partly(theirs.items() <= its.items(), its.keys() - theirs.keys() == {HASH})


@check("deployment-controller-assigns-label-selector")
def selector(recording: Recording) -> Partly:
    """The Deployment's, and one label more."""
    deployments, sets = journey(recording)
    return _selector(deployments[0], sets[0])


@rebuilt("deployment-controller-assigns-label-selector")
def selector_here() -> Partly:
    """Likewise."""
    assert life().first
    return _selector(life().created, life().first[0])


@check("deployment-controller-first-revision-is-one")
def revision(recording: Recording) -> bool:
    """On the ReplicaSet as it first was."""
    return bool(journey(recording)[1][0]["metadata"]["annotations"][REVISION] == "1")


@rebuilt("deployment-controller-first-revision-is-one")
def revision_here() -> bool:
    """On both objects."""
    objects = [*life().first, life().created]
    return len(objects) == 2 and all(
        (o["metadata"].get("annotations") or {}).get(REVISION) == "1" for o in objects
    )


def _same_template(deployment: Object, replica_set: Object) -> bool:
    return _bare(replica_set["spec"]["template"]) == _bare(
        deployment["spec"]["template"]
    )


@check("deployment-controller-copies-pod-template-and-metadata")
def copies(recording: Recording) -> Partly:
    """The template of the first ReplicaSet is the Deployment's. The size is worked out:
    a later one begins with fewer pods than its own annotation says are wanted.
    """
    deployments, sets = journey(recording)
    size = "deployment.kubernetes.io/desired-replicas"
    beginnings: dict[str, Object] = {}
    for each in sets:
        beginnings.setdefault(each["metadata"]["name"], each)
    first, *later = beginnings.values()
    return Partly(
        _same_template(deployments[0], first),
        any(
            each["spec"]["replicas"] < int(each["metadata"]["annotations"][size])
            for each in later
        ),
    )


@rebuilt("deployment-controller-copies-pod-template-and-metadata")
def copies_here() -> Partly:
    """Likewise; how long a pod has to be ready is copied, too, where it is said. (Of
    the roll-out's sizes the events tell: five are wanted, and surge allows two more.
    Without surge, after all old ones are gone, it is the full size at once. In the
    midst of one, another size is shared out.)
    """
    assert life().first, "it was made"
    return Partly(
        _same_template(life().created, life().first[0]) and patience() == [7, None],
        any(message.endswith("from 0 to 2") for message in life().scalings)
        and sizes() == [3, 2]
        and shares() == [[6, 4], [1, 1], [1, 2, 2], [2, 2], [1, 2], []],
    )


def _progressing(deployment: Object) -> bool:
    conditions = (deployment.get("status") or {}).get("conditions") or ()
    return bool(deployment["spec"].get("progressDeadlineSeconds")) and any(
        c["type"] == "Progressing" for c in conditions
    )


@check("deployment-controller-deployment-updated-for-progress-deadline")
def deadline(recording: Recording) -> bool:
    """There is a deadline by default, and a condition for it."""
    return any(map(_progressing, journey(recording)[0]))


@rebuilt("deployment-controller-deployment-updated-for-progress-deadline")
def deadline_here() -> bool:
    """Likewise; and when the deadline of one that is stuck is over, it says so, though
    nothing else has happened to it.
    """
    return _progressing(life().created) and life().overdue == [
        "ReplicaSetUpdated",
        "ProgressDeadlineExceeded",
    ]


@check("deployment-controller-updates-status")
def status(recording: Recording) -> bool:
    """Empty at first, then not."""
    states = journey(recording)[0]
    return not states[0].get("status") and any(
        (d.get("status") or {}).get("replicas") for d in states
    )


@rebuilt("deployment-controller-updates-status")
def status_here() -> bool:
    """Written by the controller, to the subresource."""
    return any(
        a.method == "PUT" and a.path.endswith("/deployments/web/status")
        for a in life().asked
    )


@rebuilt("deployment-controller-waits-in-a-loop-for-completion")
def waits() -> Partly:
    """It comes back until all is done; but while nothing happens it asks nothing, and
    looks at nothing, whatever is incomplete.
    """
    statuses = [
        a for a in life().asked if a.method == "PUT" and a.path.endswith("/status")
    ]
    return Partly(len(statuses) > 1, life().idle == 0 and life().looks <= 2)


@check("deployment-controller-definition-of-complete")
def complete_as_recorded(recording: Recording) -> bool | None:
    """Whenever a recorded status says that a rollout has finished, our rule says so,
    too.
    """
    done = [d for d in journey(recording)[0] if _says_available(d)]
    return (
        deployment_complete(done[-1], done[-1]["status"]) if done else None
    )  # without nodes nothing completes


def _says_available(deployment: Object) -> bool:
    conditions = (deployment.get("status") or {}).get("conditions") or ()
    return any(
        c.get("reason") == "NewReplicaSetAvailable" for c in conditions
    ) and bool(
        deployment["status"].get("observedGeneration")
        == deployment["metadata"]["generation"]
    )


@rebuilt("deployment-controller-definition-of-complete")
def complete() -> bool:
    """All numbers equal: complete. Any one of them off: not."""
    d = {**a_deployment(), "metadata": {"name": "web", "generation": 2}}
    full = {
        "updatedReplicas": 3,
        "replicas": 3,
        "availableReplicas": 3,
        "observedGeneration": 2,
    }
    off = [
        {**full, key: value}
        for key, value in (
            ("updatedReplicas", 2),
            ("replicas", 4),
            ("availableReplicas", 2),
        )
    ]
    return deployment_complete(d, full) and not any(
        deployment_complete(d, status) for status in off
    )


@rebuilt("deployment-controller-cleans-up-old-replicasets")
def cleans_up() -> bool:
    """With a limit of zero one ReplicaSet is left after a change."""
    return life().kept == 1


@check("deployment-controller-history-limit-off-by-default")
def no_limit(recording: Recording) -> bool:
    """Off would mean: not set."""
    return journey(recording)[0][0]["spec"].get("revisionHistoryLimit") is None


@rebuilt("deployment-controller-history-limit-off-by-default")
def no_limit_here() -> bool:
    """Likewise; it is ten."""
    return life().created["spec"].get("revisionHistoryLimit") is None
