"""`kubectl set image TYPE/NAME CONTAINER=IMAGE…`: a strategic merge patch that names one container by its key.

Upstream: `kubectl/pkg/cmd/set/set_image.go`, `helper.go` (`CalculatePatches`), v1.36. Left out: `--local`, `-f`, selectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.go_format import go_quote
from lifecycle.api.wire import Object
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import DRY_RUN, OUTPUT, dry_run_strategy, flag, parse
from lifecycle.kubectl.printers import check_format, print_object
from lifecycle.kubectl.record import CHANGE_CAUSE, RECORD, announce, change_cause
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session

FLAGS = (OUTPUT, DRY_RUN, flag("field-manager", default="kubectl-set"), RECORD, flag("all", "bool"))


async def set_image(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl set image ARGV`."""
    p = parse(argv, FLAGS, "set image")
    announce(p, session.warn)
    check_format(p["output"])
    dry_run = dry_run_strategy(p)
    images = dict(arg.split("=", 1) for arg in p.args if "=" in arg)
    named = [arg for arg in p.args if "=" not in arg]
    found = await session.targets(named)
    if not images:
        raise CommandError("at least one image update is required")
    for target in found:
        path = target.resource.path(session.namespace, target.name)
        obj = await session.get_named(path, session.namespace, accept=JSON_OR_ANYTHING)
        patch = image_patch(obj, images)
        if not patch:
            continue
        if dry_run != "client":
            if p["record"]:
                patch = {"metadata": {"annotations": {CHANGE_CAUSE: change_cause("set image", p)}}, **patch}
            query = {"dryRun": "All" if dry_run == "server" else "", "fieldManager": p["field-manager"]}
            obj = await session.send("PATCH", path, query, patch, STRATEGIC_MERGE_PATCH, accept=JSON_OR_ANYTHING)
        session.print(print_object(obj, p["output"], "image updated", dry_run))


def image_patch(obj: Object, images: dict[str, str]) -> Object:
    """The patch that gives containers (`*`: all) their new images; empty if they have them. Raises CommandError for unknown containers."""
    pod = obj["spec"] if obj["kind"] == "Pod" else obj["spec"]["template"]["spec"]
    part: dict[str, Any] = {}
    unknown = [name for name in images if name != "*"]
    for field in ("containers", "initContainers"):
        containers = pod.get(field) or []
        unknown = [name for name in unknown if name not in {c["name"] for c in containers}]
        wanted = {c["name"]: images.get(c["name"], images.get("*", c["image"])) for c in containers}
        changed = [
            {"image": wanted[c["name"]], "name": c["name"]} for c in containers if wanted[c["name"]] != c["image"]
        ]
        if changed:
            part[f"$setElementOrder/{field}"] = [{"name": c["name"]} for c in containers]
            part[field] = changed
    if unknown:
        raise CommandError(f"unable to find container named {go_quote(unknown[0])}")
    if not part:
        return {}
    return {"spec": part} if obj["kind"] == "Pod" else {"spec": {"template": {"spec": part}}}
