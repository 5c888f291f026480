"""`kubectl get`: the server prints the tables; kubectl only aligns them.

Upstream: `kubectl/pkg/cmd/get/get.go`, `table_printer.go`, v1.36. Left out: `--watch` of anything but tables, `--sort-by`, templates.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flags import OUTPUT, Parsed, flag, parse
from lifecycle.kubectl.printers import (
    GET_FORMATS,
    render_table,
    to_json,
    to_yaml,
    unknown_format,
    without_managed_fields,
)
from lifecycle.kubectl.resource_args import Target, targets
from lifecycle.kubectl.session import Session

FLAGS = (
    OUTPUT,
    flag("selector", short="l"),
    flag("field-selector"),
    flag("no-headers", "bool"),
    flag("ignore-not-found", "bool"),
    flag("show-kind", "bool"),
    flag("chunk-size", "int64", 500),
    flag("watch", "bool", short="w"),
    flag("watch-only", "bool"),
)
NO_TYPE = (
    'Required resource not specified.\nUse "kubectl explain <resource>" for a detailed description of that resource '
    "(e.g. kubectl explain pods)."
)


async def get(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl get ARGV`."""
    p = parse(argv, FLAGS, "get")
    if not p.args:
        session.warn(
            'You must specify the type of resource to get. Use "kubectl api-resources" for a complete list of supported resources.\n\n'
        )
        raise UsageError(NO_TYPE, "get")
    output = p["output"]
    if output not in ("", "wide", "name", "json", "yaml"):
        raise unknown_format(output, GET_FORMATS)
    found = targets(await session.mapper(), p.args)
    if p["watch"] or p["watch-only"]:
        await _watch(found, p, session)
    elif output in ("", "wide"):
        await _tables(found, p, session)
    else:
        await _objects(found, p, session)


def _path(target: Target, p: Parsed, session: Session) -> str:
    namespace = "" if p["all-namespaces"] else session.namespace
    return target.resource.path(namespace, target.name)


def _query(p: Parsed) -> dict[str, str]:
    return {"labelSelector": p["selector"], "fieldSelector": p["field-selector"]}


async def _tables(found: list[Target], p: Parsed, session: Session) -> None:
    by_resource: dict[Resource, list[Object]] = {}
    for target in found:
        table = await session.table(_path(target, p, session), _query(p) if not target.name else {})
        if table.get("rows"):
            by_resource.setdefault(target.resource, []).append(table)
    several = len({target.resource for target in found}) > 1
    texts = []
    for resource, tables in by_resource.items():
        prefix = (
            (f"{resource.singular}.{resource.group}" if resource.group else resource.singular)
            if several or p["show-kind"]
            else ""
        )
        namespaced = p["all-namespaces"] and resource.namespaced
        texts.append(
            render_table(
                tables, wide=p["output"] == "wide", no_headers=p["no-headers"], kind=prefix, namespaced=namespaced
            )
        )
    if texts:
        session.print("\n".join(texts))
    elif not p["ignore-not-found"]:
        inside = not p["all-namespaces"] and all(target.resource.namespaced for target in found)
        session.warn(f"No resources found in {session.namespace} namespace.\n" if inside else "No resources found\n")


async def _watch(found: list[Target], p: Parsed, session: Session) -> None:
    """The table, then a row for every change, until the server ends the watch."""
    if len(found) != 1:
        raise CommandError("you may only specify a single resource type")
    if p["output"] not in ("", "wide"):
        raise CommandError("only tables can be watched by this kubectl")
    [target] = found
    first = await session.table(_path(target, p, session), _query(p) if not target.name else {})
    widths: list[int] = []
    headers = not p["no-headers"]

    def show(table: Object) -> None:
        nonlocal headers
        if table.get("rows"):
            namespaced = p["all-namespaces"] and target.resource.namespaced
            wide = p["output"] == "wide"
            text = render_table(
                [table], wide=wide, no_headers=not headers, namespaced=namespaced, columns_of=first, remembered=widths
            )
            session.print(text)
            headers = False

    if not p["watch-only"]:
        show(first)
    selector = {"fieldSelector": f"metadata.name={target.name}"} if target.name else _query(p)
    path = target.resource.path("" if p["all-namespaces"] else session.namespace)
    async for table in session.watch_tables(
        path, {**selector, "resourceVersion": first["metadata"]["resourceVersion"]}
    ):
        show(table)


async def _objects(found: list[Target], p: Parsed, session: Session) -> None:
    items: list[Object] = []
    for target in found:
        answer = await session.send("GET", _path(target, p, session), _query(p) if not target.name else {})
        if target.name:
            items.append(answer)
            continue
        api_version, kind = answer.get("apiVersion", ""), answer.get("kind", "List").removesuffix("List")
        items += [{"apiVersion": api_version, "kind": kind, **item} for item in answer.get("items") or ()]
    if p["output"] == "name":
        for item in items:
            group = item["apiVersion"].rpartition("/")[0]
            session.print(f"{item['kind'].lower()}{'.' + group if group else ''}/{item['metadata']['name']}\n")
        return
    alone = len(found) == 1 and found[0].name
    shown = (
        items[0] if alone else {"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}}
    )
    if not p["show-managed-fields"]:
        shown = without_managed_fields(shown)
    session.print(to_json(_sorted(shown)) if p["output"] == "json" else to_yaml(shown))


def _sorted(value: object) -> object:
    """Untyped objects print with their keys in order."""
    if isinstance(value, dict):
        return {key: _sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_sorted(item) for item in value]
    return value
