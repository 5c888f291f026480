"""`kubectl rollout history` and `rollout undo`: a Deployment's past is kept in its ReplicaSets.

Nothing else remembers old templates. Each ReplicaSet carries the number of its revision as an annotation. Undoing copies the template
of an earlier one back into the Deployment, from where it rolls out like any other change, and becomes the newest revision.

Upstream: `kubectl/pkg/polymorphichelpers/history.go` (`DeploymentHistoryViewer.ViewHistory`), `rollback.go`
(`DeploymentRollbacker.Rollback`), `kubectl/pkg/cmd/rollout/rollout_{history,undo}.go`, v1.36. Left out: other kinds.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.go_format import go_quote
from lifecycle.api.labels import format_label_selector
from lifecycle.api.wire import Object
from lifecycle.client.rest import JSON_PATCH
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import DRY_RUN, PRINT, dry_run_strategy, flag, parse
from lifecycle.kubectl.printers import check_format, print_object, typed
from lifecycle.kubectl.printing.pod_template import describe_pod_template
from lifecycle.kubectl.record import CHANGE_CAUSE
from lifecycle.kubectl.resource_args import Target
from lifecycle.kubectl.session import JSON_OR_ANYTHING, TYPED, Session

REVISION = "deployment.kubernetes.io/revision"
HASH_LABEL = "pod-template-hash"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
STAYS_WITH_DEPLOYMENT = {
    LAST_APPLIED,
    REVISION,
    "deployment.kubernetes.io/revision-history",
    "deployment.kubernetes.io/desired-replicas",
    "deployment.kubernetes.io/max-replicas",
    "deprecated.deployment.rollback.to",
}
"""Annotations that are not copied back from a ReplicaSet."""


APPLIED = (
    f"Warning: resource {{name}} was previously managed with 'kubectl apply'. Rolling back will not update the {LAST_APPLIED} annotation, "
    "which may cause unexpected behavior on future 'kubectl apply' operations. "
    "Consider using 'kubectl apply' with your previous configuration file instead.\n"
)


async def history(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout history ARGV`."""
    p = parse(argv, (flag("revision", "int64"),), "rollout history")
    if not p.args:
        raise CommandError("required resource not specified")
    if p["revision"] < 0:
        raise CommandError(f"revision must be a positive integer: {p['revision']}")
    for target in await session.targets(p.args):
        deployment, revisions = await _with_revisions(target, session, "history viewer")
        name = print_object(deployment, "", "").rstrip()
        if p["revision"]:
            if p["revision"] not in revisions:
                raise CommandError("unable to find the specified revision")
            text = describe_pod_template(_with_change_cause(revisions[p["revision"]]))
            session.print(f"{name} with revision #{p['revision']}\n{text}\n")
        else:
            session.print(f"{name} \n{_table(revisions)}\n")


def _with_change_cause(replica_set: Object) -> Object:
    """The template; why it was made stands on the ReplicaSet, and is shown with it."""
    template: Object = replica_set["spec"]["template"]
    cause = (replica_set["metadata"].get("annotations") or {}).get(CHANGE_CAUSE)
    if not cause:
        return template
    annotations = {**(template["metadata"].get("annotations") or {}), CHANGE_CAUSE: cause}
    return {**template, "metadata": {**template["metadata"], "annotations": annotations}}


def _table(revisions: dict[int, Object]) -> str:
    if not revisions:
        return "No rollout history found."
    rows = [("REVISION", "CHANGE-CAUSE")]
    for number in sorted(revisions):
        rows.append(
            (str(number), (revisions[number]["metadata"].get("annotations") or {}).get(CHANGE_CAUSE) or "<none>")
        )
    width = max(len(first) for first, _ in rows) + 2
    return "".join(f"{first:{width}}{second}\n" for first, second in rows)


