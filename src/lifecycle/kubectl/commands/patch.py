"""`kubectl patch TYPE NAME -p PATCH`: the patch goes to the server as it is; only
`--local` and a client's dry run lay it over the object here.

Upstream: `kubectl/pkg/cmd/patch/patch.go` (`Validate`, `RunPatch`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.client.rest import JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    RECORD,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
)
from lifecycle.kubectl.local_patch import locally_patched
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.record import CHANGE_CAUSE, change_cause
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import FILES, Info, local_objects, visit

PATCH_TYPES = {
    "json": JSON_PATCH,
    "merge": MERGE_PATCH,
    "strategic": STRATEGIC_MERGE_PATCH,
}
FLAGS = (
    *PRINT,
    *FILES,
    DRY_RUN,
    RECORD,
    flag("patch", short="p"),
    flag("patch-file"),
    flag("type", default="strategic"),
    flag("local", "bool"),
    flag("field-manager", default="kubectl-patch"),
    flag("subresource"),
)


async def patch(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl patch ARGV`. What can be patched is, whatever happens to the
    rest.
    """
    p = parse(argv, FLAGS, "patch", session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    _validate(p, dry_run)
    document = read_patch(p)
    printer: Printer | None = None
    count = 0
    errs: list[CommandError | StatusError] = []
    async for info in _infos(session, p):
        count += 1
        try:
            if not isinstance(info, Info):
                raise info
            changed = await _patched(info, document, p, dry_run, session)
            # a format is looked at when there is something to print
            printer = printer or Printer(p)
        except (CommandError, StatusError) as error:
            errs.append(error)
            continue
        operation = "patched" if changed != info.obj else "patched (no change)"
        session.print(printer.text(in_key_order(changed), operation))
    if errs:
        raise several(errs)
    if not count:
        raise CommandError("no objects passed to patch")


def _validate(p: Parsed, dry_run: str) -> None:
    if p["patch"] and p["patch-file"]:
        raise CommandError("cannot specify --patch and --patch-file together")
    if not p["patch"] and not p["patch-file"]:
        raise CommandError(
            "must specify --patch or --patch-file containing the contents of the patch"
        )
    if p["local"] and p.args:
        raise CommandError("cannot specify --local and server resources")
    if p["local"] and dry_run == "server":
        raise CommandError(
            "cannot specify --local and --dry-run=server - did you mean"
            " --dry-run=client?"
        )
    if p["type"] and p["type"].lower() not in PATCH_TYPES:
        raise CommandError(
            f"--type must be one of [{' '.join(PATCH_TYPES)}], not"
            f" {go_quote(p['type'])}"
        )


def read_patch(p: Parsed) -> Any:
    """The patch, from YAML or JSON. Raises CommandError."""
    text = p["patch"].encode()
    if p["patch-file"]:
        try:
            text = Path(p["patch-file"]).read_bytes()
        except OSError as error:
            why = (error.strerror or "").lower()
            raise CommandError(
                f"unable to read patch file: open {p['patch-file']}: {why}"
            ) from None
    try:
        return read_yaml(text)[0]
    except ValueError as error:
        raise CommandError(f"unable to parse {go_quote(p['patch'])}: {error}") from None


async def _infos(
    session: Session, p: Parsed
) -> AsyncIterator[Info | CommandError | StatusError]:
    if p["local"]:
        for local in local_objects(p, session.stdin, structured=False):
            yield local
        return
    async for info in visit(session, p, p.args, latest=False, fetch=False):
        if not isinstance(info, Info):
            yield info
            continue
        info = replace(info, subresource=p["subresource"])
        try:
            live = await session.get(info.path, info.namespace)
            yield replace(info, obj=live)
        except StatusError as error:
            yield error


async def _patched(
    info: Info, document: Any, p: Parsed, dry_run: str, session: Session
) -> Object:
    """The object afterwards, as the server has it or as it would be."""
    how = (p["type"] or "strategic").lower()
    if p["local"] or dry_run == "client":
        return _locally(info, document, how)
    query = {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": p["field-manager"],
    }
    body, content_type = fast_json.dumps(document), PATCH_TYPES[how]
    changed = await session.patch_raw(info.path, body, content_type, query)
    if p["record"]:
        note = {"metadata": {"annotations": {CHANGE_CAUSE: change_cause("patch", p)}}}
        changed = await session.send("PATCH", info.path, query, note, MERGE_PATCH)
    return changed


def _locally(info: Info, document: Any, how: str) -> Object:
    if document is None and how != "merge":  # no patch at all
        return info.obj
    kind = info.obj["apiVersion"], info.obj["kind"]
    try:
        patched = locally_patched(info.obj, document, how)
    except KeyError:
        version, name = kind
        group = (
            f"{version}, Kind={name}" if "/" in version else f"/{version}, Kind={name}"
        )
        raise CommandError(
            f"strategic merge patch is not supported for {group} locally, try --type"
            " merge"
        ) from None
    except StatusError as error:
        raise CommandError(error.message) from None
    except CommandError as error:
        _, missing, key = str(error).partition("doc is missing key: ")
        raise (
            CommandError(f"Object to be patched is missing field ({key})")
            if missing
            else error
        ) from None
    if not isinstance(patched, dict):
        raise CommandError(
            "json: cannot unmarshal array into Go value of type unstructured.detector"
        )
    return patched
