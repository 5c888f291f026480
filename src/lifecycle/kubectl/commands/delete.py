"""`kubectl delete`: ask for deletion, and by default stay until it has happened.

Upstream: `kubectl/pkg/cmd/delete/delete.go` (`Complete`, `Validate`, `DeleteResult`,
`PrintObj`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.raw import check_raw, send_raw
from lifecycle.kubectl.commands.wait_deleted import until_deleted
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import (
    ALL_NAMESPACES,
    DRY_RUN,
    OUTPUT,
    SELECTOR,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
)
from lifecycle.kubectl.manifests import check_paths
from lifecycle.kubectl.resource_args import check_no_names
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import FILES, Info, add_source_to_err, visit

IMMEDIATE = (
    "Warning: Immediate deletion does not wait for confirmation that the running"
    " resource has been terminated. The resource may continue to run on the cluster"
    " indefinitely.\n"
)
FLAGS = (
    OUTPUT,
    *FILES,
    ALL_NAMESPACES,
    DRY_RUN,
    SELECTOR,
    flag("field-selector"),
    flag("all", "bool"),
    flag("force", "bool"),
    flag("now", "bool"),
    flag("grace-period", "int", -1),
    flag("cascade", default="background", bare="background"),
    flag("wait", "bool", True),
    flag("ignore-not-found", "bool"),
    flag("timeout", "duration"),
    flag("interactive", "bool", short="i"),
    flag("raw"),
)
PROPAGATION = {
    "background": "Background",
    "true": "Background",
    "orphan": "Orphan",
    "false": "Orphan",
    "foreground": "Foreground",
}


def bad_cascade(cascade: str) -> CommandError:
    """The refusal of a `--cascade`."""
    return CommandError(
        f'invalid cascade value ({cascade}). Must be "background", "foreground", or'
        ' "orphan"'
    )


async def delete(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl delete ARGV`. Everything that can be deleted is, whatever happens to
    the rest.
    """
    p = parse(argv, FLAGS, "delete")
    if p["cascade"] not in PROPAGATION:
        raise bad_cascade(p["cascade"])
    for old, new in (("true", "background"), ("false", "orphan")):
        if p["cascade"] == old:
            session.warn(
                f"warning: --cascade={old} is deprecated (boolean value) and can be"
                f" replaced with --cascade={new}.\n"
            )
    grace = _grace_period(p)
    dry_run = dry_run_strategy(p, session.warn)
    if p["raw"]:
        _validate(p, grace, session)
        if p["interactive"]:
            raise CommandError("--interactive can not be used with --raw")
        check_raw(p, needs_file=False)
        await send_raw("DELETE", p, session)
        return
    if p["all"] and (p["selector"] or p["field-selector"]):
        raise CommandError("setting 'all' parameter but found a non empty selector. ")
    if not p["filename"] and not p["kustomize"]:
        if any(p[name] for name in ("all", "selector", "field-selector")):
            if not p.args:
                raise CommandError(
                    "at least one resource must be specified to use a selector"
                )
            check_no_names(p.args)
        await session.targets(
            p.args
        )  # what names nothing is said before what makes no sense
    check_paths(p["filename"], recursive=p["recursive"])
    _validate(p, grace, session)
    if p["interactive"]:
        infos = [
            info
            async for info in visit(
                session, p, p.args, latest=False, fetch=False, every=p["all"]
            )
            if isinstance(info, Info)
        ]
        if not infos:
            session.print("No resources found\n")
            return
        if not _confirmation(infos, session):
            session.print("deletion is cancelled\n")
            return
    deleted = await _delete_all(p, grace, dry_run, session)
    if deleted is None:
        session.print("No resources found\n")
    elif p["wait"] and dry_run == "none":
        await _wait(deleted, p["timeout"], session)


def _grace_period(p: Parsed) -> int:
    """Seconds; -1 to leave it to the object. Zero is only for `--force`."""
    grace = int(p["grace-period"])
    if p["now"]:
        if grace != -1:
            raise CommandError("--now and --grace-period cannot be specified together")
        grace = 1
    if grace == 0 and not p["force"]:
        return 1
    return 0 if p["force"] and grace < 0 else grace


def _validate_output(p: Parsed) -> None:
    if p["output"] not in ("", "name"):
        raise CommandError(
            f"unexpected -o output mode: {p['output']}. We only support '-o name'"
        )


