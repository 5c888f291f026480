"""From what people type to what the server serves: `deploy` → `deployments` of `apps/v1`; (apiVersion, kind) → a resource.

Everything comes from discovery; nothing is compiled in. The aggregated form answers with two requests, older servers need one for each
group and version.

Upstream: `client-go/restmapper/discovery.go` (`NewDiscoveryRESTMapper`), `shortcut.go`, `category_expansion.go`,
`client-go/discovery/aggregated_discovery.go`, v1.36. Left out: the ten-minute disk cache.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from lifecycle.api import protobuf
from lifecycle.api.go_format import go_quote
from lifecycle.api.resources import Resource
from lifecycle.api.wire import Response
from lifecycle.client.rest import Client
from lifecycle.kubectl.failures import CommandError

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"


class RESTMapper:
    """Resources in discovery order, preferred versions first."""

    def __init__(self, resources: Iterable[Resource]) -> None:
        self.resources = list(resources)

    def resource_for(self, typed: str) -> Resource:
        """The resource meant by `pods`, `po`, `Pod`, `deployments.apps` or `deployments.v1.apps`. Raises CommandError if there is none."""
        name, _, qualifier = typed.lower().partition(".")
        candidates = [r for r in self.resources if name in (r.plural, r.singular, r.kind.lower())]
        candidates += [r for r in self.resources if name in r.short_names]
        for resource in candidates:
            if qualifier in (
                "",
                resource.group,
                f"{resource.version}.{resource.group}",
                resource.version if not resource.group else None,
            ):
                return resource
        for resource in candidates:  # `deployments.app` is enough if it starts the group
            if qualifier and resource.group.startswith(qualifier):
                return resource
        if qualifier:
            version, _, group = qualifier.partition(".")
            if group and version[:1] == "v":
                why = f"the server doesn't have a resource type {go_quote(name)} in group {go_quote(group)} and version {go_quote(version)}"
                raise CommandError(why)
            raise CommandError(
                f"the server doesn't have a resource type {go_quote(name)} in group {go_quote(qualifier)}"
            )
        raise CommandError(f"the server doesn't have a resource type {go_quote(typed)}")

    def for_kind(self, api_version: str, kind: str) -> Resource:
        """The resource that holds a kind. Raises CommandError if the server does not serve it."""
        for resource in self.resources:
            if (resource.api_version, resource.kind) == (api_version, kind):
                return resource
        raise CommandError(f'no matches for kind "{kind}" in version "{api_version}"\nensure CRDs are installed first')

    def category(self, name: str) -> list[Resource]:
        """The resources of a category such as `all`, one version each; empty for a word that is none."""
        found: dict[tuple[str, str], Resource] = {}
        for resource in self.resources:
            if name in resource.categories:
                found.setdefault((resource.group, resource.plural), resource)
        return list(found.values())


def document_of(response: Response) -> Any:
    """The object of an answer: ready-made documents such as discovery may come as bytes, even in-process; protobuf always does."""
    if response.obj is None and response.body:
        return protobuf.decode(response.body) if protobuf.is_protobuf(response.body) else orjson.loads(response.body)
    return response.obj or {}


async def discover(client: Client) -> RESTMapper:
    """Ask the server what it serves."""
    asking = Client(client.transport, client.headers.get("user-agent", "kubectl"), headers={"accept": AGGREGATED})
    resources: list[Resource] = []
    for root in ("/api", "/apis"):
        document = document_of(await asking.request("GET", root))
        if document.get("kind") == "APIGroupDiscoveryList":
            resources += _aggregated(document)
        else:
            resources += await _legacy(client, root, document)
    return RESTMapper(resources)


def _aggregated(document: dict[str, Any]) -> list[Resource]:
    found = []
    for group in document.get("items", ()):
        name = group["metadata"].get("name", "")
        for version in group["versions"]:
            for row in version.get("resources", ()):
                found.append(
                    Resource(
                        group=name,
                        version=version["version"],
                        plural=row["resource"],
                        kind=(row.get("responseKind") or {}).get("kind", ""),
                        singular=row.get("singularResource", ""),
                        namespaced=row.get("scope") == "Namespaced",
                        verbs=tuple(row.get("verbs", ())),
                        short_names=tuple(row.get("shortNames", ())),
                        categories=tuple(row.get("categories", ())),
                    )
                )
    return found


async def _legacy(client: Client, root: str, document: dict[str, Any]) -> list[Resource]:
    if document.get("kind") == "APIVersions":
        versions = [("", version) for version in document["versions"]]
    else:
        versions = []
        for group in document.get("groups", ()):
            preferred = group["preferredVersion"]["version"]
            ordered = sorted((v["version"] for v in group["versions"]), key=lambda version: version != preferred)
            versions += [(group["name"], version) for version in ordered]
    found = []
    for group_name, version in versions:
        path = f"{root}/{group_name}/{version}" if group_name else f"{root}/{version}"
        rows = document_of(await client.request("GET", path))
        for row in rows.get("resources", ()):
            if "/" not in row["name"]:
                found.append(
                    Resource(
                        group=group_name,
                        version=version,
                        plural=row["name"],
                        kind=row["kind"],
                        singular=row.get("singularName", ""),
                        namespaced=row["namespaced"],
                        verbs=tuple(row["verbs"]),
                        short_names=tuple(row.get("shortNames", ())),
                        categories=tuple(row.get("categories", ())),
                    )
                )
    return found
