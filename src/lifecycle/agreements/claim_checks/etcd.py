"""Claims about the way into etcd: keys, values, errors, and what does not happen
afterwards.
"""

from __future__ import annotations

import asyncio
from functools import partial
from ipaddress import IPv4Network
from typing import Any

from lifecycle.agreements.etcd import objects_from_api, recorded_keys, recorded_values
from lifecycle.agreements.resource_handling import on_a_server
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.service.store import range_offset
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.etcd.codec import PROTOBUF, decode_value, encode_value
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.lease_manager import LeaseManager
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.prefixed import PrefixedStore
from lifecycle.etcd.store import RequestTooLargeError
from lifecycle.inspector import Recording

MAPS = resource("configmaps")


def config_map(name: str = "m", **metadata: Any) -> Object:
    """An object that nothing else depends on."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, **metadata},
        "data": {"k": "v"},
    }


class CountingStore(MemoryStore):
    """Writes down what is asked of it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[tuple[str, str]] = []

    async def get(self, key: str, revision: int = 0) -> Any:
        """See `Store`."""
        self.asked.append(("get", key))
        return await super().get(key, revision)

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> Any:
        """See `Store`."""
        self.asked.append(("range", start))
        return await super().range(start, end, revision=revision, limit=limit)

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """See `Store`."""
        self.asked.append(("put", key))
        return await super().put(key, value, expected=expected, lease=lease)


@check("etcd-object-is-persisted")
def recorded_persisted(recording: Recording) -> bool | None:
    """What the API showed is what etcd held, byte by byte."""
    answers = objects_from_api(recording)
    same = []
    for kept in recorded_values(recording):
        obj = decode_value(kept.value, kept.mod_revision)
        answer = answers.get((obj["metadata"].get("uid", ""), str(kept.mod_revision)))
        if answer is not None:
            same.append(encode_value(answer, PROTOBUF) == kept.value)
    return all(same) if same else None


@rebuilt("etcd-object-is-persisted")
def persisted() -> bool:
    """Under the key, through the store's protocol; and what is to be gone after a while
    is written with a lease that it shares with others.
    """

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        created = await client.create(MAPS, config_map(), "default")
        kept = await server.store.get("/registry/configmaps/default/m")
        return (
            kept is not None and decode_value(kept.value, kept.mod_revision) == created
        )

    return on_a_server(scene) and on_virtual_time(_leases()) == [1, 1, 1, 2, 3, 4]


async def _leases() -> list[int]:
    """The leases, numbered as they are granted, of events that live for an hour: four
    within a minute, where no more than three may share one; one two minutes later; and
    one that is to live for longer.
    """
    granted: list[int] = []

    class Lessor(MemoryStore):
        async def grant(self, ttl: int) -> int:
            """See `Store`."""
            granted.append(await super().grant(ttl))
            return granted[-1]

    hour, manager, given = 3600, LeaseManager(Lessor(), max_attached=3), []
    for pause, ttl in (
        *[(0, hour), (20, hour), (20, hour), (0, hour)],
        *[(120, hour), (0, 2 * hour)],
    ):
        await asyncio.sleep(pause)
        given.append(await manager.get_lease(ttl))
    return [granted.index(lease) + 1 for lease in given]


def _layout(keys: list[str]) -> Partly:
    namespaced = any(
        key == "/registry/configmaps/kube-system/kubeadm-config" for key in keys
    )
    alone = any(key.startswith("/registry/minions/") for key in keys)
    special = any(key.startswith("/registry/services/specs/default/") for key in keys)
    return Partly(namespaced, alone and special)


@check("etcd-key-is-namespace-slash-name")
def recorded_layout(recording: Recording) -> Partly | None:
    """A ConfigMap's key ends with both; a node's has no namespace, and Services lie
    under a name of their own.
    """
    keys = recorded_keys(recording)
    return _layout(keys) if keys else None


@rebuilt("etcd-key-is-namespace-slash-name")
def layout() -> Partly:
    """The same of ours."""
    asked = (
        ("configmaps", "kube-system", "kubeadm-config"),
        ("nodes", "", "n"),
        ("services", "default", "s"),
    )
    return _layout(
        [
            registry_key(resource(plural), namespace, name)
            for plural, namespace, name in asked
        ]
    )


@rebuilt("etcd-key-layout-configurable")
def configurable() -> Partly:
    """The root can be another one; what comes below stays."""
    inner = MemoryStore()

    async def scene(server: GenericAPIServer, client: Client) -> list[str]:
        await client.create(MAPS, config_map(), "default")
        return [kv.key for kv in (await inner.range("/", "0")).kvs]

    keys = on_a_server(scene, PrefixedStore(inner, "/book"))
    moved = all(key.startswith("/book/") for key in keys)
    return Partly(moved, "/book/configmaps/default/m" in keys)


@check("etcd-create-errors-are-checked")
def recorded_create_error(recording: Recording) -> bool:
    """The same name twice is a 409."""
    conflicts = [
        each
        for each in recording.exchanges("storage")
        if each.moment == "already exists"
    ]
    return bool(conflicts) and all(
        each.status == 409 and each.response["reason"] == "AlreadyExists"
        for each in conflicts
    )


