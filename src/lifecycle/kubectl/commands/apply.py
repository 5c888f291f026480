"""`kubectl apply -f FILE`: create what is not there, patch what is.

Client-side, kubectl remembers what it applied last in an annotation, and sends the
difference of three: what it applied, what it should be, what it is. Server-side, it
sends the configuration as it is, and the server knows the rest.

Upstream: `kubectl/pkg/cmd/apply/apply.go` (`Run`, `applyOneObject`), `patcher.go`
(`Patch`, `buildStrategicMergePatch`), v1.36. Left out: `--prune`, `-k`,
`view-last-applied` and its like, recreating with `--force`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import Schema, schema_for
from lifecycle.api.status import StatusError
from lifecycle.client.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.commands.server_side_migration import apply_and_migrate
from lifecycle.kubectl.failures import CommandError, UsageError, several
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    RECORD,
    SELECTOR,
    VALIDATE,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
    validation_directive,
)
from lifecycle.kubectl.last_applied import LAST_APPLIED, modified_configuration
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.record import record
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.three_way_merge import three_way_merge_patch
from lifecycle.kubectl.visitor import FILES, Info, add_source_to_err, visit_by_paths

MAX_PATCH_RETRY, TRIES_BEFORE_BACK_OFF, BACK_OFF_PERIOD = 5, 1, 1.0
"""How often a patch is tried again when somebody else was faster, from which time on
there is a pause, and of how many seconds.
"""
CLIENT_SIDE, SERVER_SIDE = "kubectl-client-side-apply", "kubectl"
FLAGS = (
    *PRINT,
    *FILES,
    DRY_RUN,
    VALIDATE,
    RECORD,
    flag("server-side", "bool"),
    flag("force-conflicts", "bool"),
    flag("force", "bool"),
    flag("field-manager", default=CLIENT_SIDE),
    flag("subresource"),
    flag("prune", "bool"),
    flag("prune-allowlist", "array"),
    flag("overwrite", "bool", True),
    SELECTOR,
    flag("all", "bool"),
    flag("wait", "bool"),
    flag("timeout", "duration"),
    flag("grace-period", "int", -1),
    flag("cascade", default="background", bare="background"),
    flag("openapi-patch", "bool", True),
)


async def apply(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl apply ARGV`. Every object that can be applied is, whatever happens
    to the rest.
    """
    p = parse(argv, FLAGS, "apply", session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    query = _query(p, dry_run)
    printer = Printer(p, dry_run)
    _validate(p, dry_run)
    errs: list[CommandError | StatusError] = []
    done: list[Object] = []
    infos = await visit_by_paths(
        session, p, validate=validation_directive(p) != "Ignore"
    )
    unread = {str(info): info for info in infos if isinstance(info, CommandError)}
    for info in infos:
        if isinstance(info, CommandError):
            continue
        try:
            obj, operation = await _apply_one(info, p, dry_run, query, session)
        except (CommandError, StatusError) as error:
            errs.append(error)
            continue
        if operation != "created":
            _warn_if_deleting(obj, session)
        if not printer.whole:
            session.print(printer.text(in_key_order(obj), operation))
        done.append(in_key_order(obj))
    if unread and errs:  # beside others, these are one complaint
        errs.insert(0, CommandError(aggregate([*unread])))
    if unread or errs:
        raise several(errs or list(unread.values()))
    if not infos:
        raise CommandError("no objects passed to apply")
    if printer.whole:
        listed = {"kind": "List", "apiVersion": "v1", "metadata": {}, "items": done}
        session.print(printer.text(done[0] if len(done) == 1 else listed, ""))


def _validate(p: Parsed, dry_run: str) -> None:
    if p["force"] and p["server-side"]:
        raise CommandError("--force cannot be used with --server-side")
    if dry_run == "client" and p["server-side"]:
        raise CommandError(
            "--dry-run=client doesn't work with --server-side (did you mean"
            " --dry-run=server instead?)"
        )
    if p["force-conflicts"] and not p["server-side"]:
        raise CommandError("--force-conflicts only works with --server-side")
    if p["subresource"] and not p["server-side"]:
        raise CommandError("--subresource can only be specified for --server-side")
    if p["prune"] and not p["all"] and not p["selector"]:
        raise CommandError(
            "all resources selected for prune without explicitly passing --all. To"
            " prune all resources, pass the --all flag. If you did not mean to prune"
            " all resources, specify a label selector"
        )
    if p["prune"]:
        raise CommandError("--prune is not built into this kubectl")
    if p.args and p.args[0] in (
        "edit-last-applied",
        "set-last-applied",
        "view-last-applied",
    ):
        raise CommandError(f"apply {p.args[0]} is not built into this kubectl")
    if p.args:
        raise UsageError(f"Unexpected args: [{' '.join(p.args)}]", "apply")
    if p["force"] and dry_run == "server":
        raise CommandError("--dry-run=server cannot be used with --force")
    if not p["filename"] and not p["kustomize"]:
        raise CommandError("must specify one of -f and -k")


def _query(p: Parsed, dry_run: str) -> dict[str, str]:
    return {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": (
            p["field-manager"]
            if "field-manager" in p.changed or not p["server-side"]
            else SERVER_SIDE
        ),
        "fieldValidation": validation_directive(p),
    }


