"""`kubectl get`: the server prints the tables; kubectl only aligns them.

Upstream: `kubectl/pkg/cmd/get/get.go` (`GetOptions.Run`), `table_printer.go`,
`cli-runtime/pkg/printers/tableprinter.go` (`decorateTable`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.get_watch import watch_objects, watch_tables
from lifecycle.kubectl.commands.raw import check_path
from lifecycle.kubectl.failures import (
    CommandError,
    PartlyPrinted,
    SeveralFailures,
    UsageError,
    message_for,
)
from lifecycle.kubectl.flags import ALL_NAMESPACES, PRINT, SELECTOR, Parsed, flag, parse
from lifecycle.kubectl.printers import (
    GET_FORMATS,
    object_printer,
    qualified_name,
    render_table,
    unknown_format,
)
from lifecycle.kubectl.printing.custom_columns import sort_objects, sort_rows
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.printing.label_columns import with_label_columns
from lifecycle.kubectl.printing.plain_table import plain_table
from lifecycle.kubectl.printing.templates import Render, columns_printer
from lifecycle.kubectl.resource_args import check_form, check_no_names
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import FILES, list_refused, paths_and, visit_by_paths

FLAGS = (
    *PRINT,
    *FILES,
    ALL_NAMESPACES,
    SELECTOR,
    flag("field-selector"),
    flag("no-headers", "bool"),
    flag("ignore-not-found", "bool"),
    flag("show-kind", "bool"),
    flag("show-labels", "bool"),
    flag("label-columns", "slice", short="L"),
    flag("sort-by"),
    flag("chunk-size", "int64", 500),
    flag("watch", "bool", short="w"),
    flag("watch-only", "bool"),
    flag("raw"),
    flag("server-print", "bool", True),
    flag("subresource"),
    flag("output-watch-events", "bool"),
)
NO_TYPE = (
    'Required resource not specified.\nUse "kubectl explain <resource>" for a detailed'
    " description of that resource (e.g. kubectl explain pods)."
)


@dataclass(slots=True, frozen=True)
class Target:
    """One GET: an object, or all objects of a type if `name` is empty. `namespace` is
    empty for all.
    """

    resource: Resource
    name: str
    namespace: str
    subresource: str = ""

    @property
    def path(self) -> str:
        """The URL."""
        return self.resource.path(self.namespace, self.name, self.subresource)


async def get(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl get ARGV`."""
    p = parse(argv, FLAGS, "get")
    _validate(p)
    if p["raw"]:
        session.print((await session.raw("GET", p["raw"])).decode())
        return
    if not p.args and not p["filename"] and not p["kustomize"]:
        session.warn(
            'You must specify the type of resource to get. Use "kubectl api-resources"'
            " for a complete list of supported resources.\n\n"
        )
        raise UsageError(NO_TYPE, "get")
    targets = await _targets(p, session)
    if p["watch"] or p["watch-only"]:
        await _watch(targets, p, session)
    elif _as_tables(p):
        await _tables(targets, p, session)
    else:
        await _objects(targets, p, session)


def _printer(p: Parsed) -> Render | None:
    """What prints objects; None if only their names are wanted. Raises CommandError for
    an unknown format or a bad template.
    """
    once = bool(p["watch"] or p["watch-only"])
    render = object_printer(p) or columns_printer(
        p["output"], p["template"], headers=not p["no-headers"], once=once
    )
    if render is None and p["output"].lower() != "name":
        raise unknown_format(p["output"], GET_FORMATS)
    return render


def _validate(p: Parsed) -> None:
    if p["raw"]:
        if p.args:
            raise CommandError("arguments may not be passed when --raw is specified")
        if p["watch"] or p["watch-only"] or p["selector"]:
            message = (
                "--raw may not be specified with other flags that filter the server"
                " request or alter the output"
            )
            raise CommandError(message)
        if p["output"]:
            raise CommandError("--raw and --output are mutually exclusive")
        check_path(p["raw"])
    if p["show-labels"] and p["output"] not in ("", "wide"):
        raise CommandError(
            f"--show-labels option cannot be used with {p['output']} printer"
        )
    if p["output-watch-events"] and not (p["watch"] or p["watch-only"]):
        raise CommandError(
            "--output-watch-events option can only be used with --watch or --watch-only"
        )