async def _created(client: Client, obj: Object) -> str:
    """The name that an object was stored under, or the reason why it was not."""
    try:
        return str((await client.create(MAPS, obj, "default"))["metadata"]["name"])
    except StatusError as error:
        return error.reason


@rebuilt("etcd-create-errors-are-checked")
def create_error() -> bool:
    """A lost race is told, or with a generated name tried again. What is too large is
    tried again without the notes on who set which field; a change that names the
    version it is of is a conflict if that is not there any more, and one that names
    none is made anew.
    """

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        await client.create(MAPS, config_map("taken-1"), "default")
        names = iter(["taken-1", "taken-1", "taken-2"])
        server.names.generate_name = lambda base: next(names)  # type: ignore[method-assign]
        refusal = await _created(client, config_map("taken-1"))
        return (
            refusal,
            await _created(client, config_map("", generateName="taken-")),
        ) == ("AlreadyExists", "taken-2")

    raced = _Raced()
    return (
        on_a_server(scene)
        and on_a_server(_too_large, _Narrow())
        and on_a_server(partial(_somebody_quicker, raced), raced)
    )


class _Narrow(MemoryStore):
    """Takes so many bytes of a value and no more."""

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """See `Store`."""
        if "/configmaps/" in key and len(value) > 400:
            raise RequestTooLargeError()
        return await super().put(key, value, expected=expected, lease=lease)


async def _too_large(server: GenericAPIServer, client: Client) -> bool:
    """Values that fit in, that fit in without the notes, and that do not fit in."""
    kept = []
    for size in (10, 150, 500):
        body = {**config_map(f"m{size}"), "data": {"v": "x" * size}}
        if await _created(client, body) == f"m{size}":
            made = await client.get(MAPS, f"m{size}", "default")
            kept.append((size, "managedFields" in made["metadata"]))
    return kept == [(10, True), (150, False)]


class _Raced(MemoryStore):
    """Somebody else is quicker whenever one change is to be written: so many times."""

    races = 0

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """See `Store`."""
        if self.races and key.endswith("/raced"):
            self.races -= 1
            await super().put(key, value, lease=lease)
        return await super().put(key, value, expected=expected, lease=lease)


async def _somebody_quicker(
    store: _Raced, server: GenericAPIServer, client: Client
) -> bool:
    made = await client.create(MAPS, config_map("raced"), "default")
    anyhow = {**made, "metadata": {**made["metadata"]}}
    del anyhow["metadata"]["resourceVersion"]
    said = []
    for change in (made, anyhow):
        store.races = 1
        try:
            await client.update(MAPS, {**change, "data": {"by": "me"}})
            said.append("written")
        except StatusError as error:
            said.append(error.reason)
    return said == ["Conflict", "written"]


@rebuilt("etcd-get-after-create")
def get_after_create() -> bool:
    """Is the key read after it was written?"""
    store = CountingStore()

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        store.asked.clear()
        await client.create(MAPS, config_map(), "default")
        await asyncio.sleep(1)
        key = registry_key(MAPS, "default", "m")
        assert ("put", key) in store.asked
        return any(
            verb != "put" and key.startswith(where) for verb, where in store.asked
        )

    return on_a_server(scene, store)


@check("etcd-post-create-hooks-and-decorator")
def recorded_hooks(recording: Recording) -> bool:
    """A Service comes back with an address that nobody sent: its registry allocated it
    around the write.
    """
    creations = [
        each
        for each in recording.exchanges("services")
        if each.method == "POST"
        and each.status == 201
        and each.response.get("kind") == "Service"
    ]
    return any(
        (each.response["spec"].get("clusterIP") or "None") != "None"
        for each in creations
    )


@rebuilt("etcd-post-create-hooks-and-decorator")
def hooks() -> bool:
    """Ours are called in this order, the decorator on what is shown and not on what is
    stored. (A Service's hook takes an address from the upper part of its network, as
    long as there is one: the lower is for those who wish for one.)
    """
    kept_free = {
        length: range_offset(IPv4Network((0, length)))
        for length in (28, 27, 24, 20, 16)
    }
    assert kept_free == {28: 0, 27: 16, 24: 16, 20: 256, 16: 256}
    called: list[str] = []

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        store = server.stores["", "configmaps"]

        def begin(obj: Object, scope: RequestScope) -> None:
            called.append("begin")

        def after(obj: Object) -> None:
            called.append(f"after {bool(obj['metadata'].get('resourceVersion'))}")

        def decorate(obj: Object) -> Object:
            called.append("decorate")
            return {**obj, "data": {**obj["data"], "shown": "yes"}}

        store.begin_create, store.after_create, store.decorate = begin, after, decorate  # type: ignore[method-assign]
        created = await client.create(MAPS, config_map(), "default")
        kept = await server.store.get(registry_key(MAPS, "default", "m"))
        return (
            created["data"].get("shown") == "yes"
            and kept is not None
            and b"shown" not in kept.value
        )

    return on_a_server(scene) and called == ["begin", "after True", "decorate"]
