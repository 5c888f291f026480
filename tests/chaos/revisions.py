"""What is kept of templates: the replica sets of a Deployment, the ControllerRevisions of a StatefulSet or DaemonSet.

How many old ones there are, and with which numbers, depends on which templates a controller saw before the next one came. The rest
does not: each is a template that its owner once had, none is there twice, the owner's own has the highest number, and of the old
ones no more are kept than the owner's limit says. Two revisions of a StatefulSet may have one number, if its controller made the
second before its cache had the first; the younger, and then the one whose name comes later, is the newer one. (For a Deployment and
a DaemonSet the number of the newest is raised until it is higher.)

Upstream: `deployment/sync.go` (`getNewReplicaSet`, `cleanupDeployment`), `deployment/util/deployment_util.go` (`FindNewReplicaSet`,
`EqualIgnoreHash`), `statefulset/stateful_set_control.go` (`getStatefulSetRevisions`, `truncateHistory`), `daemon/update.go`
(`constructHistory`, `cleanupHistory`), `history/controller_history.go` (`byRevision`), v1.36.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from lifecycle.api.http.wire import Object
from tests.chaos.history import WORKLOADS, History
from tests.chaos.invariants.registry import controller_uid

HASH = "pod-template-hash"
NUMBER = "deployment.kubernetes.io/revision"
OWNERS = ("deployments.apps", "statefulsets.apps", "daemonsets.apps")


@dataclass(frozen=True, slots=True)
class _Kept:
    name: str
    number: int
    created: str
    template: Object


def misremembered(history: History) -> Iterator[str]:
    """What is wrong with it at the end."""
    templates: dict[str, list[Object]] = defaultdict(list)
    objects: dict[str, Object] = {}
    for change in history.changes:
        if change.kind == "DELETED":
            objects.pop(change.key, None)
            continue
        objects[change.key] = change.obj
        if change.row in WORKLOADS:
            templates[change.obj["metadata"]["uid"]].append(change.obj["spec"]["template"])
    kept: dict[str, list[_Kept]] = defaultdict(list)
    for key, obj in objects.items():
        if key.startswith("replicasets."):
            number = int((obj["metadata"].get("annotations") or {}).get(NUMBER, 0))
            kept[controller_uid(obj)].append(_kept(obj, number, _without_hash(obj["spec"]["template"])))
        if key.startswith("controllerrevisions."):
            template = {name: value for name, value in obj["data"]["spec"]["template"].items() if name != "$patch"}
            kept[controller_uid(obj)].append(_kept(obj, obj["revision"], template))
    for key, obj in objects.items():
        if key.startswith(OWNERS):
            uid = obj["metadata"]["uid"]
            yield from (f"{key}: {message}" for message in _wrong(obj, kept[uid], templates[uid]))


def _kept(obj: Object, number: int, template: Object) -> _Kept:
    return _Kept(obj["metadata"]["name"], number, obj["metadata"]["creationTimestamp"], template)


def _without_hash(template: Object) -> Object:
    labels = {name: value for name, value in template["metadata"]["labels"].items() if name != HASH}
    return {**template, "metadata": {**template["metadata"], "labels": labels}}


def _wrong(owner: Object, kept: list[_Kept], templates: list[Object]) -> Iterator[str]:
    for number, each in enumerate(kept):
        if each.template not in templates:
            yield f"it never had the template of {each.name}"
        if any(each.template == other.template for other in kept[:number]):
            yield f"the template of {each.name} is kept twice"
    newest = max(kept, key=lambda each: (each.number, each.created, each.name), default=None)
    if newest is None:
        yield "its template is not kept"
        return
    if newest.template != owner["spec"]["template"]:
        yield f"{newest.name} has the highest number, {newest.number}, and another template"
    if owner["kind"] != "StatefulSet" and sum(each.number == newest.number for each in kept) > 1:
        yield f"the number {newest.number} is there twice"
    if len(kept) > owner["spec"]["revisionHistoryLimit"] + 1:
        yield f"{len(kept)} are kept, {owner['spec']['revisionHistoryLimit']} old ones should be"
    status = owner.get("status") or {}
    if owner["kind"] == "Deployment" and owner["metadata"]["annotations"].get(NUMBER) != str(newest.number):
        yield f"it says {owner['metadata']['annotations'].get(NUMBER)}, {newest.name} is number {newest.number}"
    if owner["kind"] == "StatefulSet":
        for field in ("currentRevision", "updateRevision"):
            if status.get(field) != newest.name:
                yield f"{field} is {status.get(field)}, {newest.name} has the highest number"
