"""`kubectl taint nodes NAME KEY=VALUE:EFFECT KEY:EFFECT-`: set taints and remove them.

Upstream: `kubectl/pkg/cmd/taint/taint.go` (`Complete`, `Validate`, `RunTaint`),
`utils.go` (`parseTaints`, `reorganizeTaints`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.api.validation.content import label_value, qualified_name
from lifecycle.client.rest import STRATEGIC_MERGE_PATCH
from lifecycle.kubectl.failures import (
    CommandError,
    NoMatchError,
    NoResourceError,
    UsageError,
    several,
)
from lifecycle.kubectl.flags import (
    DRY_RUN,
    PRINT,
    SELECTOR,
    VALIDATE,
    Parsed,
    dry_run_strategy,
    flag,
    parse,
    validation_directive,
)
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import Info, visit

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
FLAGS = (
    *PRINT,
    DRY_RUN,
    VALIDATE,
    SELECTOR,
    flag("overwrite", "bool"),
    flag("all", "bool"),
    flag("field-manager", default="kubectl-taint"),
)


class Taint(NamedTuple):
    """One taint of the command line; without an effect, all of its key."""

    key: str
    value: str = ""
    effect: str = ""

    def __str__(self) -> str:
        text = f"{self.key}={self.value}" if self.value else self.key
        return f"{text}:{self.effect}" if self.effect else text

    def matches(self, taint: Object) -> bool:
        """Key and effect say which taint it is; the value does not."""
        return self.key == taint["key"] and self.effect in ("", taint["effect"])


async def taint(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl taint ARGV`."""
    p = parse(argv, FLAGS, "taint", session.warn)
    dry_run = dry_run_strategy(p, session.warn)
    resources, specs = _split(p.args)
    try:
        to_add, to_remove = parse_taints(specs)
    except CommandError as error:
        raise UsageError(str(error), "taint") from None
    await _validate(p, resources, to_add, to_remove, session)
    names = [] if p["all"] or p["selector"] else [f"nodes/{n}" for n in resources[1:]]
    errs: list[CommandError | StatusError] = []
    printer: Printer | None = None
    async for info in visit(session, p, names or ["nodes"], every=p["all"]):
        try:
            if not isinstance(info, Info):
                raise info
            operation, taints = update_taints(
                info.obj, to_add, to_remove, overwrite=p["overwrite"]
            )
            printer = printer or Printer(p)
            changed = await _changed(info, taints, p, dry_run, session)
        except (CommandError, StatusError) as error:
            errs.append(error)
            continue
        session.print(printer.text(in_key_order(changed), operation))
    if errs:
        raise several(errs)


def _split(args: Sequence[str]) -> tuple[list[str], list[str]]:
    """(what names nodes, taints). Raises CommandError."""
    resources: list[str] = []
    specs: list[str] = []
    for arg in args:
        if "=" in arg or ":" in arg or arg.endswith("-"):
            specs.append(arg)
        elif specs:
            raise CommandError(
                f"all resources must be specified before taint changes: {arg}"
            )
        else:
            resources.append(arg)
    if not resources:
        raise CommandError(
            "one or more resources must be specified as <resource> <name>"
        )
    if not specs:
        raise CommandError("at least one taint update is required")
    return resources, specs


async def _validate(
    p: Parsed,
    resources: Sequence[str],
    to_add: Sequence[Taint],
    to_remove: Sequence[Taint],
    session: Session,
) -> None:
    typed = resources[0].lower()
    try:
        kind = (await session.resource_for(typed)).kind
    except NoMatchError:
        raise NoResourceError(
            f'the server doesn\'t have a resource type "{typed}"'
        ) from None
    if kind != "Node":
        raise CommandError(
            f"invalid resource type {typed}, only node types are supported"
        )
    conflicts = [
        f"{remove.key}={remove.effect}"
        for add in to_add
        for remove in to_remove
        if add.key == remove.key and remove.effect in ("", add.effect)
    ]
    if conflicts:
        raise CommandError(
            "can not both modify and remove the following taint(s) in the same command:"
            f" {', '.join(conflicts)}"
        )
    if p["all"] and p["selector"]:
        raise CommandError(
            "setting 'all' parameter with a non empty selector is prohibited"
        )
    if not p["all"] and not p["selector"] and len(resources) < 2:
        raise CommandError(
            "at least one resource name must be specified since 'all' parameter is not"
            " set"
        )
    validation_directive(p)


