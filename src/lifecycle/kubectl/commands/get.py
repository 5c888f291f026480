"""`kubectl get`: the server prints the tables; kubectl only aligns them.

Upstream: `kubectl/pkg/cmd/get/get.go` (`GetOptions.Run`), `table_printer.go`, `cli-runtime/pkg/printers/tableprinter.go` (`decorateTable`),
v1.36.2. Left out: `--watch` of anything but tables, `--output-watch-events`, `--subresource`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object, Request
from lifecycle.kubectl.discovery.discovery_client import document_of
from lifecycle.kubectl.failures import CommandError, UsageError, message_for
from lifecycle.kubectl.flags import OUTPUT, Parsed, flag, parse
from lifecycle.kubectl.printers import (
    GET_FORMATS,
    render_table,
    to_json,
    to_yaml,
    unknown_format,
    without_managed_fields,
)
from lifecycle.kubectl.printing import templates
from lifecycle.kubectl.printing.custom_columns import sort_objects
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.printing.label_columns import with_label_columns
from lifecycle.kubectl.resource_args import load_files
from lifecycle.kubectl.session import Session

FLAGS = (
    OUTPUT,
    flag("selector", short="l"),
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
    flag("filename", "slice", short="f"),
    flag("raw"),
)
NO_TYPE = (
    'Required resource not specified.\nUse "kubectl explain <resource>" for a detailed description of that resource '
    "(e.g. kubectl explain pods)."
)


@dataclass(slots=True, frozen=True)
class Asked:
    """One GET: an object, or all objects of a type if `name` is empty. `namespace` is empty for all."""

    resource: Resource
    name: str
    namespace: str

    @property
    def path(self) -> str:
        """The URL."""
        return self.resource.path(self.namespace, self.name)


async def get(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl get ARGV`."""
    p = parse(argv, FLAGS, "get")
    if p["raw"]:
        await _raw(p["raw"], session)
        return
    if not p.args and not p["filename"]:
        session.warn(
            'You must specify the type of resource to get. Use "kubectl api-resources" for a complete list of supported resources.\n\n'
        )
        raise UsageError(NO_TYPE, "get")
    output = p["output"]
    if output not in ("", "wide", "name", "json", "yaml") and not templates.check(output, columns=True):
        raise unknown_format(output, GET_FORMATS)
    asked = await _asked(p, session)
    if p["watch"] or p["watch-only"]:
        await _watch(asked, p, session)
    elif output in ("", "wide"):
        await _tables(asked, p, session)
    else:
        await _objects(asked, p, session)


async def _raw(path: str, session: Session) -> None:
    """What the server sends for a path, as it is."""
    url, _, query = path.partition("?")
    wanted: dict[str, list[str]] = {}
    for pair in query.split("&") if query else ():
        name, _, value = pair.partition("=")
        wanted.setdefault(name, []).append(value)
    request = Request(
        method="GET", path=url, query=wanted, headers={**session.client.headers, "accept": "application/json, */*"}
    )
    response = await session.client.transport.round_trip(request)
    if response.status >= 400:
        raise StatusError(document_of(response))
    session.print((response.body if response.body is not None else orjson.dumps(response.obj)).decode())


async def _asked(p: Parsed, session: Session) -> list[Asked]:
    found = []
    for obj in load_files(p["filename"]) if p["filename"] else ():
        resource = await session.resource_for_kind(obj["apiVersion"], obj["kind"])
        metadata = obj.get("metadata") or {}
        found.append(Asked(resource, metadata.get("name", ""), metadata.get("namespace") or session.namespace))
    if not p.args:
        return found
    for target in await session.targets(p.args):
        if target.name and p["all-namespaces"]:
            raise CommandError("a resource cannot be retrieved by name across all namespaces")
        found.append(Asked(target.resource, target.name, "" if p["all-namespaces"] else session.namespace))
    return found


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
        told: list[str] = []
        for refused in self.all[:-1]:
            if message_for(refused) not in told:
                told.append(message_for(refused))
                session.warn(told[-1] + "\n")
        if self.all and message_for(self.all[-1]) not in told:
            raise self.all[-1]
        if self.all:
            raise SilentFailure


class SilentFailure(CommandError):
    """All has been said."""


