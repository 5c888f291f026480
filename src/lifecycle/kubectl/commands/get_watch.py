"""`kubectl get --watch`: what there is, and then what becomes of it, until the server
ends the watch.

Rows go on below the table with its columns; other formats print one object after
another. `--output-watch-events` says of each whether it was added, changed or deleted.

Upstream: `kubectl/pkg/cmd/get/get.go` (`GetOptions.watch`),
`cli-runtime/pkg/printers/tableprinter.go` (`addWatchEvents`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.api.go.json.encode import marshal
from lifecycle.api.go.yaml import to_yaml
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import Parsed
from lifecycle.kubectl.printers import qualified_name, render_table
from lifecycle.kubectl.printing.custom_columns import sort_rows
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.printing.kyaml import to_kyaml
from lifecycle.kubectl.printing.label_columns import with_label_columns
from lifecycle.kubectl.printing.templates import Render
from lifecycle.kubectl.session import Session


def _narrowed(name: str, selectors: dict[str, str]) -> dict[str, str]:
    return {"fieldSelector": f"metadata.name={name}"} if name else selectors


async def watch_tables(
    resource: Resource,
    namespace: str,
    name: str,
    selectors: dict[str, str],
    p: Parsed,
    session: Session,
) -> None:
    """The table, in the order that `--sort-by` asks for, then a row for every change.
    Raises StatusError, CommandError.
    """
    whole = {"includeObject": "Object"} if p["sort-by"] else {}
    first = await session.table(
        resource.path(namespace, name), {**whole, **({} if name else selectors)}
    )
    widths: list[int] = []
    headers = not p["no-headers"]

    def decorated(table: Object, event: str) -> Object:
        table = with_label_columns(table, p["label-columns"], p["show-labels"])
        return _with_event(table, event) if p["output-watch-events"] else table

    columns = decorated(first, "ADDED")

    def show(table: Object, event: str) -> None:
        nonlocal headers
        if not table.get("rows"):
            return
        if p["sort-by"] and len(table["rows"]) > 1:
            table = _in_order(table, p["sort-by"])
        text = render_table(
            [decorated(table, event)],
            wide=p["output"] == "wide",
            no_headers=not headers,
            namespaced=p["all-namespaces"] and resource.namespaced,
            columns_of=columns,
            remembered=widths,
        )
        session.print_now(text)
        headers = False

    if not p["watch-only"]:
        show(first, "ADDED")
    query = {
        **whole,
        **_narrowed(name, selectors),
        "resourceVersion": first["metadata"]["resourceVersion"],
    }
    async for event, table in session.watch_tables(resource.path(namespace), query):
        show(table, event)


def _in_order(table: Object, field: str) -> Object:
    """A table whose rows are sorted. Raises CommandError, where a list is silent."""
    try:
        return {**table, "rows": sort_rows(table["rows"], field)}
    except CommandError as error:
        raise CommandError(f"unable to output the provided object: {error}") from None


def _with_event(table: Object, event: str) -> Object:
    """The table with a first column that says what happened."""
    return {
        **table,
        "columnDefinitions": [
            {"name": "Event", "type": "string"},
            *(table.get("columnDefinitions") or ()),
        ],
        "rows": [
            {**row, "cells": [f"{event:8}", *row["cells"]]}
            for row in table.get("rows") or ()
        ],
    }


async def watch_objects(
    resource: Resource,
    namespace: str,
    name: str,
    selectors: dict[str, str],
    p: Parsed,
    render: Render | None,
    session: Session,
) -> None:
    """The objects, then every change of one of them; only names without `render`.
    Raises StatusError.
    """
    answer = await session.send(
        "GET", resource.path(namespace, name), {} if name else selectors
    )
    text = _Objects(p, render).text
    kind = {"apiVersion": resource.api_version, "kind": resource.kind}
    items = (
        [answer] if name else [{**kind, **item} for item in answer.get("items") or ()]
    )
    for item in items if not p["watch-only"] else ():
        session.print_now(text(item, "ADDED"))
    chosen = _narrowed(name, selectors)
    frames = await session.client.watch(
        resource,
        namespace,
        resource_version=answer["metadata"].get("resourceVersion", ""),
        label_selector=chosen.get("labelSelector", ""),
        field_selector=chosen.get("fieldSelector", ""),
        bookmarks=False,
    )
    async for frame in frames:
        if frame.type == "ERROR":
            raise StatusError(frame.object)
        session.print_now(text(frame.object, frame.type))


_MARSHAL: dict[str, Callable[[Object], str]] = {
    "json": lambda event: marshal(event) + "\n",
    "yaml": to_yaml,
    "kyaml": to_kyaml,
}


class _Objects:
    """How the objects of a watch are printed: YAML with lines between, events as JSON
    on one line each.
    """

    def __init__(self, p: Parsed, render: Render | None) -> None:
        self._render = render
        self._format = str(p["output"]).lower()
        self._events = bool(p["output-watch-events"])
        self._printed = 0

    def text(self, obj: Object, event: str) -> str:
        """One object, and what happened to it."""
        if self._render is None:
            return f"{qualified_name(obj)}\n"
        self._printed += 1
        separator = "---\n" if self._format == "yaml" and self._printed > 1 else ""
        ordered: Any = in_key_order(obj)
        if not self._events:
            return separator + self._render(ordered)
        watch_event = {"type": event, "object": ordered}
        if self._format in _MARSHAL:  # events are not looked into: managed fields stay
            return separator + _MARSHAL[self._format](watch_event)
        return self._render(watch_event)