def parse_taints(specs: Sequence[str]) -> tuple[list[Taint], list[Taint]]:
    """(taints to add, taints to remove). Raises CommandError."""
    to_add: list[Taint] = []
    to_remove: list[Taint] = []
    for spec in specs:
        if spec.endswith("-"):
            to_remove.append(parse_taint(spec[:-1])._replace(value=""))
            continue
        each = parse_taint(spec)
        if not each.effect:
            raise CommandError(f"invalid taint spec: {spec}")
        if any((each.key, each.effect) == (t.key, t.effect) for t in to_add):
            raise CommandError(
                "duplicated taints with the same key and effect:"
                f" {{{each.key} {each.value} {each.effect} <nil>}}"
            )
        to_add.append(each)
    return to_add, to_remove


def parse_taint(text: str) -> Taint:
    """`KEY=VALUE:EFFECT`, `KEY:EFFECT` or `KEY`. Raises CommandError."""
    before, *effects = text.split(":")
    pair = before.split("=") if effects else [before]
    if len(effects) > 1:
        raise CommandError(f"invalid taint spec: {text}")
    if effects and effects[0] not in EFFECTS:
        raise CommandError(
            f"invalid taint effect: {effects[0]}, unsupported taint effect"
        )
    if len(pair) > 2:
        raise CommandError(f"invalid taint spec: {text}")
    key, value = pair[0], "".join(pair[1:])
    errs = label_value(value) or qualified_name(key)
    if errs:
        raise CommandError(f"invalid taint spec: {text}, {'; '.join(errs)}")
    return Taint(key, value, "".join(effects))


def update_taints(
    node: Object,
    to_add: Sequence[Taint],
    to_remove: Sequence[Taint],
    *,
    overwrite: bool = False,
) -> tuple[str, list[Object]]:
    """(what to call the change, the node's taints afterwards). Raises CommandError for
    what is there already and may not be overwritten, and for what is not there.
    """
    old = list(node["spec"].get("taints") or ())
    taken = [add.key for add in to_add if any(map(add.matches, old))]
    if taken and not overwrite:
        raise CommandError(
            f"node {node['metadata']['name']} already has {','.join(taken)} taint(s)"
            " with same effect(s) and --overwrite is false"
        )
    taints: list[Object] = [_as_object(add) for add in to_add]
    taints += [each for each in old if not any(add.matches(each) for add in to_add)]
    added, deleted = len(taints) != len(old), False
    errs: list[CommandError | StatusError] = []
    for remove in to_remove:
        left = [each for each in taints if not remove.matches(each)]
        deleted = len(left) != len(taints)
        taints = left
        if not deleted:
            errs.append(CommandError(f'taint "{remove}" not found'))
    if errs:
        raise several(errs)
    if overwrite or (added and deleted):
        return "modified", taints
    return ("tainted" if added else "untainted"), taints


def _as_object(each: Taint) -> Object:
    return {name: text for name, text in each._asdict().items() if text}


async def _changed(
    info: Info, taints: list[Object], p: Parsed, dry_run: str, session: Session
) -> Object:
    """The node afterwards, as the server has it or as it would be."""
    if dry_run == "client":
        return {**info.obj, "spec": {**info.obj["spec"], "taints": taints}}
    patch = (
        {"spec": {"taints": taints or None}}
        if taints != info.obj["spec"].get("taints")
        else {}
    )
    query = {
        "dryRun": "All" if dry_run == "server" else "",
        "fieldManager": p["field-manager"],
    }
    return await session.send("PATCH", info.path, query, patch, STRATEGIC_MERGE_PATCH)
