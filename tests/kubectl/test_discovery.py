"""Discovery: two forms, two caches, and when they are believed."""

from __future__ import annotations

import asyncio
import io
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.rest import Client
from lifecycle.kubectl.discovery.cached_discovery import (
    TTL,
    CachedDiscoveryClient,
    compute_discover_cache_dir,
    default_cache_directory,
)
from lifecycle.kubectl.discovery.discovery_client import (
    DiscoveryClient,
    groups_and_resources,
    split_groups_and_resources,
)
from lifecycle.kubectl.discovery.http_cache import CacheTransport, SumDiskCache
from lifecycle.kubectl.failures import CommandError, NoMatchError
from lifecycle.kubectl.rest_mapper import RESTMapper, rest_mapper_for
from lifecycle.kubectl.session import Session
from tests.kubectl.fake_server import FakeServer


def client_of(server: FakeServer) -> DiscoveryClient:
    return DiscoveryClient(Client(server, "test"))


@pytest.mark.parametrize(("aggregated", "requests"), [(True, 2), (False, 24)])
def test_both_forms_say_the_same(aggregated, requests):
    server = FakeServer(aggregated=aggregated)
    groups, lists = run_virtual(groups_and_resources(client_of(server)))
    assert len(server.discovered) == requests
    assert groups[0]["name"] == ""
    by_name = {document["groupVersion"]: [row["name"] for row in document["resources"]] for document in lists}
    assert "deployments/scale" in by_name["apps/v1"]
    assert len(by_name) == 22


def test_it_is_asked_only_once():
    server = FakeServer()
    client = client_of(server)

    async def twice() -> None:
        await groups_and_resources(client)
        await groups_and_resources(client)

    run_virtual(twice())
    assert server.discovered == ["/api", "/apis"]
    client.invalidate()
    run_virtual(client.server_groups())
    assert len(server.discovered) == 4


def test_a_stale_version_is_nobodys_preferred_one():
    versions = [{"version": "v2", "freshness": "Stale"}, {"version": "v1", "resources": []}]
    ((group, lists),), stale = split_groups_and_resources(
        {"items": [{"metadata": {"name": "x.io"}, "versions": versions}]}
    )
    assert (group["preferredVersion"]["version"], list(lists), stale) == ("v1", ["x.io/v1"], {"x.io/v2"})


def test_files_are_believed_for_six_hours(tmp_path):
    server, clock = FakeServer(), [0.0]

    def fresh_process() -> CachedDiscoveryClient:
        return CachedDiscoveryClient(client_of(server), tmp_path, now=lambda: clock[0])

    first = fresh_process()
    run_virtual(first.server_groups())
    assert first.fresh
    written = (tmp_path / "servergroups.json").stat().st_mtime
    clock[0] = written + TTL - 1
    second = fresh_process()
    run_virtual(second.server_groups())
    assert not second.fresh
    assert len(server.discovered) == 2
    clock[0] = written + TTL + 1
    run_virtual(fresh_process().server_groups())
    assert len(server.discovered) == 4


def test_a_broken_file_is_no_answer(tmp_path):
    server = FakeServer()
    (tmp_path / "servergroups.json").write_text('{"kind": "APIGroupList", "gro')
    groups = run_virtual(CachedDiscoveryClient(client_of(server), tmp_path).server_groups())
    assert len(groups["groups"]) == 21
    assert oct((tmp_path / "servergroups.json").stat().st_mode)[-3:] == "660"
    assert [path.name for path in tmp_path.iterdir()] == ["servergroups.json"], "nothing half-written is left"


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    (tmp_path / "taken").write_text("a file")
    client = CachedDiscoveryClient(client_of(FakeServer()), tmp_path / "taken" / "x")
    assert run_virtual(client.server_groups())["groups"]


def test_what_is_not_found_in_a_cache_is_asked_again(tmp_path):
    """A resource that came after the cache was filled is found all the same, at the price of one more round."""
    old = FakeServer()

    def without_jobs(request: Request):
        document = FakeServer.discovery(old, request)
        if request.path != "/apis" or not document:
            return document
        items = [item for item in document["discovery"]["items"] if item["metadata"]["name"] != "batch"]
        return {"discovery": {**document["discovery"], "items": items}}

    old.discovery = without_jobs  # type: ignore[method-assign]
    run_virtual(groups_and_resources(CachedDiscoveryClient(client_of(old), tmp_path)))
    server = FakeServer()
    session = Session(
        Client(server, "test"),
        io.StringIO(),
        io.StringIO(),
        discovery=CachedDiscoveryClient(client_of(server), tmp_path),
    )
    assert run_virtual(session.resource_for("pods")).plural == "pods"
    assert server.discovered == []
    assert run_virtual(session.resource_for("jobs")).plural == "jobs"
    assert server.discovered == ["/api", "/apis"]
    with pytest.raises(NoMatchError):
        run_virtual(session.resource_for("nonsense"))
    assert len(server.discovered) == 2, "what comes fresh from the server is believed"


