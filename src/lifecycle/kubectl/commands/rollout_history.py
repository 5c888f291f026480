"""`kubectl rollout history` and `rollout undo`: look at earlier pod templates, and go
back to one.

Undoing puts the template of an earlier revision back into the workload, from where it
rolls out like any other change, and becomes the newest revision.

Upstream: `kubectl/pkg/polymorphichelpers/history.go`
(`DeploymentHistoryViewer.ViewHistory`, `printHistory`), `rollback.go`
(`DeploymentRollbacker.Rollback`, `DaemonSetRollbacker.Rollback`),
`kubectl/pkg/cmd/rollout/rollout_{history,undo}.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.client.rest import JSON_PATCH, STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.commands.rollout_revisions import (
    REVISION,
    Revisions,
    revisions_of,
)
from lifecycle.kubectl.describe.pod_template import pod_template_in_words
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    SELECTOR,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
)
from lifecycle.kubectl.printers import Printer, qualified_name
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.record import CHANGE_CAUSE
from lifecycle.kubectl.session import JSON_OR_ANYTHING, TYPED, Session
from lifecycle.kubectl.visitor import FILES, Info, visit

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
HISTORY_FLAGS = (*PRINT, *FILES, SELECTOR, flag("revision", "int64"))
UNDO_FLAGS = (*PRINT, *FILES, SELECTOR, DRY_RUN, flag("to-revision", "int64"))
APPLIED = (
    "Warning: resource {name} was previously managed with 'kubectl apply'. Rolling"
    f" back will not update the {LAST_APPLIED} annotation, which may cause unexpected"
    " behavior on future 'kubectl apply' operations. Consider using 'kubectl apply'"
    " with your previous configuration file instead.\n"
)


async def history(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout history ARGV`."""
    p = parse(argv, HISTORY_FLAGS, "rollout history")
    if not p.args and not p["filename"] and not p["kustomize"]:
        raise CommandError("required resource not specified")
    if p["revision"] < 0:
        raise CommandError(f"revision must be a positive integer: {p['revision']}")
    objects = bool(p["output"] or p["template"])
    printer: Printer | None = None
    errs: list[CommandError | StatusError] = []
    async for info in visit(session, p, p.args, accept=JSON_OR_ANYTHING, every=True):
        try:
            printer = printer or (Printer(p) if objects else None)
            if not isinstance(info, Info):
                raise info
            revisions = await revisions_of(info, session, "history viewer")
            text = (
                _view_history(info, revisions, p)
                if printer is None
                else _objects(revisions, p, printer)
            )
        except (CommandError, StatusError) as error:
            errs.append(error)
            continue
        session.print(text)
    if errs:
        raise several(errs)


def _chosen(revisions: Revisions, number: int) -> int:
    if number not in revisions.kept:
        raise CommandError("unable to find the specified revision")
    return number


def _objects(revisions: Revisions, p: Parsed, printer: Printer) -> str:
    numbers = (
        [_chosen(revisions, p["revision"])] if p["revision"] else sorted(revisions.kept)
    )
    return "".join(printer.text(revisions.restored(number), "") for number in numbers)


def _view_history(info: Info, revisions: Revisions, p: Parsed) -> str:
    if not revisions.kept:
        which, text = (
            f"with revision #{p['revision']}" if p["revision"] else "",
            "No rollout history found.",
        )
    elif p["revision"]:
        number = _chosen(revisions, p["revision"])
        which, text = (
            f"with revision #{number}",
            pod_template_in_words(_with_change_cause(revisions, number)),
        )
    else:
        which, text = "", _table(revisions)
    return f"{qualified_name(info.obj)} {which}\n{text}\n"


def _with_change_cause(revisions: Revisions, number: int) -> Object:
    """The template; why it was made stands on the ReplicaSet, and is shown with it."""
    template, cause = revisions.template(number), revisions.cause(number)
    if not cause or revisions.workload["kind"] != "Deployment":
        return template
    annotations = {
        **(template["metadata"].get("annotations") or {}),
        CHANGE_CAUSE: cause,
    }
    return {
        **template,
        "metadata": {**template["metadata"], "annotations": annotations},
    }


