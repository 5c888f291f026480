"""Asking a server what it serves: two requests in the aggregated form, one for each
group and version in the old one.

Both forms end as the same two things: a list of groups with their versions, and for
each version a list of its resources. A server chooses the form by content negotiation:
the client asks for the new one first and takes what it gets.

Upstream: `client-go/discovery/discovery_client.go` (`GroupsAndMaybeResources`,
`ServerResourcesForGroupVersion`), `aggregated_discovery.go`
(`SplitGroupsAndResources`), `cached/memory/memcache.go`, v1.36.2. Left out: OpenAPI v2.
"""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from lifecycle.api import fast_json, protobuf
from lifecycle.api.http.generic_server_response import generic_server_response
from lifecycle.api.http.wire import Object, Response
from lifecycle.api.status import StatusError
from lifecycle.client.rest import Client
from lifecycle.kubectl.failures import CommandError

ACCEPT_V2 = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
ACCEPT_V2BETA1 = (
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"
)
AGGREGATED = f"{ACCEPT_V2},{ACCEPT_V2BETA1},application/json"
TIMEOUT = "32s"
"""Sent with every request of discovery; the server gives up after it too."""


def document_of(response: Response) -> Any:
    """The object of an answer: ready-made documents such as discovery may come as
    bytes, even in-process; protobuf always does.
    """
    if response.obj is None and response.body:
        if response.headers.get("content-type", "").startswith("text/"):
            return unstructured_response_error(response)
        return (
            protobuf.decode(response.body)
            if protobuf.is_protobuf(response.body)
            else fast_json.loads(response.body)
        )
    return response.obj or {}


def unstructured_response_error(response: Response) -> Object:
    """The Status that a client makes of an answer that is none: `404 page not found`
    becomes words of its own.
    """
    message = (response.body or b"").decode(errors="replace").strip()
    return generic_server_response(response.status, message).status


