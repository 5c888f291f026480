"""What can live in a namespace, as the server tells it now: built in, defined, or
served by somebody behind it.

A group whose server does not answer is still listed, but as stale. Nobody can say then
what of it is in a namespace, so no namespace can go: the commonest reason for one that
stays `Terminating` for ever.

Upstream: `client-go/discovery/discovery_client.go`
(`ServerPreferredNamespacedResources`, `ErrGroupDiscoveryFailed`),
`aggregated_discovery.go` (`SplitGroupsAndResources`, `StaleGroupVersionError`), v1.36.
Ours falls back to the built-in table where a server does not know the aggregated
documents.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, all_resources
from lifecycle.client.rest import Client

ACCEPT = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/"
    "json"
)


async def preferred_namespaced_resources(client: Client) -> tuple[list[Resource], str]:
    """Each in its group's preferred version, pods first; and what is wrong, in
    upstream's words. Raises StatusError.
    """
    discovery_client = Client(
        client.transport, "", headers={**client.headers, "accept": ACCEPT}
    )
    served: dict[tuple[str, str], Resource] = {}
    stale: list[str] = []
    for path in ("/api", "/apis"):
        document = _document(await discovery_client.request("GET", path))
        if document.get("kind") != "APIGroupDiscoveryList":
            rows = [row for row in all_resources() if row.namespaced]
            break
        for group in document.get("items") or ():
            name = group["metadata"].get("name", "")
            for version in group.get("versions") or ():
                if version.get("freshness") == "Stale":
                    api_version = (
                        f"{name}/{version['version']}" if name else version["version"]
                    )
                    stale.append(
                        f"{api_version}: stale GroupVersion discovery: {api_version}"
                    )
                for entry in version.get("resources") or ():
                    if entry.get("scope") == "Namespaced":
                        served.setdefault(
                            (name, entry["resource"]),
                            _row(name, version["version"], entry),
                        )
    else:
        rows = list(served.values())
    chosen: dict[tuple[str, str], Resource] = {}
    for row in rows:
        if {"delete", "list"} <= set(row.verbs):
            chosen.setdefault((row.group, row.plural), row)
    first = sorted(
        chosen.values(), key=lambda row: (row.group, row.plural) != ("", "pods")
    )
    if not stale:
        return first, ""
    what = "unable to retrieve the complete list of server APIs"
    return (
        first,
        (
            f"Discovery failed for some groups, {len(stale)} failing: {what}:"
            f" {', '.join(sorted(stale))}"
        ),
    )


def _document(response: Any) -> Object:
    document: Object = (
        response.obj
        if response.obj is not None
        else fast_json.loads(response.body or b"{}")
    )
    return document


def _row(group: str, version: str, entry: Object) -> Resource:
    kind = (entry.get("responseKind") or {}).get("kind", "")
    singular = entry.get("singularResource", "")
    return Resource(
        group,
        version,
        entry["resource"],
        kind,
        singular,
        True,
        tuple(entry.get("verbs") or ()),
    )
