"""Which resources exist: the table that discovery publishes.

The REST registry, the client and the RESTMapper all read the same rows; a resource that
is not in the table does not exist.

Upstream: `apimachinery/pkg/apis/meta/v1/types.go` (`APIResource`),
`apimachinery/pkg/runtime/schema/group_version.go` (`GroupVersionResource`,
`GroupVersionKind`), v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from lifecycle.api.published import published, published_names


@dataclass(slots=True, frozen=True)
class Subresource:
    """A subresource such as `pods/binding`: its name, the kind it speaks and its
    verbs.
    """

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]


@dataclass(frozen=True)
class Resource:
    """One row of discovery. `api_version` is what objects carry: `v1` or `apps/v1`.

    There are some hundred of them, and each request asks for their names a dozen times:
    they are put together once.
    """

    group: str
    version: str
    plural: str
    kind: str
    singular: str
    namespaced: bool
    verbs: tuple[str, ...]
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    storage_version_hash: str = ""
    subresources: tuple[Subresource, ...] = ()

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """Enough to tell rows apart."""
        return hash((self.group, self.version, self.plural))

    @cached_property
    def api_version(self) -> str:
        """`v1` for the core group, `group/version` for the others."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @cached_property
    def prefix(self) -> str:
        """The URL below which the resource lives: `/api/v1` or `/apis/apps/v1`."""
        return (
            f"/apis/{self.group}/{self.version}"
            if self.group
            else f"/api/{self.version}"
        )

    @cached_property
    def store_key(self) -> tuple[str, str]:
        """Under what a server keeps registry and cache: group and plural. A version
        that shows what another one stores has its own.
        """
        if (self.group, self.version, self.plural) in _later_versions():
            return self.api_version, self.plural
        return self.group, self.plural

    def subresource(self, name: str) -> Subresource | None:
        """The subresource of that name, if there is one."""
        return next((s for s in self.subresources if s.name == name), None)

    def path(self, namespace: str = "", name: str = "", subresource: str = "") -> str:
        """The URL of the collection, an object or a subresource."""
        path = self.prefix
        if self.namespaced and namespace:
            path += f"/namespaces/{namespace}"
        for part in (self.plural, name, subresource):
            if part:
                path += f"/{part}"
        return path


def _rows(document: dict[str, Any]) -> list[Resource]:
    group, _, version = document["groupVersion"].rpartition("/")
    entries = document["resources"]
    subresources: dict[str, list[Subresource]] = {}
    for entry in entries:
        plural, _, sub = entry["name"].partition("/")
        if sub:
            row = Subresource(
                sub,
                entry.get("group", group),
                entry.get("version", version),
                entry["kind"],
                tuple(entry["verbs"]),
            )
            subresources.setdefault(plural, []).append(row)
    return [
        Resource(
            group=group,
            version=version,
            plural=entry["name"],
            kind=entry["kind"],
            singular=entry["singularName"],
            namespaced=entry["namespaced"],
            verbs=tuple(entry["verbs"]),
            short_names=tuple(entry.get("shortNames", ())),
            categories=tuple(entry.get("categories", ())),
            storage_version_hash=entry.get("storageVersionHash", ""),
            subresources=tuple(subresources.get(entry["name"], ())),
        )
        for entry in entries
        if "/" not in entry["name"]
    ]


@cache
def all_resources() -> tuple[Resource, ...]:
    """Every built-in resource of the pinned version, in discovery order."""
    rows: list[Resource] = []
    for name in published_names("discovery/legacy/"):
        document = published(name)
        if document["kind"] == "APIResourceList":
            rows += _rows(document)
    return tuple(rows)


@cache
def _later_versions() -> frozenset[tuple[str, str, str]]:
    """Rows whose objects an earlier row serves already: the first version of a group is
    the preferred one, and the one that is stored.
    """
    first: dict[tuple[str, str], str] = {}
    for row in all_resources():
        first.setdefault((row.group, row.plural), row.version)
    return frozenset(
        (r.group, r.version, r.plural)
        for r in all_resources()
        if first[r.group, r.plural] != r.version
    )


@cache
def _by_plural() -> dict[tuple[str, str, str], Resource]:
    return {(r.group, r.version, r.plural): r for r in all_resources()}


@cache
def _by_kind() -> dict[tuple[str, str], Resource]:
    return {(r.api_version, r.kind): r for r in reversed(all_resources())}


def find_resource(group: str, version: str, plural: str) -> Resource | None:
    """The resource a URL names, or None."""
    return _by_plural().get((group, version, plural))


def resource_for_kind(api_version: str, kind: str) -> Resource | None:
    """The resource that holds objects of a kind, or None."""
    return _by_kind().get((api_version, kind))


@cache
def _by_name() -> dict[tuple[str, str], Resource]:
    return {(r.plural, r.group): r for r in reversed(all_resources())}


def resource(name: str) -> Resource:
    """The resource called `deployments.apps`, `pods`, … (preferred version). Raises
    KeyError if there is none.
    """
    plural, _, group = name.partition(".")
    row = _by_name().get((plural, group))
    if row is None:
        raise KeyError(name)
    return row