def _table(revisions: Revisions) -> str:
    rows = [("REVISION", "CHANGE-CAUSE")]
    rows += [
        (str(number), revisions.cause(number) or "<none>")
        for number in sorted(revisions.kept)
    ]
    width = max(len(first) for first, _ in rows) + 2
    return "".join(f"{first:{width}}{second}\n" for first, second in rows)


async def undo(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout undo ARGV`."""
    p = parse(argv, UNDO_FLAGS, "rollout undo")
    dry_run = dry_run_strategy(p, session.warn)
    if not p.args and not p["filename"] and not p["kustomize"]:
        raise CommandError("required resource not specified")
    errs: list[CommandError | StatusError] = []
    async for info in visit(session, p, p.args, accept=JSON_OR_ANYTHING, every=True):
        try:
            if not isinstance(info, Info):
                raise info
            result = await _rollback(info, p["to-revision"], dry_run, session)
            session.print(Printer(p, dry_run).text(in_key_order(info.obj), result))
        except (CommandError, StatusError) as error:
            errs.append(error)
    if errs:
        raise several(errs)


async def _rollback(
    info: Info, to_revision: int, dry_run: str, session: Session
) -> str:
    if LAST_APPLIED in (info.obj["metadata"].get("annotations") or {}):
        session.warn(APPLIED.format(name=f"{info.resource.plural}/{info.name}"))
    revisions = await revisions_of(info, session, "rollbacker")
    number = revisions.to_restore(to_revision)
    if dry_run == "client":
        template = pod_template_in_words(revisions.template(number))
        return (
            template
            if info.resource.kind == "Deployment"
            else f"will roll back to {template}"
        )
    patch: Object | list[Object]
    if info.resource.kind == "Deployment":
        if revisions.workload["spec"].get("paused"):
            raise CommandError(
                "you cannot rollback a paused deployment; resume it first with 'kubectl"
                " rollout resume' and try again"
            )
        patch = rollback_patch(revisions.workload, revisions.kept[number])
        content_type = JSON_PATCH
        current = patch[0]["value"] == _without_hash(revisions.template_now)
    else:
        patch, content_type = revisions.kept[number]["data"], STRATEGIC_MERGE_PATCH
        current = revisions.is_current(number)
    if current:
        return (
            "skipped rollback (current template already matches revision"
            f" {to_revision})"
        )
    query = {"dryRun": "All" if dry_run == "server" else ""}
    try:
        await session.send("PATCH", info.path, query, patch, content_type, accept=TYPED)
    except StatusError as error:
        raise CommandError(
            f"failed restoring revision {to_revision}: {error.message}"
        ) from None
    return "rolled back"


def revision_to_restore(
    deployment: Object, revisions: dict[int, Object], to_revision: int
) -> Object:
    """The ReplicaSet of a Deployment's revision; 0 means the last but one. Raises
    CommandError if there is none.
    """
    return revisions[Revisions(deployment, revisions).to_restore(to_revision)]


def rollback_patch(deployment: Object, replica_set: Object) -> list[Object]:
    """The JSON patch that puts a ReplicaSet's template, and the annotations that came
    with it, back into the Deployment.
    """
    ours, theirs = (
        obj["metadata"].get("annotations") or {} for obj in (deployment, replica_set)
    )
    annotations = {
        key: value for key, value in ours.items() if key in STAYS_WITH_DEPLOYMENT
    }
    annotations |= {
        key: value for key, value in theirs.items() if key not in STAYS_WITH_DEPLOYMENT
    }
    return [
        {
            "op": "replace",
            "path": "/spec/template",
            "value": _without_hash(replica_set["spec"]["template"]),
        },
        {"op": "replace", "path": "/metadata/annotations", "value": annotations},
    ]


def _without_hash(template: Object) -> Object:
    labels = {
        key: value
        for key, value in template["metadata"]["labels"].items()
        if key != HASH_LABEL
    }
    return {**template, "metadata": {**template["metadata"], "labels": labels}}
