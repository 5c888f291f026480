"""Claims about the way into etcd: keys, values, errors, and what does not happen
afterwards.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.agreements.etcd.keys_and_values import (
    objects_from_api,
    recorded_keys,
    recorded_values,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.etcd.codec import PROTOBUF, decode_value, encode_value
from lifecycle.etcd.keys import registry_key
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.prefixed import PrefixedStore
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
    """Under the key, through the store's protocol."""

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        created = await client.create(MAPS, config_map(), "default")
        kept = await server.store.get("/registry/configmaps/default/m")
        return (
            kept is not None and decode_value(kept.value, kept.mod_revision) == created
        )

    return on_a_server(scene)


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
    """A lost race is told, or with a generated name tried again."""

    async def scene(server: GenericAPIServer, client: Client) -> bool:
        await client.create(MAPS, config_map("taken-1"), "default")
        names = iter(["taken-1", "taken-1", "taken-2"])
        server.names.generate_name = lambda base: next(names)  # type: ignore[method-assign]
        refusal = await _created(client, config_map("taken-1"))
        return (
            refusal,
            await _created(client, config_map("", generateName="taken-")),
        ) == ("AlreadyExists", "taken-2")

    return on_a_server(scene)


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
    stored.
    """
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