class DiscoveryClient:
    """Discovery over a client, remembered until `invalidate`.

    `server_groups` answers an APIGroupList (the core group first, under the empty
    name), `server_resources` an APIResourceList. Both raise StatusError when the server
    refuses. Shapes are those of the old form, subresources included.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._groups: Object | None = None
        self._resources: dict[str, Object] = {}
        self._stale: set[str] = set()

    @property
    def fresh(self) -> bool:
        """Nothing older than this process is in use."""
        return True

    def invalidate(self) -> None:
        """Forget everything; the next question goes to the server."""
        self._groups = None
        self._resources = {}
        self._stale = set()

    async def server_groups(self) -> Object:
        """All groups. The aggregated form brings their resources along."""
        if self._groups is None:
            groups: list[Object] = []
            lists: dict[str, Object] | None = {}
            for root in ("/api", "/apis"):
                root_groups, resources = await self._download(root)
                groups += root_groups
                lists = (
                    None
                    if lists is None or resources is None
                    else {**lists, **resources}
                )
            self._groups = {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": groups,
            }
            self._resources = lists or {}
        return self._groups

    async def server_resources(self, group_version: str) -> Object:
        """The resources of `v1` or `apps/v1`. Raises CommandError for a version that
        the server itself calls stale.
        """
        if self._groups is None:
            await self.server_groups()
        if group_version in self._stale:
            raise CommandError(f"stale GroupVersion discovery: {group_version}")
        if group_version not in self._resources:
            path = (
                f"/apis/{group_version}"
                if "/" in group_version
                else f"/api/{group_version}"
            )
            document = document_of(
                await self._client.request("GET", path, query={"timeout": TIMEOUT})
            )
            self._resources[group_version] = {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": group_version,
                "resources": document.get("resources") or [],
            }
        return self._resources[group_version]

    async def _download(
        self, root: str
    ) -> tuple[list[Object], dict[str, Object] | None]:
        """(groups, resources by group version) of `/api` or `/apis`; no resources from
        a server that knows only the old form.
        """
        asking = Client(
            self._client.transport,
            self._client.headers.get("user-agent", "kubectl"),
            headers={**self._client.headers, "accept": AGGREGATED},
        )
        try:
            document = document_of(
                await asking.request("GET", root, query={"timeout": TIMEOUT})
            )
        except StatusError as error:
            if error.code == 404 and root == "/api":  # one may have no core group
                return [], {}
            raise
        if document.get("kind") == "APIGroupDiscoveryList":
            return self._split(document)
        if document.get("kind") == "APIVersions":
            versions = [
                group_version("", version) for version in document.get("versions", ())
            ]
            core = {"name": "", "versions": versions}
            return (
                [{**core, "preferredVersion": versions[0]}] if versions else []
            ), None
        return document.get("groups") or [], None

    def _split(self, document: Object) -> tuple[list[Object], dict[str, Object]]:
        groups, stale = split_groups_and_resources(document)
        self._stale |= stale
        return [group for group, _ in groups], {
            gv: rows for _, lists in groups for gv, rows in lists.items()
        }


def group_version(group: str, version: str) -> Object:
    """A version as a group lists it."""
    return {
        "groupVersion": f"{group}/{version}" if group else version,
        "version": version,
    }


def split_groups_and_resources(
    document: Object,
) -> tuple[list[tuple[Object, dict[str, Object]]], set[str]]:
    """An APIGroupDiscoveryList as (group, its resource lists by group version), and the
    versions that are stale.

    The first version that is not stale is the preferred one.
    """
    groups: list[tuple[Object, dict[str, Object]]] = []
    failed_gvs: set[str] = set()
    for item in document.get("items") or ():
        name = (item.get("metadata") or {}).get("name", "")
        versions, lists = [], {}
        for version in item.get("versions") or ():
            gv = group_version(name, version["version"])
            if version.get("freshness") == "Stale":
                failed_gvs.add(gv["groupVersion"])
                continue
            versions.append(gv)
            lists[gv["groupVersion"]] = {
                "kind": "APIResourceList",
                "apiVersion": "v1",
                "groupVersion": gv["groupVersion"],
                "resources": [
                    row
                    for resource in version.get("resources") or ()
                    for row in _rows(resource)
                ],
            }
        group: Object = {"name": name, "versions": versions}
        if versions:
            group["preferredVersion"] = versions[0]
        groups.append((group, lists))
    return groups, failed_gvs


def _rows(resource: Object) -> list[Object]:
    """A resource and its subresources, as rows of the old form; what has no kind gets
    no row.
    """
    namespaced = resource.get("scope") == "Namespaced"
    rows = [
        _row(resource["resource"], resource, resource, namespaced),
        *(
            _row(
                f"{resource['resource']}/{sub['subresource']}",
                resource,
                sub,
                namespaced,
            )
            for sub in resource.get("subresources") or ()
        ),
    ]
    return [row for row in rows if row["kind"]]


def _row(name: str, parent: Object, entry: Object, namespaced: bool) -> Object:
    kind = entry.get("responseKind") or {}
    row: Object = {
        "name": name,
        "singularName": parent.get("singularResource", ""),
        "namespaced": namespaced,
    }
    row |= {key: kind[key] for key in ("group", "version") if kind.get(key)}
    row |= {"kind": kind.get("kind", ""), "verbs": entry.get("verbs") or []}
    return row | {
        key: entry[key] for key in ("shortNames", "categories") if entry.get(key)
    }


class Discovery(Protocol):
    """What can be asked: `DiscoveryClient`, which only remembers, or
    `CachedDiscoveryClient`, which keeps it on disk.
    """

    @property
    def fresh(self) -> bool:
        """Nothing older than this process is in use."""
        ...

    async def server_groups(self) -> Object:
        """An APIGroupList."""
        ...

    async def server_resources(self, group_version: str) -> Object:
        """An APIResourceList."""
        ...

    def invalidate(self) -> None:
        """Do not trust what was there before."""
        ...


async def groups_and_resources(client: Discovery) -> tuple[list[Object], list[Object]]:
    """(groups, resource lists) of everything that answers. Raises CommandError if the
    server says nothing at all.
    """
    groups = (await client.server_groups())["groups"]
    names = [
        version["groupVersion"] for group in groups for version in group["versions"]
    ]
    answers = await asyncio.gather(
        *(client.server_resources(name) for name in names), return_exceptions=True
    )
    lists: list[Object] = []
    failed_groups: dict[str, BaseException] = {}
    for name, answer in zip(names, answers, strict=True):
        if isinstance(answer, BaseException):
            if not isinstance(answer, (StatusError, CommandError)):
                raise answer
            failed_groups[name] = answer
        else:
            lists.append(answer)
    if failed_groups and not lists:
        failures = ", ".join(
            f"{name}: {error}" for name, error in sorted(failed_groups.items())
        )
        raise CommandError(
            f"unable to retrieve the complete list of server APIs: {failures}"
        )
    return groups, lists