async def undo(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout undo ARGV`."""
    p = parse(argv, (*PRINT, DRY_RUN, flag("to-revision", "int64")), "rollout undo")
    dry_run, wanted = dry_run_strategy(p), p["to-revision"]
    check_format(p["output"])
    if not p.args:
        raise CommandError("required resource not specified")
    for target in await session.targets(p.args):
        deployment, revisions = await _with_revisions(target, session, "rollbacker")
        meta = deployment["metadata"]
        if LAST_APPLIED in (meta.get("annotations") or {}):
            session.warn(APPLIED.format(name=f"deployments/{meta['name']}"))
        replica_set = revision_to_restore(deployment, revisions, wanted)
        if dry_run == "client":
            text = describe_pod_template(replica_set["spec"]["template"])
            session.print(print_object(deployment, p["output"], text, dry_run))
            continue
        if deployment["spec"].get("paused"):
            raise CommandError(
                "you cannot rollback a paused deployment; resume it first with 'kubectl rollout resume' and try again"
            )
        patch = rollback_patch(deployment, replica_set)
        result = "rolled back"
        if patch[0]["value"] == _without_hash(deployment["spec"]["template"]):
            result = f"skipped rollback (current template already matches revision {wanted})"
        else:
            query = {"dryRun": "All" if dry_run == "server" else ""}
            path = target.resource.path(session.namespace, meta["name"])
            await session.send("PATCH", path, query, patch, JSON_PATCH, accept=TYPED)
        session.print(print_object(deployment, p["output"], result, dry_run))


def revision_to_restore(deployment: Object, revisions: dict[int, Object], wanted: int) -> Object:
    """The ReplicaSet of a revision; 0 means the last but one. Raises CommandError if there is none."""
    if wanted:
        if wanted not in revisions:
            raise CommandError(f"unable to find specified revision {wanted} in history")
        return revisions[wanted]
    if len(revisions) < 2:
        raise CommandError(f"no rollout history found for deployment {go_quote(deployment['metadata']['name'])}")
    return revisions[sorted(revisions)[-2]]


def rollback_patch(deployment: Object, replica_set: Object) -> list[Object]:
    """The JSON patch that puts a ReplicaSet's template, and the annotations that came with it, back into the Deployment."""
    ours, theirs = (obj["metadata"].get("annotations") or {} for obj in (deployment, replica_set))
    annotations = {key: value for key, value in ours.items() if key in STAYS_WITH_DEPLOYMENT}
    annotations |= {key: value for key, value in theirs.items() if key not in STAYS_WITH_DEPLOYMENT}
    return [
        {"op": "replace", "path": "/spec/template", "value": _without_hash(replica_set["spec"]["template"])},
        {"op": "replace", "path": "/metadata/annotations", "value": annotations},
    ]


def _without_hash(template: Object) -> Object:
    labels = {key: value for key, value in template["metadata"]["labels"].items() if key != HASH_LABEL}
    return {**template, "metadata": {**template["metadata"], "labels": labels}}


async def _with_revisions(target: Target, session: Session, what: str) -> tuple[Object, dict[int, Object]]:
    """The Deployment, and its ReplicaSets by revision. Raises CommandError for other kinds."""
    resource = target.resource
    if resource.kind != "Deployment":
        shown = f"{resource.kind}.{resource.group}" if resource.group else resource.kind
        raise CommandError(f"no {what} has been implemented for {go_quote(shown)}")
    path = resource.path(session.namespace, target.name)
    await session.get_named(path, session.namespace, accept=JSON_OR_ANYTHING)  # once to know what it is …
    deployment = typed(await session.send("GET", path, accept=TYPED))  # … and once through the client for that type
    replica_sets = await session.resource_for_kind("apps/v1", "ReplicaSet")
    selector = format_label_selector(deployment["spec"]["selector"])
    listed = await session.send("GET", replica_sets.path(session.namespace), {"labelSelector": selector}, accept=TYPED)
    revisions = {}
    for item in listed.get("items") or ():
        meta = item["metadata"]
        owned = any(owner["uid"] == deployment["metadata"]["uid"] for owner in meta.get("ownerReferences") or ())
        number = (meta.get("annotations") or {}).get(REVISION, "")
        if owned and number.isdecimal():
            revisions[int(number)] = typed({"apiVersion": "apps/v1", "kind": "ReplicaSet", **item})
    return deployment, revisions
