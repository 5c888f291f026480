"""`kubectl rollout restart`, `pause` and `resume`: three small patches of a workload.

None of them is a verb of the server. A restart is a new annotation on the pod template, which makes the template a new one; pausing sets a
field.

Upstream: `kubectl/pkg/cmd/rollout/rollout_{restart,pause,resume}.go`, `kubectl/pkg/polymorphichelpers/objectrestarter.go`,
`objectpauser.go`, `objectresumer.go`, v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.clock import Clock
from lifecycle.api.go_format import go_quote
from lifecycle.api.wire import Object
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import PRINT, Parsed, flag, parse
from lifecycle.kubectl.printers import check_format, print_object
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session
from lifecycle.kubectl.visitor import FILES, Found, objects_of

FLAGS = (
    *PRINT,
    flag("selector", short="l"),
    *FILES,
    flag("field-manager", default="kubectl-rollout"),
)
RESTARTED_AT = "kubectl.kubernetes.io/restartedAt"
RESTARTABLE = ("Deployment", "DaemonSet", "StatefulSet")


def restart_patch(now: str) -> Object:
    """The patch of a restart; `now` is RFC 3339."""
    return {"spec": {"template": {"metadata": {"annotations": {RESTARTED_AT: now}}}}}


async def restart(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout restart ARGV`."""
    p, found = await _found(argv, session, "restart")
    for each in found:
        if each.obj["kind"] not in RESTARTABLE:
            raise CommandError(f"{_named(each)} restarting is not supported")
        if (each.obj.get("spec") or {}).get("paused"):
            raise CommandError(f"{_named(each)} can't restart paused deployment (run rollout resume first)")
        await _patch(each, restart_patch(Clock().timestamp()), "restarted", p, session)


async def pause(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout pause ARGV`."""
    p, found = await _found(argv, session, "pause")
    for each in found:
        if each.obj["kind"] != "Deployment":
            raise CommandError(f"{_named(each)} pausing is not supported")
        if each.obj["spec"].get("paused"):
            raise CommandError(f"{_named(each)} is already paused")
        await _patch(each, {"spec": {"paused": True}}, "paused", p, session)


async def resume(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout resume ARGV`."""
    p, found = await _found(argv, session, "resume")
    for each in found:
        if each.obj["kind"] != "Deployment":
            raise CommandError(f"{_named(each)} resuming is not supported")
        if not each.obj["spec"].get("paused"):
            raise CommandError(f"{_named(each)} is not paused")
        await _patch(each, {"spec": {"paused": None}}, "resumed", p, session)


def _named(found: Found) -> str:
    resource = found.resource
    plural = f"{resource.plural}.{resource.group}" if resource.group else resource.plural
    return f"{plural} {go_quote(found.name)}"


async def _found(argv: Sequence[str], session: Session, word: str) -> tuple[Parsed, list[Found]]:
    p = parse(argv, FLAGS, f"rollout {word}")
    check_format(p["output"])
    if not p.args and not p["filename"]:
        raise CommandError("required resource not specified")
    return p, await objects_of(session, p, p.args, accept=JSON_OR_ANYTHING)


async def _patch(found: Found, patch: Object, done: str, p: Parsed, session: Session) -> None:
    query = {"fieldManager": p["field-manager"]}
    changed = await session.send("PATCH", found.path, query, patch, STRATEGIC_MERGE_PATCH, accept=JSON_OR_ANYTHING)
    session.print(print_object(changed, p["output"], done))