async def _tables(asked: list[Asked], p: Parsed, session: Session) -> None:
    by_resource: dict[Resource, list[Object]] = {}
    refusals = _Refusals(p["ignore-not-found"])
    whole = {"includeObject": "Object"} if p["sort-by"] else {}
    for each in asked:
        try:
            query = {**whole, **(_query(p) if not each.name else {})}
            async for table in _pages(each.path, query, session):
                if table.get("rows"):
                    by_resource.setdefault(each.resource, []).append(table)
        except StatusError as refused:
            refusals.note(await session.rather_the_namespace(refused, each.namespace if each.name else ""))
    several = len({each.resource for each in asked}) > 1
    if p["sort-by"] and several:  # then it is the tables themselves that are looked at
        sort_objects([table for tables in by_resource.values() for table in tables], p["sort-by"])
    texts = []
    for resource, tables in by_resource.items():
        prefix = (
            (f"{resource.singular}.{resource.group}" if resource.group else resource.singular)
            if several or p["show-kind"]
            else ""
        )
        if p["sort-by"] and not (tables := _sorted_rows(tables, p["sort-by"])):
            continue
        tables = [with_label_columns(table, p["label-columns"], p["show-labels"]) for table in tables]
        namespaced = p["all-namespaces"] and resource.namespaced
        texts.append(
            render_table(
                tables, wide=p["output"] == "wide", no_headers=p["no-headers"], kind=prefix, namespaced=namespaced
            )
        )
    if texts:
        session.print("\n".join(texts))
    elif not refusals.all and not p["ignore-not-found"]:
        inside = not p["all-namespaces"] and all(each.resource.namespaced for each in asked)
        session.warn(f"No resources found in {session.namespace} namespace.\n" if inside else "No resources found\n")
    refusals.tell(session)


async def _pages(path: str, query: dict[str, str], session: Session) -> Any:
    """The tables of a list, page by page."""
    while True:
        table = await session.table(path, query)
        yield table
        token = (table.get("metadata") or {}).get("continue")
        if not token:
            return
        query = {**query, "continue": token}


def _sorted_rows(tables: list[Object], field: str) -> list[Object]:
    """One table with all rows in order. A field that no row has leaves none of them, as in the real kubectl, which says nothing of it."""
    rows = [row for table in tables for row in table["rows"]]
    try:
        return [{**tables[0], "rows": sort_objects(rows, field, lambda row: row.get("object") or {})}]
    except CommandError:
        return []


async def _watch(found: list[Asked], p: Parsed, session: Session) -> None:
    """The table, then a row for every change, until the server ends the watch."""
    if len(found) != 1:
        raise CommandError("you may only specify a single resource type")
    if p["output"] not in ("", "wide"):
        raise CommandError("only tables can be watched by this kubectl")
    [target] = found
    selectors = {key: value for key, value in _query(p).items() if key != "limit"}
    first = await session.table(target.path, selectors if not target.name else {})
    decorated = with_label_columns(first, p["label-columns"], p["show-labels"])
    widths: list[int] = []
    headers = not p["no-headers"]

    def show(table: Object) -> None:
        nonlocal headers
        if table.get("rows"):
            namespaced = p["all-namespaces"] and target.resource.namespaced
            wide = p["output"] == "wide"
            first_row = with_label_columns(table, p["label-columns"], p["show-labels"])
            text = render_table(
                [first_row],
                wide=wide,
                no_headers=not headers,
                namespaced=namespaced,
                columns_of=decorated,
                remembered=widths,
            )
            session.print(text)
            headers = False

    if not p["watch-only"]:
        show(first)
    selector = {"fieldSelector": f"metadata.name={target.name}"} if target.name else selectors
    path = target.resource.path(target.namespace)
    async for table in session.watch_tables(
        path, {**selector, "resourceVersion": first["metadata"]["resourceVersion"]}
    ):
        show(table)


async def _objects(asked: list[Asked], p: Parsed, session: Session) -> None:
    items: list[Object] = []
    refusals = _Refusals(p["ignore-not-found"])
    for each in asked:
        try:
            if each.name:
                items.append(await session.get_named(each.path, each.namespace))
                continue
            query = _query(p)
            while True:
                answer = await session.send("GET", each.path, query)
                kind = {"apiVersion": each.resource.api_version, "kind": each.resource.kind}
                items += [{**kind, **item} for item in answer.get("items") or ()]
                query["continue"] = (answer.get("metadata") or {}).get("continue", "")
                if not query["continue"]:
                    break
        except StatusError as refused:
            refusals.note(refused)
    alone = len(asked) == 1 and bool(asked[0].name)
    if p["sort-by"]:
        items = sort_objects(items, p["sort-by"])
    if p["output"] == "name":
        for item in items:
            group = item["apiVersion"].rpartition("/")[0]
            session.print(f"{item['kind'].lower()}{'.' + group if group else ''}/{item['metadata']['name']}\n")
    elif not (alone and not items):
        shown = items[0] if alone else _list(items)
        if not p["show-managed-fields"]:
            shown = without_managed_fields(shown)
        session.print(_text(shown, p))
    refusals.tell(session)


def _list(items: list[Object]) -> Object:
    return {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}


def _text(shown: Object, p: Parsed) -> str:
    if p["output"] == "yaml":
        return to_yaml(shown)
    if p["output"] == "json":
        return to_json(in_key_order(shown))
    return templates.render(shown, p["output"], no_headers=p["no-headers"]) or ""