def _validate(p: Parsed, grace: int, session: Session) -> None:
    _validate_output(p)
    for flag_name in ("selector", "field-selector"):
        if p["all"] and p[flag_name]:
            raise CommandError(f"cannot set --all and --{flag_name} at the same time")
    if p["force"] and grace == 0:
        session.warn(IMMEDIATE)
    elif p["force"] and grace > 0:
        raise CommandError(
            "--force and --grace-period greater than 0 cannot be specified together"
        )


def _confirmation(infos: Sequence[Info], session: Session) -> bool:
    """Ask, and wait for one word."""
    session.print(f"You are about to delete the following {len(infos)} resource(s):\n")
    session.print("".join(f"{_kind_of(info)}/{info.name}\n" for info in infos))
    session.print("Do you want to continue? (y/N): ")
    words = session.stdin.readline().split()
    return bool(words) and words[0].lower() == "y"


def _kind_of(info: Info) -> str:
    return info.resource.kind.lower() + (
        f".{info.resource.group}" if info.resource.group else ""
    )


async def _delete_all(
    p: Parsed, grace: int, dry_run: str, session: Session
) -> list[tuple[Info, str]] | None:
    """What was deleted, with the UIDs; None if nothing was found. Raises what could not
    be.
    """
    ignoring = (
        p["ignore-not-found"]
        if "ignore-not-found" in p.changed
        else bool(p["all"] or p["selector"] or p["field-selector"])
    )
    errs: list[CommandError | StatusError] = []
    deleted = []
    found = 0
    warned = not session.explicit_namespace or p["all-namespaces"]
    async for info in visit(
        session, p, p.args, latest=False, fetch=False, every=p["all"]
    ):
        if not isinstance(info, Info):
            errs.append(info)
            continue
        found += 1
        if not warned and not info.resource.namespaced:
            warned = True
            session.warn(
                "Warning: deleting cluster-scoped resources, not scoped to the provided"
                " namespace\n"
            )
        try:
            uid = await _delete_one(info, p, grace, dry_run, session)
        except StatusError as error:
            errs.append(error)
            continue
        deleted.append((info, uid))
    errs = [
        err
        for err in errs
        if not (ignoring and isinstance(err, StatusError) and err.code == 404)
    ]
    if errs:
        raise several(errs)
    return deleted if found else None


async def _delete_one(
    info: Info, p: Parsed, grace: int, dry_run: str, session: Session
) -> str:
    uid = ""
    if dry_run != "client":
        options: Object = {"gracePeriodSeconds": grace} if grace >= 0 else {}
        options["propagationPolicy"] = PROPAGATION[p["cascade"]]
        if dry_run == "server":
            options["dryRun"] = [
                "All"
            ]  # with a body, the server does not look at the query
        if info.source:
            with add_source_to_err(info.source, "deleting"):
                answer = await session.send("DELETE", info.path, {}, options)
        else:
            answer = await session.send("DELETE", info.path, {}, options)
        uid = str(
            (
                (
                    answer.get("details")
                    if answer.get("kind") == "Status"
                    else answer.get("metadata")
                )
                or {}
            ).get("uid", "")
        )
    _report(info, p, grace, dry_run, session)
    return uid


def _report(info: Info, p: Parsed, grace: int, dry_run: str, session: Session) -> None:
    resource = info.resource
    kind = _kind_of(info)
    if p["output"] == "name":
        session.print(f"{kind}/{info.name}\n")
        return
    operation = "force deleted" if grace == 0 else "deleted"
    where = f" from {info.namespace} namespace" if resource.namespaced else ""
    note = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
    session.print(f'{kind} "{info.name}" {operation}{where}{note}\n')


async def _wait(
    deleted: Sequence[tuple[Info, str]], timeout: float, session: Session
) -> None:
    """Until all of them are gone, at the longest so many seconds for all together. Who
    may delete and not look has done what was asked. Raises CommandError, StatusError.
    """
    ends = asyncio.get_running_loop().time() + timeout if timeout else None
    for info, uid in deleted:
        try:
            async with asyncio.timeout_at(ends):
                await until_deleted(info, uid, session)
        except TimeoutError:
            resource_name = f"{info.resource.plural}/{info.name}"
            raise CommandError(
                f"timed out waiting for the condition on {resource_name}"
            ) from None
        except StatusError as error:
            if error.code in (403, 405):
                return
            raise