async def _apply_one(
    info: Info, p: Parsed, dry_run: str, query: dict[str, str], session: Session
) -> tuple[Object, str]:
    obj = record(info.obj, "apply", p)
    info = Info(info.resource, obj, info.source, p["subresource"])
    if not info.name:
        if (obj.get("metadata") or {}).get("generateName"):
            raise CommandError(
                f"from {obj['metadata']['generateName']}: cannot use generate name with"
                " apply"
            )
        nameless = "resource name may not be empty"
        raise CommandError(
            nameless if p["server-side"] else f"{_retrieving(info)}: {nameless}"
        )
    if p["server-side"]:
        return await _server_side(info, p, query, session), "serverside-applied"
    return await _client_side(info, dry_run, query, session)


def _retrieving(info: Info) -> str:
    """The long way of saying which object it was."""
    resource = info.resource
    version = f"{resource.group}/{resource.version}"
    return (
        "error when retrieving current configuration of:\nResource:"
        f" {go_quote(f'{version}, Resource={resource.plural}')}, GroupVersionKind:"
        f" {go_quote(f'{version}, Kind={resource.kind}')}\nName: {go_quote(info.name)},"
        f" Namespace: {go_quote(info.namespace)}\nfrom server for:"
        f" {go_quote(info.source)}"
    )


async def _server_side(
    info: Info, p: Parsed, query: dict[str, str], session: Session
) -> Object:
    query = {**query, "force": "true" if p["force-conflicts"] else "false"}
    try:
        return await apply_and_migrate(info, in_key_order(info.obj), query, session)
    except StatusError as error:
        if error.code != 409:
            raise
        raise CommandError(
            f"{error.message}\nPlease review the fields above--they currently have"
            " other managers. Here\n"
            "are the ways you can resolve this warning:\n"
            "* If you intend to manage all of these fields, please re-run the apply\n "
            " command with the `--force-conflicts` flag.\n"
            "* If you do not intend to manage all of the fields, please edit your\n"
            "  manifest to remove references to the fields that should keep their\n "
            " current managers.\n"
            "* You may co-own fields by updating your manifest to match the existing\n"
            "  value; in this case, you'll become the manager if the other manager(s)\n"
            "  stop managing the field (remove it from their configuration).\n"
            "See https://kubernetes.io/docs/reference/using-api/server-side-apply/#conflicts"
        ) from None


def _warn_if_deleting(obj: Object, session: Session) -> None:
    if obj["metadata"].get("deletionTimestamp"):
        session.warn(
            f"Warning: Detected changes to resource {obj['metadata']['name']} which is"
            " currently being deleted.\n"
        )