async def _targets(p: Parsed, session: Session) -> list[Target]:
    targets = []
    check_form(p.args)
    if (p["filename"] or p["kustomize"]) and p.args:
        raise paths_and(p.args)
    for each in (
        await visit_by_paths(session, p) if p["filename"] or p["kustomize"] else ()
    ):
        if isinstance(each, CommandError):
            raise SeveralFailures([each])
        targets.append(Target(each.resource, each.name, each.namespace))
    if not p.args:
        return targets
    if p["selector"] or p["field-selector"]:
        check_no_names(p.args)
    for target in await session.targets(p.args):
        if target.name and p["all-namespaces"] and target.resource.namespaced:
            raise CommandError(
                "a resource cannot be retrieved by name across all namespaces"
            )
        if p["subresource"] and not target.name:
            raise CommandError(
                "subresource cannot be used when bulk resources are specified"
            )
        namespace = "" if p["all-namespaces"] else session.namespace
        targets.append(
            Target(target.resource, target.name, namespace, p["subresource"])
        )
    return targets


def _query(p: Parsed) -> dict[str, str]:
    chunk = p["chunk-size"] if not p["sort-by"] else 0
    selectors = {"labelSelector": p["selector"], "fieldSelector": p["field-selector"]}
    return {**selectors, "limit": str(chunk) if chunk else ""}


class _Refusals:
    """What the server refused; the rest is printed first."""

    def __init__(self, ignore_not_found: bool) -> None:
        self._ignore = ignore_not_found
        self.all: list[StatusError] = []

    def note(self, refused: StatusError) -> None:
        if not (refused.code == 404 and self._ignore):
            self.all.append(refused)

    def tell(self, session: Session) -> None:
        """Raise the last; print those before it."""
        errs: list[str] = []
        for refused in self.all[:-1]:
            if message_for(refused) not in errs:
                errs.append(message_for(refused))
                session.warn(errs[-1] + "\n")
        if self.all and message_for(self.all[-1]) not in errs:
            raise self.all[-1]
        if self.all:
            raise SilentFailure


class SilentFailure(CommandError):
    """All has been said."""


async def _tables(targets: list[Target], p: Parsed, session: Session) -> None:
    by_resource: dict[Resource, list[Object]] = {}
    refusals = _Refusals(p["ignore-not-found"])
    answered: set[Resource] = set()
    whole = {"includeObject": "Object"} if p["sort-by"] else {}
    for each in targets:
        try:
            query = {**whole, **(_query(p) if not each.name else {})}
            async for table in _pages(each.path, query, session, p["server-print"]):
                if table.get("rows"):
                    by_resource.setdefault(each.resource, []).append(table)
        except StatusError as error:
            error = (
                error if each.name else list_refused(error, each.resource, _query(p))
            )
            refusals.note(
                await session.rather_the_namespace(
                    error, each.namespace if each.name else ""
                )
            )
            continue
        answered.add(each.resource)
    several = len(answered) > 1
    if p["sort-by"] and several:  # then it is the tables themselves that are looked at
        sort_objects(
            [table for tables in by_resource.values() for table in tables], p["sort-by"]
        )
    texts = []
    for resource, tables in by_resource.items():
        prefix = (
            (
                f"{resource.singular}.{resource.group}"
                if resource.group
                else resource.singular
            )
            if several or p["show-kind"]
            else ""
        )
        if p["sort-by"] and not (tables := _sorted_rows(tables, p["sort-by"])):
            continue
        tables = [
            with_label_columns(table, p["label-columns"], p["show-labels"])
            for table in tables
        ]
        namespaced = p["all-namespaces"] and resource.namespaced
        texts.append(
            render_table(
                tables,
                wide=p["output"] == "wide",
                no_headers=p["no-headers"],
                kind=prefix,
                namespaced=namespaced,
            )
        )
    if texts:
        session.print(("" if p["no-headers"] else "\n").join(texts))
    elif not refusals.all and not p["ignore-not-found"]:
        inside = not p["all-namespaces"] and all(
            each.resource.namespaced for each in targets
        )
        session.warn(
            f"No resources found in {session.namespace} namespace.\n"
            if inside
            else "No resources found\n"
        )
    refusals.tell(session)


