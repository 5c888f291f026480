"""Decisions of controllers held against the real controller manager: how a scaled
Deployment shares out its size, and which slices mirror which Endpoints.

Neither needs a pod. The real one was given ReplicaSets of chosen sizes and ages below a
paused Deployment, which was then scaled; and Endpoints of several shapes for Services
without a selector. Ours gets the same objects into its caches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.agreements.controllers.deployments import play_sync
from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers, newest_programs
from lifecycle.controllers.endpointslicemirroring.mirrored_slices import (
    mirror,
    should_mirror,
)
from lifecycle.inspector.opening import recordings_directory

PREFIX = "deployment.kubernetes.io"
REMEMBERED = ("desired-replicas", "max-replicas")


def scaling_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each Deployment: the size of each ReplicaSet, and what it remembers.
    `programs`: what the real one did; None: as recorded.
    """
    return _table(
        "Sharing out a size",
        "scaled",
        programs,
        _scaled,
        lambda count, outcome: (
            f"{count} Deployments are scaled while they have several ReplicaSets, by"
            f" the real controller and by ours; how large each ReplicaSet is then:"
            f" {outcome}."
        ),
    )


def mirroring_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each Endpoints object: the slices that mirror it. `programs`: as in
    `scaling_agreement`.
    """
    return _table(
        "Mirrored endpoints",
        "mirrored",
        programs,
        _mirrored,
        lambda count, outcome: (
            f"{count} Endpoints that somebody wrote by hand, mirrored into slices by"
            f" the real controller and by ours: {outcome}."
        ),
    )


def _table(
    title: str,
    about: str,
    programs: ProgramAnswers | None,
    decide: Callable[[Object], tuple[Any, Any, str]],
    opening: Callable[[int, str], str],
) -> AgreementTable:
    if programs is None:
        programs = newest_programs(recordings_directory())
    asked = [
        each
        for question, each in programs.answers.items()
        if question.startswith(f"{about}/")
    ]
    table = AgreementTable(
        title,
        "lifecycle",
        f"{asked[0].program}, asked directly",
        lambda table: opening(len(table.computed), table.outcome("rows")),
    )
    for each in asked:
        ours, theirs, shown = decide(each.answer)
        what = each.question.partition("/")[2]
        table.add(about, what, shown, shown, compare(ours, theirs))
    return table


def _scaled(answer: Object) -> tuple[Any, Any, str]:
    sizes = {each["metadata"]["name"]: _size(each) for each in answer["before"]}
    before = " + ".join(str(each["replicas"]) for each in sizes.values())
    sync = on_virtual_time(play_sync(answer["deployment"], answer["before"]))
    for write in sync.writes:
        if write.target == "replicasets":
            sizes[write.name] = _size(write.body)
    after = " + ".join(str(each["replicas"]) for each in answer["after"].values())
    return sizes, answer["after"], f"{before} → {after}"


def _size(replica_set: Object) -> Object:
    annotations = replica_set["metadata"]["annotations"]
    return {
        "replicas": replica_set["spec"]["replicas"],
        **{key: annotations[f"{PREFIX}/{key}"] for key in REMEMBERED},
    }


def _mirrored(answer: Object) -> tuple[Any, Any, str]:
    endpoints = answer["endpoints"]
    theirs = answer["slices"]
    kept = {each["metadata"]["name"]: each for each in answer["existing"]}
    ours: list[Object] = []
    if should_mirror(endpoints):
        changes = mirror(endpoints, answer["existing"])
        kept |= {each["metadata"]["name"]: each for each in changes.update}
        for each in changes.delete:
            del kept[each["metadata"]["name"]]
        ours = [*kept.values(), *changes.create]
    return _contents(ours), _contents(theirs), f"{len(theirs)} slices"


def _contents(slices: list[Object]) -> list[Object]:
    """What slices say, and how they are labelled and owned; not their names, nor their
    times. In the order of what they say: the controller makes them at once.
    """
    contents = []
    for each in slices:
        meta = each["metadata"]
        owners = meta.get("ownerReferences") or ()
        contents.append(
            {
                "addressType": each["addressType"],
                "ports": each["ports"],
                "endpoints": sorted(each["endpoints"], key=lambda e: e["addresses"]),
                "labels": meta.get("labels"),
                "annotations": {
                    key: value
                    for key, value in (meta.get("annotations") or {}).items()
                    if not key.endswith("last-change-trigger-time")
                },
                "generateName": meta.get("generateName"),
                "owners": [{k: r[k] for k in ("kind", "name", "uid")} for r in owners],
            }
        )
    return sorted(contents, key=lambda each: (each["addressType"], str(each["ports"])))
