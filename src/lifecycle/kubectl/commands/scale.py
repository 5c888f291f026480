"""`kubectl scale TYPE NAME --replicas=N`: a merge patch of `/scale`, whatever the type.

Under a condition it is read, looked at and written back instead, so that what was
looked at is what is changed.

Upstream: `kubectl/pkg/cmd/scale/scale.go` (`RunScale`, `updateReplicas`),
`kubectl/pkg/scale/scale.go` (`genericScaler.ScaleSimple`, `ScalePrecondition`), v1.36.
Left out: `--timeout` waits for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.client.rest import MERGE_PATCH
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    RECORD,
    SELECTOR,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
)
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.record import CHANGE_CAUSE, change_cause
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session
from lifecycle.kubectl.visitor import FILES, Info, visit

FLAGS = (
    *PRINT,
    *FILES,
    DRY_RUN,
    flag("replicas", "int", required=True),
    flag("current-replicas", "int", -1),
    flag("resource-version"),
    RECORD,
    flag("timeout", "duration"),
    flag("all", "bool"),
    SELECTOR,
)
SCALABLE = ("", "apps")
"""Groups whose objects keep their scale in `spec.replicas`, as far as this command
cares.
"""


async def scale(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl scale ARGV`."""
    p = parse(argv, FLAGS, "scale", session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    printer = Printer(p, dry_run)
    if p["replicas"] < 0:
        raise CommandError(
            "The --replicas=COUNT flag is required, and COUNT must be greater than or"
            " equal to 0"
        )
    if p["current-replicas"] < -1:
        raise CommandError(
            "The --current-replicas must specify an integer of -1 or greater"
        )
    infos: list[Info] = []
    errs: list[CommandError | StatusError] = []
    async for info in visit(session, p, p.args, every=p["all"]):
        if isinstance(info, Info):
            infos.append(info)
        else:
            errs.append(info)
    if p["resource-version"] and len(infos) > 1:
        raise CommandError("cannot use --resource-version with multiple resources")
    if not infos and not errs:
        raise CommandError("no objects passed to scale")
    for info in infos:
        replicas = (
            p["replicas"]
            if dry_run == "client"
            else await _scaled(info, p, dry_run, session)
        )
        obj = info.obj
        if info.resource.group in SCALABLE:
            obj = {**obj, "spec": {**(obj.get("spec") or {}), "replicas": replicas}}
        if p["record"] and dry_run != "client":
            note = {
                "metadata": {"annotations": {CHANGE_CAUSE: change_cause("scale", p)}}
            }
            await session.send("PATCH", info.path, {}, note, MERGE_PATCH)
        session.print(printer.text(in_key_order(obj), "scaled"))
    if errs:
        raise several(errs)


async def _scaled(info: Info, p: Parsed, dry_run: str, session: Session) -> int:
    """Set the scale; the number that the server now has."""
    path = info.resource.path(info.namespace, info.name, "scale")
    query = {"dryRun": "All" if dry_run == "server" else ""}
    if p["current-replicas"] == -1 and not p["resource-version"]:
        patch = {"spec": {"replicas": p["replicas"]}}
        answer = await session.send(
            "PATCH", path, query, patch, MERGE_PATCH, accept=JSON_OR_ANYTHING
        )
    else:
        current = await session.send("GET", path)
        _check_precondition(current, p)
        new_scale = {
            **current,
            "spec": {**(current.get("spec") or {}), "replicas": p["replicas"]},
        }
        answer = await session.send(
            "PUT", path, query, new_scale, accept=JSON_OR_ANYTHING
        )
    return int((answer.get("spec") or {}).get("replicas", 0))


def _check_precondition(scale_now: Object, p: Parsed) -> None:
    replicas = (scale_now.get("spec") or {}).get("replicas", 0)
    if p["current-replicas"] != -1 and replicas != p["current-replicas"]:
        raise CommandError(
            f"Expected replicas to be {p['current-replicas']}, was {replicas}"
        )
    revision = scale_now["metadata"].get("resourceVersion", "")
    if p["resource-version"] and revision != p["resource-version"]:
        raise CommandError(
            f"Expected resource version to be {p['resource-version']}, was {revision}"
        )
