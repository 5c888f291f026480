"""What an older Kubernetes served: its groups, versions and resources, as discovery
listed them on a recorded cluster.

Some of it cannot be served here: kinds that are gone, and versions whose objects were
of another form that nobody translates (`conversions.py` says what is). They are in the
table, and are left out of everything that clients are told.

Upstream: `apiserver/pkg/endpoints/discovery/{root,group,version}.go`, at the older
version.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from lifecycle.api.http.wire import Object
from lifecycle.api.tables import table_lines

RECORDED = ("v1.20.2",)
"""The versions that there are tables of."""

LISTED_IN = "/apis"


class UnknownVersion(ValueError):
    """There is no table of it. The text says of which there is."""


def full_version(text: str) -> str:
    """`1.20`, `v1.20` or `v1.20.2`, in full. Raises UnknownVersion."""
    asked = "v" + text.removeprefix("v")
    for version in RECORDED:
        if asked in (version, version.rpartition(".")[0]):
            return version
    known = ", ".join(RECORDED)
    raise UnknownVersion(f"no API of Kubernetes {text} is known here, only of {known}")


@dataclass(frozen=True)
class ServedVersion:
    """`version` is what `/version` answers; `resources` are discovery's entries, by
    group and version (`v1`, `batch/v1beta1`), in the order in which they were listed.
    """

    version: Object
    resources: dict[str, tuple[Object, ...]]

    def has(self, group_version: str, resource: str) -> bool:
        """Whether there is a resource, or a subresource (`pods/log`)."""
        entries = self.resources.get(group_version, ())
        return any(entry["name"] == resource for entry in entries)

    def groups(self) -> list[str]:
        """But the core one."""
        named = (gv.partition("/")[0] for gv in self.resources if "/" in gv)
        return list(dict.fromkeys(named))

    def group(self, name: str) -> Object:
        """An entry of `/apis`; the first version is preferred."""
        versions = [
            {"groupVersion": gv, "version": gv.partition("/")[2]}
            for gv in self.resources
            if gv.startswith(f"{name}/")
        ]
        return {"name": name, "versions": versions, "preferredVersion": versions[0]}

    def resource_list(self, group_version: str) -> Object:
        """What `/apis/GROUP/VERSION` answers."""
        return {
            "kind": "APIResourceList",
            "apiVersion": "v1",
            "groupVersion": group_version,
            "resources": list(self.resources[group_version]),
        }


def _entry(cells: list[str]) -> Object:
    name, namespaced, kind, other, verbs, short_names, categories, hash_ = cells
    entry: Object = {
        "name": name,
        "singularName": "",
        "namespaced": namespaced == "true",
        "kind": kind,
        "verbs": verbs.split(),
    }
    if other:
        group, _, version = other.rpartition("/")
        entry |= {"group": group, "version": version} if group else {"version": version}
    if short_names:
        entry["shortNames"] = short_names.split()
    if categories:
        entry["categories"] = categories.split()
    if hash_:
        entry["storageVersionHash"] = hash_
    return entry


@cache
def recorded_version(version: str) -> ServedVersion:
    """All that was recorded of it, whether it can be served here or not. Raises
    UnknownVersion.
    """
    version = full_version(version)
    facts: Object = {}
    resources: dict[str, list[Object]] = {}
    for line in table_lines(__package__, f"{version}.tsv"):
        first, *cells = line.split("\t")
        if first == "version":
            facts[cells[0]] = cells[1]
        else:
            resources.setdefault(first, []).append(_entry(cells))
    kept = {gv: tuple(entries) for gv, entries in resources.items()}
    return ServedVersion(facts, kept)
