"""Claims about the ReplicaSets that a Deployment gets: put to a rehearsed life, and to
the recorded one of both versions.
"""

from __future__ import annotations

from lifecycle.agreements.claim_checks.deployment_life import (
    HASH,
    REVISION,
    journey,
    life,
)
from lifecycle.api.http.wire import Object
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording


def _owned(children: list[Object], kind: str) -> bool:
    return bool(children) and all(
        (c["metadata"].get("ownerReferences") or [{}])[0].get("kind") == kind
        for c in children
    )


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
    """One more."""
    return life().after_image == life().after_scale + 1


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


def _bare(template: Object) -> Object:
    labels = {k: v for k, v in template["metadata"]["labels"].items() if k != HASH}
    return {**template, "metadata": {**template["metadata"], "labels": labels}}


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
    """Likewise. Of the roll-out's sizes the events tell: five are wanted, and surge
    allows two more.
    """
    assert life().first, "it was made"
    return Partly(
        _same_template(life().created, life().first[0]),
        any(message.endswith("from 0 to 2") for message in life().scalings),
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
