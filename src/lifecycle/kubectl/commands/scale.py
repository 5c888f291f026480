"""`kubectl scale TYPE NAME --replicas=N`: a merge patch of `/scale`, whatever the type.

Upstream: `kubectl/pkg/cmd/scale/scale.go`, `kubectl/pkg/scale/scale.go` (`genericScaler.ScaleSimple`), v1.36. Left out: `--timeout`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.client.rest import MERGE_PATCH
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import DRY_RUN, OUTPUT, dry_run_strategy, flag, parse
from lifecycle.kubectl.printers import check_format, print_object
from lifecycle.kubectl.record import CHANGE_CAUSE, RECORD, announce, change_cause
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session

FLAGS = (
    OUTPUT,
    DRY_RUN,
    flag("replicas", "int", required=True),
    flag("current-replicas", "int", -1),
    flag("resource-version"),
    RECORD,
    flag("timeout"),
)


async def scale(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl scale ARGV`."""
    p = parse(argv, FLAGS, "scale")
    announce(p, session.warn)
    if p["replicas"] < 0:
        raise CommandError("The --replicas=COUNT flag is required, and COUNT must be greater than or equal to 0")
    check_format(p["output"])
    dry_run = dry_run_strategy(p)
    for target in await session.targets(p.args):
        where = target.resource.path(session.namespace, target.name)
        obj = await session.get_named(where, session.namespace)
        if dry_run != "client":
            path = target.resource.path(session.namespace, target.name, "scale")
            await _check_precondition(path, p["current-replicas"], session)
            query = {"dryRun": "All" if dry_run == "server" else ""}
            patch = {"spec": {"replicas": p["replicas"]}}
            await session.send("PATCH", path, query, patch, MERGE_PATCH, accept=JSON_OR_ANYTHING)
            if p["record"]:
                note = {"metadata": {"annotations": {CHANGE_CAUSE: change_cause("scale", p)}}}
                obj = await session.send("PATCH", where, {}, note, MERGE_PATCH)
        session.print(print_object(obj, p["output"], "scaled", dry_run))


async def _check_precondition(path: str, wanted: int, session: Session) -> None:
    if wanted < 0:
        return
    current = ((await session.send("GET", path)).get("spec") or {}).get("replicas", 0)
    if current != wanted:
        raise CommandError(f"Expected replicas to be {wanted}, was {current}")
