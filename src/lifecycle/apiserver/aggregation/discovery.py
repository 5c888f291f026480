"""One discovery document for all servers.

A client asks one address which groups there are. The aggregator answers from the
APIServices alone when the old form is wanted; the aggregated form also tells the
resources, so each added server is asked for its own document from time to time and what
it said is merged. If it cannot be asked, its part is kept and marked `Stale`: clients
then know that something may be missing, which is better than to believe that it is
gone.

Upstream: `kube-aggregator/pkg/apiserver/handler_discovery.go`
(`fetchFreshDiscoveryForService`, `syncAPIService`), `handler_apis.go`,
`apiserver/pkg/endpoints/discovery/aggregated/handler.go`, v1.36.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.worker import beside
from lifecycle.apiserver.aggregation.api_services import (
    GROUP,
    group_version,
    sorted_by_group_and_version,
)
from lifecycle.apiserver.aggregation.availability import AGGREGATOR

OWN_PRIORITY = 20001
"""`apiregistration.k8s.io` has no APIService and comes first."""
UNREGISTERED_PRIORITY = 1000
"""What custom resources are registered with."""
ACCEPT = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    for version in ("v2", "v2beta1")
)
log = logging.getLogger(__name__)

Fetch = Callable[[str, str], Awaitable[Response]]
"""GETs a path with an Accept header from an added server."""


@dataclass(slots=True, frozen=True)
class Discovered:
    """One group version of an added server, as it goes into the aggregated document."""

    entry: Object
    fresh: bool

    def published(self) -> Object:
        """With its freshness."""
        return {**self.entry, "freshness": "Current" if self.fresh else "Stale"}


async def discover(
    api_service: Object, fetch: Fetch, before: Discovered | None
) -> Discovered:
    """Ask an added server what it has in this group version; on failure what was known
    before, stale.
    """
    group, version = group_version(api_service)
    answer = await fetch("/apis", ACCEPT)
    listed = await _document(answer)
    size = len(answer.body or b"")
    try:
        if answer.status == 200 and listed.get("kind") == "APIGroupDiscoveryList":
            told = await beside(size, _told_of, listed, group, version)
            return Discovered(told, True)
        if answer.status != 503:
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            legacy = await fetch(path, "application/json")
            if legacy.status == 200:
                told = await _document(legacy)
                size = len(legacy.body or b"")
                resources = await beside(
                    size, resources_to_discovery, told, group, version
                )
                return Discovered({"version": version, "resources": resources}, True)
    except (AttributeError, KeyError, TypeError) as error:
        name = f"{version}.{group}"
        log.error("discovery of %s is none: %s", name, error)
    return Discovered(
        before.entry if before is not None else {"version": version}, False
    )


def _told_of(listed: Object, group: str, version: str) -> Object:
    """What an aggregated document says of a version. Raises AttributeError, KeyError or
    TypeError for what is no such document.
    """
    for item in listed.get("items") or ():
        if item["metadata"].get("name", "") == group:
            for each in item.get("versions") or ():
                if each["version"] == version:
                    if not all(map(_is_resource, each.get("resources") or ())):
                        raise TypeError("a resource has no name or no list of verbs")
                    return dict(each)
    return {"version": version}


def _is_resource(row: Object) -> bool:
    return isinstance(row["resource"], str) and isinstance(row.get("verbs") or [], list)


async def _document(answer: Response) -> Object:
    if answer.obj is not None:
        return answer.obj
    body = answer.body or b"null"
    try:
        document = await beside(len(body), fast_json.loads, body)
    except fast_json.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def resources_to_discovery(listed: Object, group: str, version: str) -> list[Object]:
    """The resources of an `APIResourceList` in the aggregated form: subresources inside
    their resource.

    Upstream: `endpoints.ConvertGroupVersionIntoToDiscovery`.
    """
    by_name: dict[str, Object] = {}
    for row in listed.get("resources") or ():
        kind = {
            "group": row.get("group") or group,
            "version": row.get("version") or version,
            "kind": row["kind"],
        }
        name, _, sub = row["name"].partition("/")
        if sub:
            parent = by_name.setdefault(
                name, {"resource": name, "responseKind": {}, "verbs": []}
            )
            parent.setdefault("subresources", []).append(
                {
                    "subresource": sub,
                    "responseKind": kind,
                    "verbs": list(row.get("verbs") or ()),
                }
            )
            continue
        entry: Object = {
            "resource": name,
            "responseKind": kind,
            "scope": "Namespaced" if row.get("namespaced") else "Cluster",
            "singularResource": row.get("singularName", ""),
            "verbs": list(row.get("verbs") or ()),
        }
        for key in ("shortNames", "categories"):
            if row.get(key):
                entry[key] = list(row[key])
        by_name[name] = {**by_name.get(name, {}), **entry}
    return list(by_name.values())


def merged_group_list(
    local: Object, services: Iterable[Object], remote: Iterable[Object]
) -> Object:
    """The `APIGroupList` of `/apis`: the local groups and those of other servers, in
    the order of their priorities.
    """
    services = list(services)
    groups = {each["name"]: each for each in local["groups"]}
    for members in sorted_by_group_and_version(remote):
        name = members[0]["spec"].get("group", "")
        if name:
            own = [each for each in services if each["spec"].get("group", "") == name]
            groups[name] = api_group(own)
    return {
        **local,
        "groups": sorted(
            groups.values(), key=_order(services, lambda each: each["name"])
        ),
    }


def api_group(services: Iterable[Object]) -> Object:
    """The `APIGroup` that the APIServices of one group make up; the first version is
    the preferred one.
    """
    members = sorted_by_group_and_version(services)[0]
    versions = [
        {
            "groupVersion": "/".join(group_version(each)),
            "version": each["spec"]["version"],
        }
        for each in members
    ]
    return {
        "name": members[0]["spec"]["group"],
        "versions": versions,
        "preferredVersion": versions[0],
    }


def merged_discovery(
    local: Object, services: Iterable[Object], discovered: dict[str, Discovered]
) -> Object:
    """The aggregated document of `/apis`. `discovered` is by the name of the
    APIService.
    """
    services = list(services)
    groups: dict[str, Object] = {
        each["metadata"]["name"]: each for each in local["items"]
    }
    for members in sorted_by_group_and_version(services):
        name = members[0]["spec"].get("group", "")
        added = {
            each["spec"]["version"]: discovered[each["metadata"]["name"]].published()
            for each in members
            if each["metadata"]["name"] in discovered
        }
        if not name or not added:
            continue
        known = {
            each["version"]: each for each in groups.get(name, {}).get("versions") or ()
        } | added
        order = [
            each["spec"]["version"]
            for each in members
            if each["spec"]["version"] in known
        ]
        order += [version for version in known if version not in order]
        groups[name] = {
            "metadata": {"name": name},
            "versions": [known[version] for version in order],
        }
    return {
        **local,
        "items": sorted(
            groups.values(), key=_order(services, lambda each: each["metadata"]["name"])
        ),
    }


def _order(
    services: list[Object], name_of: Callable[[Object], str]
) -> Callable[[Object], tuple[Any, ...]]:
    places: dict[str, tuple[int, str]] = {GROUP: (-OWN_PRIORITY, "")}
    for members in sorted_by_group_and_version(services):
        first = min(
            members,
            key=lambda each: (
                -each["spec"]["groupPriorityMinimum"],
                each["metadata"]["name"],
            ),
        )
        name = first["spec"].get("group", "")
        places[name] = (
            -first["spec"]["groupPriorityMinimum"],
            first["metadata"]["name"],
        )

    def key(entry: Object) -> tuple[Any, ...]:
        name = name_of(entry)
        return places.get(name, (-UNREGISTERED_PRIORITY, name))

    return key


def fetch_through(proxy: Callable[[Request], Awaitable[Response]]) -> Fetch:
    """GETs through the proxy itself, as the aggregator."""

    async def fetch(path: str, accept: str) -> Response:
        return await proxy(
            Request("GET", path, headers={"accept": accept}, user=AGGREGATOR)
        )

    return fetch
