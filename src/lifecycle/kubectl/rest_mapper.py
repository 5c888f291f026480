"""From what people type to what the server serves: `deploy` → `deployments` of
`apps/v1`; (apiVersion, kind) → a resource.

Everything comes from discovery; nothing is compiled in.

Upstream: `client-go/restmapper/discovery.go` (`NewDiscoveryRESTMapper`), `shortcut.go`,
`category_expansion.go`, `cli-runtime/pkg/resource/builder.go` (`mappingFor`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource
from lifecycle.client.rest import Client
from lifecycle.kubectl.discovery.discovery_client import (
    Discovery,
    DiscoveryClient,
    groups_and_resources,
)
from lifecycle.kubectl.failures import NoMatchError, NoResourceError


class RESTMapper:
    """Resources in discovery order, preferred versions first."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self.resources = list(resources)

    def resource_for(
        self, typed: str, warn: Callable[[str], object] | None = None
    ) -> Resource:
        """The resource meant by `pods`, `po`, `Pod`, `deployments.apps` or
        `deployments.v1.apps`. Raises NoMatchError if there is none.

        A whole name wins over a short one, an earlier group over a later one. Behind a
        short name a version is not looked at. `warn` is told when a short name had
        other meanings.
        """
        name, _, qualifier = typed.lower().partition(".")
        _, versioned, group = qualifier.partition(".")
        whole = [
            r for r in self.resources if name in (r.plural, r.singular, r.kind.lower())
        ]
        short = [r for r in self.resources if name in r.short_names]
        for each in whole:
            if qualifier in ("", each.group, f"{each.version}.{each.group}"):
                return each
        for each in short:  # it becomes a long name, and the version is forgotten
            if qualifier in ("", each.group) or (versioned and group == each.group):
                if warn is not None:
                    within = each.group if qualifier else ""
                    self._warn_ambiguous(name, within, each, short, warn)
                return each
        for each in (*whole, *short):  # `deployments.app` is enough if it starts it
            if qualifier and each.group.startswith(qualifier):
                return each
        raise NoMatchError(f"the server doesn't have a resource type {go_quote(name)}")

    def resources_for(self, name: str, warn: Callable[[str], object]) -> list[Resource]:
        """All resources of a name or short name, the first to come first. Raises
        NoResourceError if there is none.
        """
        name = name.lower()
        matches = [
            r for r in self.resources if name in (r.plural, r.singular, r.kind.lower())
        ]
        if not matches:
            matches = [r for r in self.resources if name in r.short_names]
            if matches:
                self._warn_ambiguous(name, "", matches[0], matches, warn)
        if not matches:
            raise NoResourceError(
                f"the server doesn't have a resource type {go_quote(name)}"
            )
        return matches

    @staticmethod
    def _warn_ambiguous(
        name: str,
        within: str,
        chosen: Resource,
        candidates: list[Resource],
        warn: Callable[[str], object],
    ) -> None:
        others = {
            f"{r.plural}.{r.group}" if r.group else r.plural: None
            for r in candidates
            if (r.group, r.plural) != (chosen.group, chosen.plural)
            and within in ("", r.group)
        }
        for other in others:
            warn(
                f"short name {go_quote(name)} could also match lower priority resource"
                f" {other}"
            )

    def for_kind(self, api_version: str, kind: str) -> Resource:
        """The resource that holds a kind. Raises NoMatchError if the server does not
        serve it.
        """
        for resource in self.resources:
            if (resource.api_version, resource.kind) == (api_version, kind):
                return resource
        raise NoMatchError(
            f'no matches for kind "{kind}" in version "{api_version}"\nensure CRDs are'
            " installed first"
        )

    def category(self, name: str) -> list[Resource]:
        """The resources of a category such as `all`, one version each; empty for a word
        that is none.
        """
        expanded: dict[tuple[str, str], Resource] = {}
        for resource in self.resources:
            if name in resource.categories:
                expanded.setdefault((resource.group, resource.plural), resource)
        return list(expanded.values())


async def rest_mapper_for(client: Discovery) -> RESTMapper:
    """A mapper of everything that a server, or a cache of it, knows."""
    groups, lists = await groups_and_resources(client)
    by_version = {document["groupVersion"]: document for document in lists}
    resources: list[Resource] = []
    for group in groups:
        preferred = (group.get("preferredVersion") or {}).get("version")
        for version in sorted(
            group["versions"], key=lambda row: row["version"] != preferred
        ):
            document = by_version.get(version["groupVersion"])
            if document is not None:
                resources += _resources(group["name"], version["version"], document)
    return RESTMapper(resources)


async def discover(client: Client) -> RESTMapper:
    """Ask the server what it serves."""
    return await rest_mapper_for(DiscoveryClient(client))


def _resources(group: str, version: str, document: Object) -> list[Resource]:
    return [
        Resource(
            group=group,
            version=version,
            plural=row["name"],
            kind=row["kind"],
            singular=row.get("singularName") or row["kind"].lower(),
            namespaced=row["namespaced"],
            verbs=tuple(row.get("verbs") or ()),
            short_names=tuple(row.get("shortNames") or ()),
            categories=tuple(row.get("categories") or ()),
        )
        for row in document.get("resources") or ()
        if "/" not in row["name"]
    ]
