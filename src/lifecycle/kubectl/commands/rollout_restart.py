"""`kubectl rollout restart`, `pause` and `resume`: three small patches of a workload.

None of them is a verb of the server. A restart is a new annotation on the pod template,
which makes the template a new one; pausing sets a field.

Upstream: `kubectl/pkg/cmd/rollout/rollout_{restart,pause,resume}.go`,
`kubectl/pkg/polymorphichelpers/objectrestarter.go`, `objectpauser.go`,
`objectresumer.go`, v1.36.2.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.status import StatusError
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import PRINT, SELECTOR, Parsed, flag, parse
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session
from lifecycle.kubectl.visitor import FILES, Info, visit

FLAGS = (
    *PRINT,
    SELECTOR,
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

    def patch(obj: Object) -> Object:
        if obj["kind"] not in RESTARTABLE:
            raise CommandError("restarting is not supported")
        if (obj.get("spec") or {}).get("paused"):
            raise CommandError(
                "can't restart paused deployment (run rollout resume first)"
            )
        now = Clock().timestamp()
        template = obj["spec"]["template"].get("metadata") or {}
        return (
            {}
            if (template.get("annotations") or {}).get(RESTARTED_AT) == now
            else restart_patch(now)
        )

    await _patch_all(argv, session, "restart", patch)


async def pause(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout pause ARGV`."""

    def patch(obj: Object) -> Object:
        if obj["kind"] != "Deployment":
            raise CommandError("pausing is not supported")
        if obj["spec"].get("paused"):
            raise CommandError("is already paused")
        return {"spec": {"paused": True}}

    await _patch_all(argv, session, "pause", patch)


async def resume(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl rollout resume ARGV`."""

    def patch(obj: Object) -> Object:
        if obj["kind"] != "Deployment":
            raise CommandError("resuming is not supported")
        if not obj["spec"].get("paused"):
            raise CommandError("is not paused")
        return {"spec": {"paused": None}}

    await _patch_all(argv, session, "resume", patch)


DONE = {"restart": "restarted", "pause": "paused", "resume": "resumed"}


async def _patch_all(
    argv: Sequence[str],
    session: Session,
    word: str,
    patch_for: Callable[[Object], Object],
) -> None:
    """Patch everything that is named and can be patched. Raises what could not be."""
    p = parse(argv, FLAGS, f"rollout {word}", session.warn)
    if not p.args and not p["filename"] and not p["kustomize"]:
        raise CommandError("required resource not specified")
    infos: list[Info] = []
    errs: list[CommandError | StatusError] = []
    async for info in visit(session, p, p.args, accept=JSON_OR_ANYTHING, every=True):
        if isinstance(info, Info):
            infos.append(info)
        else:
            errs.append(info)
    if not infos and not errs:
        session.warn(f"No resources found in {session.namespace} namespace.\n")
    for info in infos:
        try:
            changed = await _patched(info, patch_for, p, session)
            session.print(Printer(p).text(in_key_order(changed), DONE[word]))
        except CommandError as error:
            errs.append(error)
    if errs:
        raise several(errs)


async def _patched(
    info: Info, patch_for: Callable[[Object], Object], p: Parsed, session: Session
) -> Object:
    try:
        patch = patch_for(info.obj)
    except CommandError as error:
        resource = info.resource
        plural = (
            f"{resource.plural}.{resource.group}" if resource.group else resource.plural
        )
        raise CommandError(f"error: {plural} {go_quote(info.name)} {error}") from None
    if not patch:
        raise CommandError(
            f"failed to create patch for {info.name}: if restart has already been"
            " triggered within the past second, please wait before attempting to"
            " trigger another"
        )
    query = {"fieldManager": p["field-manager"]}
    try:
        return await session.send(
            "PATCH",
            info.path,
            query,
            patch,
            STRATEGIC_MERGE_PATCH,
            accept=JSON_OR_ANYTHING,
        )
    except StatusError as error:
        raise CommandError(f"failed to patch: {error.message}") from None
