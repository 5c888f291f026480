"""Claims about discovery: put to recorded servers, and to our own client with its
caches in a folder of the moment.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lifecycle.agreements.apiserver.discovery import recorded_groups
from lifecycle.agreements.apiserver.remembering_server import (
    RememberingServer,
    now,
    typed_at,
)
from lifecycle.agreements.kubectl.request_transport import journey
from lifecycle.agreements.kubectl.traced_requests import traced_requests
from lifecycle.api.http.wire import Request, Response
from lifecycle.client.rest import Client
from lifecycle.compare.claims import Partly, check, rebuilt, some
from lifecycle.inspector import Recording
from lifecycle.kubectl.discovery.cached_discovery import (
    TTL,
    CachedDiscoveryClient,
    compute_discover_cache_dir,
)
from lifecycle.kubectl.discovery.discovery_client import (
    DiscoveryClient,
    groups_and_resources,
)
from lifecycle.kubectl.discovery.http_cache import CacheTransport

HOST = "https://127.0.0.1:6443"


def cached(
    server: RememberingServer, home: Path, host: str = HOST
) -> CachedDiscoveryClient:
    """Our caching client, with its files where kubectl has them below a home
    directory.
    """
    directory = compute_discover_cache_dir(home / ".kube" / "cache" / "discovery", host)
    return CachedDiscoveryClient(DiscoveryClient(Client(server, "kubectl")), directory)


def everything(client: CachedDiscoveryClient) -> Any:
    """Ask for all there is."""
    return now(groups_and_resources(client))


@contextmanager
def filled_home() -> Iterator[tuple[Path, RememberingServer]]:
    """A home directory after one round of discovery, and the server that was asked."""
    with tempfile.TemporaryDirectory() as home:
        server = RememberingServer()
        server.keep(
            {"", "apps", "batch", "coordination.k8s.io"}
        )  # as good as all of them, and fewer folders
        everything(cached(server, Path(home)))
        yield Path(home), server


@check("discovery-client-lists-api-groups")
def lists_groups_recorded(recording: Recording) -> bool | None:
    """Our client, given a recorded server, finds every group that this server lists,
    and the core one beside them.
    """
    server = RememberingServer(recording)
    groups, _ = now(groups_and_resources(DiscoveryClient(Client(server, "kubectl"))))
    [core] = [group for group in groups if not group["name"]]
    v1 = {"groupVersion": "v1", "version": "v1"}
    assert core == {"name": "", "versions": [v1], "preferredVersion": v1}
    listed = recorded_groups(recording)
    return {group["name"] for group in groups} == set(listed) if listed else None


@rebuilt("discovery-client-lists-api-groups")
def lists_groups() -> bool:
    """It asks both roots, and has the core group and `apps`."""
    server = RememberingServer()
    groups, _ = now(groups_and_resources(DiscoveryClient(Client(server, "kubectl"))))
    return server.discovered == ["/api", "/apis"] and {"", "apps"} <= {
        group["name"] for group in groups
    }


@check("discovery-separate-call-per-group-version")
def separate_calls_recorded(recording: Recording) -> bool | None:
    """Asked for the aggregated form, the recorded server gives it or not; that decides
    how many requests follow the first two.
    """
    server = RememberingServer(recording)
    groups, _ = now(groups_and_resources(DiscoveryClient(Client(server, "kubectl"))))
    return len(server.discovered) > 2 if groups else None


@rebuilt("discovery-separate-call-per-group-version")
def separate_calls() -> bool:
    """Two requests are enough here too."""
    server = RememberingServer()
    groups, _ = now(groups_and_resources(DiscoveryClient(Client(server, "kubectl"))))
    assert "apps" in {group["name"] for group in groups}, "all is found"
    return len(server.discovered) > 2


@rebuilt("discovery-saved-in-kube-schema")
def saved_in_schema() -> bool:
    """The list of groups would have to be below `.kube/schema`."""
    with filled_home() as (home, _):
        where = [
            path.relative_to(home / ".kube").parts[0]
            for path in home.rglob("servergroups.json")
        ]
        assert len(where) == 1, "the list is kept, in one place"
        return where == ["schema"]


@rebuilt("discovery-versions-saved-under-home")
def versions_saved() -> bool:
    """One file for each group and version, although the server sent them all at
    once.
    """
    with filled_home() as (home, server):
        groups, _ = now(
            groups_and_resources(DiscoveryClient(Client(server, "kubectl")))
        )
        expected = {
            version["groupVersion"] for group in groups for version in group["versions"]
        }
        [top] = [path.parent for path in home.rglob("servergroups.json")]
        return {
            str(path.parent.relative_to(top))
            for path in home.rglob("serverresources.json")
        } == expected


@rebuilt("discovery-cache-mirrors-current-server")
def cache_mirrors() -> Partly:
    """Not while the files are young; again when they are too old, or when a lookup
    failed and they were thrown out.
    """
    with filled_home() as (home, server):
        server.drop("leases")
        young = _serves(cached(server, home), "leases")
        [groups_file] = home.rglob("servergroups.json")
        for path in [groups_file, *home.rglob("serverresources.json")]:
            os.utime(path, (time.time() - TTL - 1,) * 2)
        old = _serves(cached(server, home), "leases")
    with filled_home() as (home, server):
        server.drop("leases")
        thrown_out = cached(server, home)
        thrown_out.invalidate()
        return Partly(not old and not _serves(thrown_out, "leases"), young)


def _serves(client: CachedDiscoveryClient, resource: str) -> bool:
    return any(
        row["name"] == resource
        for document in everything(client)[1]
        for row in document["resources"]
    )


@check("discovery-scans-only-api-root")
def only_api_root(recording: Recording) -> Partly:
    """Pods are found below `/api`, Deployments are not: they have a root of their
    own.
    """
    core = recorded_groups(recording)[""]
    below_api = {row["name"] for row in _list(recording, "/api/v1")}
    below_apis = {row["name"] for row in _list(recording, "/apis/apps/v1")}
    pods_below_api = "pods" in below_api and [
        version["version"] for version in core["versions"]
    ] == ["v1"]
    return Partly(pods_below_api, "deployments" in below_apis - below_api)


def _list(recording: Recording, path: str) -> list[Any]:
    return next(
        list(exchange.response["resources"])
        for exchange in recording.exchanges("discovery")
        if exchange.path == path
    )


@check("discovery-api-root-is-openapi")
def root_is_openapi(recording: Recording) -> bool:
    """An OpenAPI document says `openapi` or `swagger` at its top."""
    roots = [
        e.response
        for e in recording.exchanges("discovery")
        if e.path in ("/api", "/apis")
    ]
    assert roots
    return any(
        word in root for root in roots for word in ("openapi", "swagger", "definitions")
    )


@rebuilt("discovery-cache-folder-per-server")
def folder_per_server() -> bool:
    """Two servers, two folders; the colon of the port has become an underscore."""
    with filled_home() as (home, server):
        everything(cached(server, home, "https://127.0.0.1:7443"))
        folders = {path.name for path in home.glob(".kube/cache/discovery/*")}
        return folders == {"127.0.0.1_6443", "127.0.0.1_7443"}


@rebuilt("discovery-openapi-cached-in-discovery-folder")
def openapi_in_discovery() -> bool:
    """After an OpenAPI document went through the client, it would have to be there, and
    not in the other folder.
    """

    class OpenAPI:
        async def round_trip(self, request: Request) -> Response:
            return Response(
                200,
                {"etag": '"1"', "cache-control": "public"},
                body=b'{"openapi":"3.0.0"}',
            )

        async def close(self) -> None:
            """Nothing to close."""

    with filled_home() as (home, _):
        http = home / ".kube" / "cache" / "http"
        request = Request("GET", "/openapi/v3/apis/apps/v1")
        now(CacheTransport(OpenAPI(), http, HOST).round_trip(request))
        kept = [
            path
            for path in home.rglob("*")
            if path.is_file() and b'"openapi"' in path.read_bytes()
        ]
        assert kept, "the document is kept somewhere"
        return any("discovery" in path.parts for path in kept) and not any(
            http in path.parents for path in kept
        )


@check("discovery-precedes-create-deployment")
def precedes_create_recorded(recording: Recording) -> bool | None:
    """The trace of the recorded `create deployment` would have to show a GET before the
    POST.
    """
    requests = traced_requests(journey(recording)["01-create"].err)
    return some(request.path in ("/api", "/apis") for request in requests)


@rebuilt("discovery-precedes-create-deployment")
def precedes_create() -> bool:
    """The same of ours, which has no cache to hide behind."""
    server = RememberingServer()
    typed_at(server, ["create", "deployment", "nginx", "--image=nginx"])
    assert server.asked == ["POST /apis/apps/v1/namespaces/default/deployments"]
    return bool(server.discovered)