@pytest.mark.parametrize(
    ("host", "folder"),
    [
        ("https://127.0.0.1:6443", "127.0.0.1_6443"),
        ("http://localhost:8080", "localhost_8080"),
        ("https://kube.example.com", "kube.example.com"),
        ("https://kube.example.com/k8s/clusters/c-1", "kube.example.com/k8s/clusters/c_1"),
        ("https://[::1]:6443", "___1__6443"),
    ],
)
def test_one_folder_for_each_server(host, folder):
    assert compute_discover_cache_dir(Path("d"), host) == Path("d") / folder


def test_where_caches_are():
    assert default_cache_directory({"HOME": "/h"}) == Path("/h/.kube/cache")
    assert default_cache_directory({"HOME": "/h", "KUBECACHEDIR": "/c"}) == Path("/c")


class Etag:
    """A server whose document changes when it is told to."""

    def __init__(self) -> None:
        self.version = 1
        self.seen: list[str] = []

    async def round_trip(self, request: Request) -> Response:
        self.seen.append(request.headers.get("if-none-match", ""))
        tag = f'"{self.version}"'
        headers = {"etag": tag, "cache-control": "public", "vary": "Accept", "content-type": "application/json"}
        if self.seen[-1] == tag:
            return Response(304, headers)
        return Response(200, headers, body=b'{"v": %d}' % self.version)

    async def close(self) -> None:
        pass


def test_an_answer_is_kept_and_checked_with_the_server(tmp_path):
    server = Etag()
    cache = CacheTransport(server, tmp_path, "https://h:1")

    def get(accept: str = "a") -> bytes:
        request = Request("GET", "/api", query={"timeout": ["32s"]}, headers={"accept": accept})
        return asyncio.run(cache.round_trip(request)).body or b""

    assert [get(), get()] == [b'{"v": 1}'] * 2
    server.version = 2
    assert get() == b'{"v": 2}'
    assert get("another form") == b'{"v": 2}'
    assert server.seen == ["", '"1"', '"1"', ""], "another Accept is another answer"
    names = [path.name for path in tmp_path.iterdir() if path.is_file()]
    assert [len(name) for name in names] == [64]


@given(st.binary(max_size=64), st.integers(0, 200))
def test_a_torn_file_is_no_answer(tmp_path_factory, value, cut):
    cache = SumDiskCache(tmp_path_factory.mktemp("http"))
    cache.set("key", value)
    assert cache.get("key") == value
    path = cache.path("key")
    whole = path.read_bytes()
    path.write_bytes(whole[:cut])
    assert cache.get("key") == (value if cut >= len(whole) else None)
    os.remove(path)
    assert cache.get("key") is None


def test_a_short_name_with_two_meanings_is_told():
    server = FakeServer()
    mapper = run_virtual(rest_mapper_for(client_of(server)))
    twin = replace(mapper.resource_for("pods"), group="example.com", plural="pockets", kind="Pocket", singular="pocket")
    told: list[str] = []
    both = RESTMapper([*mapper.resources, twin])
    assert both.resource_for("po", told.append).plural == "pods"
    assert told == ['short name "po" could also match lower priority resource pockets.example.com']
    assert both.resource_for("po.example.com", told.append).plural == "pockets"
    assert both.resource_for("pods", told.append).plural == "pods"
    assert len(told) == 1


def test_a_server_that_serves_nothing_says_so():
    class Broken(FakeServer):
        async def round_trip(self, request: Request) -> Response:
            if request.path.count("/") > 1:
                return Response(503, obj={"kind": "Status", "code": 503, "message": "down"})
            return await super().round_trip(request)

    with pytest.raises(CommandError, match="unable to retrieve the complete list of server APIs"):
        run_virtual(groups_and_resources(client_of(Broken(aggregated=False))))
