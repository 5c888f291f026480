"""What discovery says of groups and versions, and when what was kept of it is asked for once more."""

from __future__ import annotations

import io
import json
import time
from contextlib import suppress
from pathlib import Path

import pytest

from lifecycle.agreements.apiserver.remembering_server import RememberingServer, now
from lifecycle.agreements.claim_checks.discovery import cached, filled_home
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.client.rest import Client
from lifecycle.kubectl.discovery.cached_discovery import CachedDiscoveryClient
from lifecycle.kubectl.discovery.discovery_client import DiscoveryClient
from lifecycle.kubectl.failures import NoMatchError
from lifecycle.kubectl.session import Session


def _looked_for_again() -> list[int]:
    """How many requests discovery has cost after a command has asked for what was kept,
    for what is only there since then, and for that once more.
    """
    with filled_home() as (home, _):
        server = RememberingServer()
        session = Session(
            Client(server, "kubectl"),
            io.StringIO(),
            io.StringIO(),
            discovery=cached(server, home),
        )
        asked = []
        for name in ("deployments", "roles", "roles"):
            with suppress(NoMatchError):
                [target] = now(session.targets([f"{name}/x"]))
                assert target.resource.plural == name
                asked.append(len(server.discovered))
        return asked


def test_what_is_not_kept_is_looked_for_once() -> None:
    assert _looked_for_again() == [0, 2, 2]


class _Served:
    """A server of one document for each path; what it was asked."""

    def __init__(self, documents: dict[str, Object]) -> None:
        self.documents, self.asked = documents, list[str]()

    async def round_trip(self, request: Request) -> Response:
        self.asked.append(request.path)
        assert request.query.get("timeout"), "nobody waits for ever for what is only looked up"
        document = self.documents.get(request.path)
        return Response(200 if document else 404, body=json.dumps(document or {"kind": "Status", "code": 404}).encode())

    async def close(self) -> None: ...


def _aggregated(*versions: tuple[str, str]) -> Object:
    listed = [{"version": version, "freshness": freshness, "resources": []} for version, freshness in versions]
    return {"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "g.io"}, "versions": listed}]}


V1, V2 = ({"groupVersion": version, "version": version} for version in ("v1", "v2"))


@pytest.mark.parametrize(
    ("versions", "group"),
    [
        (["v1"], [{"name": "", "versions": [V1], "preferredVersion": V1}]),
        (["v2", "v1"], [{"name": "", "versions": [V2, V1], "preferredVersion": V2}]),
        ([], []),
    ],
)
def test_of_the_group_without_a_name_the_first_version_is_preferred(versions: list[str], group: list[Object]) -> None:
    server = _Served({"/api": {"kind": "APIVersions", "versions": versions}, "/apis": {"kind": "APIGroupList"}})
    assert now(DiscoveryClient(Client(server, "kubectl")).server_groups())["groups"] == group


@pytest.mark.parametrize(
    ("versions", "listed"),
    [
        ([("v1", "Current"), ("v2", "Current")], ["v1", "v2"]),
        ([("v1", "Stale"), ("v2", "Current")], ["v2"]),
        ([("v1", ""), ("v2", "Brandnew")], ["v1", "v2"]),  # of a word that nobody knows nobody says that it is old
        ([("v1", "Stale")], []),  # and the group is there all the same
    ],
)
def test_only_stale_versions_are_left_out(versions: list[tuple[str, str]], listed: list[str]) -> None:
    server = _Served({"/apis": _aggregated(*versions)})
    [group] = now(DiscoveryClient(Client(server, "kubectl")).server_groups())["groups"]
    assert group["name"] == "g.io"
    assert [version["version"] for version in group["versions"]] == listed
    assert group.get("preferredVersion", {}).get("version") == (listed[0] if listed else None)


@pytest.mark.parametrize("kept", [b"", b"{", b"null", b"[]", b'{"kind": "APIGroup", "groups": []}'])
def test_a_file_that_is_not_what_it_should_be_is_written_anew(kept: bytes, tmp_path: Path) -> None:
    """Somebody's disk was full, or another program has the same folder."""
    server = _Served({"/apis": _aggregated(("v1", "Current"))})
    (tmp_path / "servergroups.json").write_bytes(kept)
    client = CachedDiscoveryClient(DiscoveryClient(Client(server, "kubectl")), tmp_path)
    groups = now(client.server_groups())
    assert [group["name"] for group in groups["groups"]] == ["g.io"]
    assert server.asked == ["/api", "/apis"]
    assert json.loads((tmp_path / "servergroups.json").read_bytes()) == groups
    assert client.fresh


def test_who_has_used_one_file_of_another_process_is_not_fresh_any_more(tmp_path: Path) -> None:
    def client() -> CachedDiscoveryClient:
        return CachedDiscoveryClient(DiscoveryClient(Client(server, "kubectl")), tmp_path)

    rows = {"kind": "APIResourceList", "groupVersion": "g.io/v1", "resources": [{"name": "things"}]}
    server = _Served({"/apis": {"kind": "APIGroupList", "groups": [{"name": "g.io"}]}, "/apis/g.io/v1": rows})
    now(client().server_groups())
    second = client()
    now(second.server_groups())
    assert not second.fresh
    now(second.server_resources("g.io/v1"))  # comes from the server, and its file is this process's
    now(second.server_resources("g.io/v1"))
    assert not second.fresh
    second.invalidate()
    assert second.fresh


def test_what_this_process_wrote_is_too_old_as_well_one_day(tmp_path: Path) -> None:
    passed = [time.time()]
    server = _Served({"/apis": _aggregated(("v1", "Current"))})
    delegate = DiscoveryClient(Client(server, "kubectl"))
    client = CachedDiscoveryClient(delegate, tmp_path, ttl=60, now=lambda: passed[0])
    for later, asked in ((0, 2), (30, 2), (90, 4)):
        passed[0] += later
        delegate.invalidate()
        now(client.server_groups())
        assert len(server.asked) == asked
