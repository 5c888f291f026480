"""What goes into a store: in which form, under which lease, and what of an object does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.agreements.claim_checks.etcd import MAPS, config_map
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.etcd.memory import MemoryStore

SECRETS, EVENTS = resource("secrets"), resource("events")
MAGIC = b"k8s\x00"
"""What the real API server's values begin with. Upstream: `serializer/protobuf`, `protoEncodingPrefix`."""
EVENT = {
    "apiVersion": "v1",
    "kind": "Event",
    "metadata": {"name": "e"},
    "involvedObject": {"kind": "Pod", "namespace": "default", "name": "p"},
}


class _Noting(MemoryStore):
    """Keeps each value that is put, by the last part of its key, with the lease."""

    def __init__(self, remote: bool) -> None:
        super().__init__()
        self.remote = remote  # type: ignore[misc]
        self.put_: dict[str, tuple[bytes, int]] = {}
        self.granted: list[int] = []

    async def put(self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0) -> int | None:
        self.put_[key] = value, lease
        return await super().put(key, value, expected=expected, lease=lease)

    async def grant(self, ttl: int) -> int:
        self.granted.append(ttl)
        return await super().grant(ttl)


def written(remote: bool) -> _Noting:
    store = _Noting(remote)

    async def scene(server: GenericAPIServer, client: Client) -> None:
        made = await client.create(MAPS, config_map("m"), "default")
        await client.update(MAPS, {**made, "data": {"v": "2"}})
        await client.create(EVENTS, EVENT, "default")
        await client.create(SECRETS, {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "s"}}, "default")

    on_a_server(scene, store)
    return store


KEYS = {"m": "/registry/configmaps/default/m", "s": "/registry/secrets/default/s", "e": "/registry/events/default/e"}


@pytest.mark.parametrize("remote", [False, True])
def test_where_others_read_along_values_are_protobuf_and_else_json(remote: bool) -> None:
    store = written(remote)
    for key in KEYS.values():
        value, _ = store.put_[key]
        assert value.startswith(MAGIC if remote else b"{"), key
        assert b"resourceVersion" not in value


def test_events_alone_have_a_lease_of_an_hour_or_a_little_more() -> None:
    store = written(remote=False)
    assert {name: bool(store.put_[key][1]) for name, key in KEYS.items()} == {"m": False, "s": False, "e": True}
    [ttl] = store.granted
    assert 3600 <= ttl <= 3600 * 1.05 + 1


@pytest.mark.parametrize("version", ["", "0"])
def test_who_creates_names_no_version_and_what_is_stored_has_none(version: str) -> None:
    store = _Noting(remote=False)

    async def scene(server: GenericAPIServer, client: Client) -> str:
        body: dict[str, Any] = config_map("m")
        body["metadata"] = {**body["metadata"], "resourceVersion": version, "selfLink": "/x"}
        made = await client.create(MAPS, body, "default")
        assert "selfLink" not in made["metadata"]
        return str(made["metadata"]["resourceVersion"])

    told = on_a_server(scene, store)
    meta = json.loads(store.put_[KEYS["m"]][0])["metadata"]
    assert int(told) > 0
    assert not meta.keys() & {"resourceVersion", "selfLink"}


def test_who_creates_with_a_version_is_refused() -> None:
    async def scene(server: GenericAPIServer, client: Client) -> tuple[int, str]:
        body: dict[str, Any] = config_map("m")
        body["metadata"] = {**body["metadata"], "resourceVersion": "7"}
        with pytest.raises(StatusError) as refused:
            await client.create(MAPS, body, "default")
        return refused.value.code, refused.value.message

    assert on_a_server(scene) == (500, "resourceVersion should not be set on objects to be created")
