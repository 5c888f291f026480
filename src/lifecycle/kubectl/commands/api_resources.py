"""`kubectl api-resources` and `kubectl api-versions`: discovery itself, printed.

Upstream: `kubectl/pkg/cmd/apiresources/apiresources.go` (`RunAPIResources`),
`apiversions.go`, `client-go/discovery/discovery_client.go`
(`ServerPreferredResources`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.discovery.discovery_client import Discovery, groups_and_resources
from lifecycle.kubectl.failures import CommandError, UsageError
from lifecycle.kubectl.flags import OUTPUT, flag, parse
from lifecycle.kubectl.printers import object_printer, unknown_format
from lifecycle.kubectl.printing.columns import align
from lifecycle.kubectl.session import Session

FLAGS = (
    OUTPUT,
    flag("show-managed-fields", "bool"),
    flag("api-group"),
    flag("namespaced", "bool", True),
    flag("verbs", "slice"),
    flag("categories", "slice"),
    flag("sort-by"),
    flag("cached", "bool"),
    flag("no-headers", "bool"),
)
HEADERS = ["NAME", "SHORTNAMES", "APIVERSION", "NAMESPACED", "KIND"]


async def preferred_resources(client: Discovery) -> list[tuple[str, str, Object]]:
    """(group, version, row) of every resource, each in one version: its group's
    preferred one, or the first that has it.
    """
    groups, lists = await groups_and_resources(client)
    rows = {document["groupVersion"]: document["resources"] for document in lists}
    resources: list[tuple[str, str, Object]] = []
    for group in groups:
        preferred = (group.get("preferredVersion") or {}).get("version")
        best: dict[str, tuple[str, Object]] = {}
        for version in group["versions"]:
            for row in rows.get(version["groupVersion"], ()):
                if "/" not in row["name"] and (
                    row["name"] not in best or version["version"] == preferred
                ):
                    best[row["name"]] = (version["version"], row)
        resources += [(group["name"], version, row) for version, row in best.values()]
    return resources


async def api_resources(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl api-resources ARGV`."""
    p = parse(argv, FLAGS, "api-resources")
    if p.args:
        raise UsageError(f"unexpected arguments: [{' '.join(p.args)}]", "api-resources")
    marshal = (
        object_printer(p) if p["output"].lower() in ("json", "yaml", "kyaml") else None
    )
    if marshal is None and p["output"] not in ("", "wide", "name"):
        raise unknown_format(p["output"], "json,kyaml,name,wide,yaml")
    if p["sort-by"] not in ("", "name", "kind"):
        raise CommandError("--sort-by accepts only name or kind")
    if not p["cached"]:
        session.discovery.invalidate()
    resources = [
        (group, version, row)
        for group, version, row in await preferred_resources(session.discovery)
        if row.get("verbs")
        and ("api-group" not in p.changed or group == p["api-group"])
        and ("namespaced" not in p.changed or row["namespaced"] == p["namespaced"])
        and set(p["verbs"]) <= set(row["verbs"])
        and set(p["categories"]) <= set(row.get("categories") or ())
    ]
    by = {"name": lambda r: r[2]["name"], "kind": lambda r: r[2]["kind"]}.get(
        p["sort-by"], lambda r: r[0]
    )
    resources.sort(key=lambda r: (by(r), r[2]["name"]))
    if marshal is not None:
        all_resources = [_row(group, version, row) for group, version, row in resources]
        session.print(
            marshal(
                {
                    "kind": "APIResourceList",
                    "apiVersion": "v1",
                    "groupVersion": "",
                    "resources": all_resources,
                }
            )
        )
        return
    if p["output"] == "name":
        for group, _, row in resources:
            session.print(f"{row['name']}.{group}\n" if group else f"{row['name']}\n")
        return
    wide = p["output"] == "wide"
    rows = (
        [] if p["no-headers"] else [HEADERS + (["VERBS", "CATEGORIES"] if wide else [])]
    )
    for group, version, row in resources:
        cells = [
            row["name"],
            ",".join(row.get("shortNames") or ()),
            f"{group}/{version}" if group else version,
        ]
        cells += [str(row["namespaced"]).lower(), row["kind"]]
        rows.append(
            cells
            + (
                [",".join(row["verbs"]), ",".join(row.get("categories") or ())]
                if wide
                else []
            )
        )
    session.print(align(rows))


def _row(group: str, version: str, row: Object) -> Object:
    """A resource with its group and version, fields in the order of the type."""
    fields = {
        **row,
        "singularName": row.get("singularName", ""),
        "group": group,
        "version": version,
    }
    return {
        key: fields[key]
        for key in _FIELDS
        if fields.get(key) or (key in fields and key in _ALWAYS)
    }


_FIELDS = (
    "name", "singularName", "namespaced", "group", "version", "kind", "verbs",
    "shortNames", "categories", "storageVersionHash",
)  # fmt: skip
_ALWAYS = ("name", "singularName", "namespaced", "kind", "verbs")


async def api_versions(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl api-versions`."""
    p = parse(argv, (), "api-versions")
    if p.args:
        raise UsageError(f"unexpected arguments: [{' '.join(p.args)}]", "api-versions")
    session.discovery.invalidate()
    groups = (await session.discovery.server_groups())["groups"]
    names = sorted(
        version["groupVersion"] for group in groups for version in group["versions"]
    )
    session.print("".join(f"{name}\n" for name in names))
