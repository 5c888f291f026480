"""`kubectl delete`: ask for deletion, and by default stay until it has happened.

Upstream: `kubectl/pkg/cmd/delete/delete.go` (`DeleteResult`, `PrintObj`), `kubectl/pkg/cmd/wait/delete.go` (`IsDeleted`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import DRY_RUN, OUTPUT, Parsed, dry_run_strategy, flag, parse
from lifecycle.kubectl.resource_args import NOTHING_NAMED, Target, load_files
from lifecycle.kubectl.session import Session

FLAGS = (
    OUTPUT,
    DRY_RUN,
    flag("selector", short="l"),
    flag("field-selector"),
    flag("all", "bool"),
    flag("force", "bool"),
    flag("now", "bool"),
    flag("grace-period", "int", -1),
    flag("cascade", default="background", bare="background"),
    flag("wait", "bool", True),
    flag("ignore-not-found", "bool"),
    flag("filename", "slice", short="f"),
    flag("timeout"),
)
PROPAGATION = {
    "background": "Background",
    "true": "Background",
    "orphan": "Orphan",
    "false": "Orphan",
    "foreground": "Foreground",
}


async def delete(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl delete ARGV`."""
    p = parse(argv, FLAGS, "delete")
    dry_run = dry_run_strategy(p)
    if p["cascade"] not in PROPAGATION:
        raise CommandError(f'invalid cascade value ({p["cascade"]}). Must be "background", "foreground", or "orphan"')
    if not p.args and not p["filename"]:
        raise CommandError(NOTHING_NAMED)
    waiting = []
    for target, namespace in await _targets(p, session):
        if dry_run != "client":
            try:
                answer = await session.send(
                    "DELETE", target.resource.path(namespace, target.name), {"dryRun": _all(dry_run)}, _options(p)
                )
            except StatusError as refused:
                if refused.code == 404 and p["ignore-not-found"]:
                    continue
                raise
            if answer.get("kind") != "Status" and dry_run == "none":
                waiting.append((target, namespace))
        _report(target, namespace, p, dry_run, session)
    if p["wait"]:
        for target, namespace in waiting:
            await _wait(target, namespace, session)


def _all(dry_run: str) -> str:
    return "All" if dry_run == "server" else ""


def _options(p: Parsed) -> Object:
    grace = 1 if p["now"] else 0 if p["force"] and p["grace-period"] < 0 else p["grace-period"]
    options: Object = {"gracePeriodSeconds": grace} if grace >= 0 else {}
    return {**options, "propagationPolicy": PROPAGATION[p["cascade"]]}


async def _targets(p: Parsed, session: Session) -> list[tuple[Target, str]]:
    if p["filename"]:
        loaded = [(obj, obj["metadata"]) for obj in load_files(p["filename"])]
        return [
            (
                Target(await session.resource_for_kind(obj["apiVersion"], obj["kind"]), meta["name"]),
                meta.get("namespace") or session.namespace,
            )
            for obj, meta in loaded
        ]
    found: list[tuple[Target, str]] = []
    for target in await session.targets(p.args):
        if target.name:
            found.append((target, session.namespace))
            continue
        if not (p["all"] or p["selector"] or p["field-selector"]):
            raise CommandError("resource(s) were provided, but no name was specified")
        namespace = "" if p["all-namespaces"] else session.namespace
        query = {"labelSelector": p["selector"], "fieldSelector": p["field-selector"]}
        listed = await session.send("GET", target.resource.path(namespace), query)
        for item in listed.get("items") or ():
            found.append((Target(target.resource, item["metadata"]["name"]), item["metadata"].get("namespace", "")))
    if not found:
        session.print("No resources found\n")
    return found


def _report(target: Target, namespace: str, p: Parsed, dry_run: str, session: Session) -> None:
    resource = target.resource
    kind = resource.kind.lower() + (f".{resource.group}" if resource.group else "")
    if p["output"] == "name":
        session.print(f"{kind}/{target.name}\n")
        return
    operation = "force deleted" if p["force"] and _options(p).get("gracePeriodSeconds") == 0 else "deleted"
    where = f" from {namespace} namespace" if resource.namespaced and namespace else ""
    note = {"client": " (dry run)", "server": " (server dry run)"}.get(dry_run, "")
    session.print(f'{kind} "{target.name}" {operation}{where}{note}\n')


async def _wait(target: Target, namespace: str, session: Session) -> None:
    listed = await session.client.list(target.resource, namespace, field_selector=f"metadata.name={target.name}")
    if not listed.get("items"):
        return
    watch = await session.watch_one(target.resource, namespace, target.name, listed["metadata"]["resourceVersion"])
    async for frame in watch:
        if frame.type == "DELETED":
            return