async def _client_side(
    info: Info, dry_run: str, query: dict[str, str], session: Session
) -> tuple[Object, str]:
    modified = in_key_order(modified_configuration(info.obj))
    try:
        current = await session.client.get(info.resource, info.name, info.namespace)
    except StatusError as error:
        if error.code != 404:
            message = f"{_retrieving(info)}: {error.message}"
            raise StatusError({**error.status, "message": message}) from None
        return await _created(info, modified, dry_run, query, session), "created"
    if LAST_APPLIED not in (current["metadata"].get("annotations") or {}):
        session.warn(_NO_ANNOTATION.format(info.resource.plural, info.name))
    try:
        schema: Schema | None = schema_for(info.obj["apiVersion"], info.obj["kind"])
    except KeyError:
        schema = None
    if dry_run == "client":
        patch = _patch_for(current, modified, schema)
        if not patch:
            return current, "unchanged"
        local = (
            apply_merge_patch(current, patch)
            if schema is None
            else strategic_merge_patch(current, patch, schema)
        )
        return local, "configured"
    return await _patched(info, modified, current, schema, query, session)


async def _patched(
    info: Info,
    modified: Object,
    current: Object,
    schema: Schema | None,
    query: dict[str, str],
    session: Session,
) -> tuple[Object, str]:
    """Ask until nobody else was faster, and not too often. Raises StatusError."""
    content_type = MERGE_PATCH if schema is None else STRATEGIC_MERGE_PATCH
    for attempt in range(MAX_PATCH_RETRY + 1):
        if attempt > TRIES_BEFORE_BACK_OFF:
            await asyncio.sleep(BACK_OFF_PERIOD)
        if attempt:
            with _saying(info, ""):
                current = await session.client.get(
                    info.resource, info.name, info.namespace
                )
        patch = _patch_for(current, modified, schema)
        if not patch:
            return current, "unchanged"
        with (
            _saying(info, marshal(in_key_order(patch))),
            add_source_to_err(info.source, "patching"),
        ):
            try:
                answer = await session.send(
                    "PATCH", info.path, query, patch, content_type
                )
            except StatusError as error:
                if error.code != 409 or attempt == MAX_PATCH_RETRY:
                    raise
            else:
                return answer, "configured"
    raise AssertionError("the last attempt returns or raises")


def _patch_for(current: Object, modified: Object, schema: Schema | None) -> Object:
    last = (current["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    return three_way_merge_patch(
        fast_json.loads(last) if last else {}, modified, current, schema
    )


@contextmanager
def _saying(info: Info, patch: str) -> Iterator[None]:
    """What the server refuses is said with the object and the patch, if there is one
    yet.
    """
    about = (
        _retrieving(info).partition("\n")[2].replace("\nfrom server for: ", "\nfor: ")
    )
    try:
        yield
    except StatusError as error:
        message = f"error when applying patch:\n{patch}\nto:\n{about}: {error.message}"
        raise StatusError({**error.status, "message": message}) from None


async def _created(
    info: Info, modified: Object, dry_run: str, query: dict[str, str], session: Session
) -> Object:
    modified = _without_nulls(modified)
    if dry_run == "client":
        return modified
    with add_source_to_err(info.source, "creating"):
        return await session.send(
            "POST", info.resource.path(info.namespace), query, modified
        )


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: _without_nulls(item) for key, item in value.items() if item is not None
        }
    return (
        [_without_nulls(item) for item in value] if isinstance(value, list) else value
    )


_NO_ANNOTATION = (
    "Warning: resource {}/{} is missing the"
    " kubectl.kubernetes.io/last-applied-configuration annotation which is required by"
    " kubectl apply. kubectl apply should only be used on resources created"
    " declaratively by either kubectl create --save-config or kubectl apply. The"
    " missing annotation will be patched automatically.\n"
)