async def _pages(
    path: str, query: dict[str, str], session: Session, server_print: bool
) -> Any:
    """The tables of a list, page by page."""
    while True:
        answer = (
            await session.table(path, query)
            if server_print
            else await session.send("GET", path, query)
        )
        table = answer if answer.get("kind") == "Table" else plain_table(answer)
        yield table
        token = (table.get("metadata") or {}).get("continue")
        if not token:
            return
        query = {**query, "continue": token}


def _sorted_rows(tables: list[Object], field: str) -> list[Object]:
    """One table with all rows in order. A field that no row has leaves none of them, as
    in the real kubectl, which says nothing of it.
    """
    rows = [row for table in tables for row in table["rows"]]
    try:
        return [{**tables[0], "rows": sort_rows(rows, field)}]
    except CommandError:
        return []


async def _watch(targets: list[Target], p: Parsed, session: Session) -> None:
    if len(targets) != 1:
        raise CommandError("you may only specify a single resource type")
    for flag_name in ("watch", "watch-only"):
        if p[flag_name] and p["sort-by"]:
            rest = " for watch events received" if flag_name == "watch" else ""
            session.warn(
                f"warning: --{flag_name} requested, --sort-by will be ignored{rest}\n"
            )
            break
    [target] = targets
    what = (target.resource, target.namespace, target.name)
    selectors = {key: value for key, value in _query(p).items() if key != "limit"}
    if _as_tables(p):
        await watch_tables(*what, selectors, p, session)
    else:
        await watch_objects(*what, selectors, p, _printer(p), session)


def _as_tables(p: Parsed) -> bool:
    return bool(p["output"] == "wide" or not (p["output"] or p["template"]))


async def _objects(targets: list[Target], p: Parsed, session: Session) -> None:
    items: list[Object] = []
    refusals = _Refusals(p["ignore-not-found"])
    for each in targets:
        try:
            if each.name:
                items.append(await session.get(each.path, each.namespace))
                continue
            query = _query(p)
            while True:
                answer = await session.send("GET", each.path, query)
                kind = {
                    "apiVersion": each.resource.api_version,
                    "kind": each.resource.kind,
                }
                items += [{**kind, **item} for item in answer.get("items") or ()]
                query["continue"] = (answer.get("metadata") or {}).get("continue", "")
                if not query["continue"]:
                    break
        except StatusError as error:
            refusals.note(
                error if each.name else list_refused(error, each.resource, _query(p))
            )
    alone = len(targets) == 1 and bool(targets[0].name)
    if not items and (alone or p["ignore-not-found"]):
        refusals.tell(session)
        return
    render = _printer(p)
    try:
        if p["sort-by"] and not alone:
            items = sort_objects(items, p["sort-by"])
        if render is None:
            session.print("".join(f"{qualified_name(item)}\n" for item in items))
        else:
            session.print(render(in_key_order(items[0] if alone else _list(items))))
    except CommandError as error:
        if not refusals.all:
            raise
        session.print(error.text if isinstance(error, PartlyPrinted) else "")
        raise SeveralFailures([*refusals.all, error]) from None
    refusals.tell(session)


def _list(items: list[Object]) -> Object:
    return {
        "apiVersion": "v1",
        "items": items,
        "kind": "List",
        "metadata": {"resourceVersion": ""},
    }
