"""What lies in the store cannot be read without the key; with it, everything works as before. Over memory and SQLite, on virtual time;
`tests/live/test_encryption_at_rest.py` has the same over etcd, beside the real server.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.storage.encrypted_store import EncryptedStore
from lifecycle.apiserver.storage.encryption_config.controller import EncryptionOptions
from lifecycle.apiserver.storage.encryption_config.transformers import Transformers
from lifecycle.etcd.keys import resource_of
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.sqlite import SQLiteStore
from lifecycle.etcd.store import Bell, Store
from tests.apiserver.asked_server import MERGE, Asked
from tests.apiserver.encryption_files import configuration, provider, write

SECRETS = "/api/v1/namespaces/default/secrets"
MARK = "the-marked-value"
KEY = "/registry/secrets/default/a"
WIDGETS = "/apis/example.com/v1/namespaces/default/widgets"
DEFINITION: Object = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "string"}}}},
            }
        ],
    },
}


def secret(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": {"k": MARK}}


class KeptStore:
    """A store that outlives the servers over it."""

    def __init__(self, inner: Store) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    async def close(self) -> None:
        """Not yet."""

    async def raw(self, key: str) -> bytes:
        kv = await self.inner.get(key)
        assert kv is not None, key
        return kv.value


Scene = Callable[[Asked], Awaitable[None]]


async def with_server(store: KeptStore, scene: Scene, file: Path | None = None, *, reload: bool = False) -> None:
    """Play a scene with a server over the store."""
    options = EncryptionOptions(file, reload) if file is not None else None
    server = create_server_chain(store, encryption=options)  # type: ignore[arg-type]
    await server.start()
    try:
        await scene(Asked(server))
    finally:
        await server.stop()


def play(main: Callable[[KeptStore], Awaitable[None]], store: Store | None = None) -> None:
    """On virtual time."""

    async def whole() -> None:
        kept = KeptStore(store or MemoryStore())
        await main(kept)
        await kept.inner.close()

    run_virtual(whole())


async def create(ask: Asked) -> None:
    assert (await ask("POST", SECRETS, secret("a")))[0] == 201


async def readable(ask: Asked) -> None:
    status, answer = await ask("GET", f"{SECRETS}/a")
    assert (status, base64.b64decode(answer["data"]["k"]).decode()) == (200, MARK)
    status, answer = await ask("GET", SECRETS)
    assert [item["metadata"]["name"] for item in answer["items"]] == ["a"]


@pytest.mark.parametrize("kind", ["aescbc", "aesgcm", "secretbox"])
@pytest.mark.parametrize("back_end", ["memory", "sqlite"])
def test_a_secret_lies_in_the_store_under_its_providers_name_and_is_read_as_before(
    kind: str, back_end: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "e", provider(kind, "key1"))
    store = SQLiteStore(tmp_path / "objects.db") if back_end == "sqlite" else MemoryStore()

    async def main(kept: KeptStore) -> None:
        await with_server(kept, create, file)
        stored = await kept.raw(KEY)
        assert stored.startswith(f"k8s:enc:{kind}:v1:key1:".encode())
        assert MARK.encode() not in stored
        assert base64.b64encode(MARK.encode()) not in stored
        assert not (await kept.raw("/registry/namespaces/default")).startswith(b"k8s:enc:")
        await with_server(kept, readable, file)

    play(main, store)
    if back_end == "sqlite":
        written = b"".join(path.read_bytes() for path in tmp_path.glob("objects.db*"))
        assert written
        assert MARK.encode() not in written
        assert base64.b64encode(MARK.encode()) not in written


def test_a_wildcard_covers_custom_resources_and_everything_that_the_server_makes_itself(tmp_path: Path) -> None:
    file = write(tmp_path / "e", provider("secretbox", "1"), resources=("*.*",))

    async def scene(ask: Asked) -> None:
        await create(ask)
        assert (await ask("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION))[0] == 201
        await asyncio.sleep(1)
        widget = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": MARK}
        status, answer = await ask("POST", WIDGETS, widget)
        assert status == 201, answer
        assert (await ask("GET", f"{WIDGETS}/w"))[1]["spec"] == MARK

    async def main(kept: KeptStore) -> None:
        await with_server(kept, scene, file)
        page = await kept.inner.range("/registry/", "/registry0")
        plain = {kv.key for kv in page.kvs if not kv.value.startswith(b"k8s:enc:secretbox:v1:1:")}
        assert {key for key in plain if resource_of(key) is not None} == set()
        assert "/registry/example.com/widgets/default/w" in {kv.key for kv in page.kvs}

    play(main)


def test_keys_are_changed_without_an_outage_by_writing_everything_again(tmp_path: Path) -> None:
    """New key behind the old one; to the front; everything written again, unchanged; the old one away."""

    async def rewrite(ask: Asked) -> None:
        before = (await ask("GET", f"{SECRETS}/a"))[1]
        status, after = await ask("PUT", f"{SECRETS}/a", before)
        assert status == 200
        assert after["metadata"]["resourceVersion"] != before["metadata"]["resourceVersion"]
        status, again = await ask("PATCH", f"{SECRETS}/a", {"data": {}}, **MERGE)
        assert again["metadata"]["resourceVersion"] == after["metadata"]["resourceVersion"], "it is not stale any more"

    async def main(kept: KeptStore) -> None:
        await with_server(kept, create)
        steps = (
            ([{"identity": {}}, provider("aescbc", "key1")], b"{"),
            ([provider("aescbc", "key1"), {"identity": {}}], b"k8s:enc:aescbc:v1:key1:"),
            ([provider("aescbc", "key2", "key1")], b"k8s:enc:aescbc:v1:key2:"),
            ([provider("aescbc", "key3"), provider("aescbc", "key2")], b"k8s:enc:aescbc:v1:key3:"),
            ([provider("secretbox", "s1"), provider("aescbc", "key3")], b"k8s:enc:secretbox:v1:s1:"),
            ([{"identity": {}}, provider("secretbox", "s1")], b"{"),
        )
        for number, (providers, start) in enumerate(steps):
            file = write(tmp_path / str(number), *providers)
            await with_server(kept, readable, file)
            if number:
                await with_server(kept, rewrite, file)
            assert (await kept.raw(KEY)).startswith(start)

    play(main)


async def refuses_all(ask: Asked, why: str) -> None:
    """Who asks for it, lists it, watches or changes it is told why; nobody is told that it is gone."""
    listed = f'unable to transform key "{KEY}": {why}'
    one, many = f"Internal error occurred: {why}", f"Internal error occurred: {listed}"
    status, answer = await ask("GET", f"{SECRETS}/a")
    assert (status, answer["message"], answer["reason"]) == (500, one, "InternalError")
    assert answer["details"] == {"causes": [{"message": why}]}
    assert await ask.refused("GET", SECRETS) == (500, many)
    assert await ask.refused("GET", f"{SECRETS}?limit=1") == (500, many)
    assert await ask.refused("GET", "/api/v1/secrets") == (500, many)
    assert (await ask("GET", "/api/v1/namespaces/kube-system/secrets"))[0] == 200
    for query in ("resourceVersion=0", "watch=1", "watch=1&resourceVersion=0"):
        status, answer = await ask("GET", f"{SECRETS}?{query}")
        assert (status, answer["reason"]) == (429, "TooManyRequests")
        assert answer["message"] == f"storage is (re)initializing: failed to list *core.Secret: {listed}"
        assert answer["details"] == {"retryAfterSeconds": 1}
    assert (await ask.refused("POST", SECRETS, secret("a")))[0] == 409
    assert await ask.refused("PUT", f"{SECRETS}/a", secret("a")) == (500, one)
    assert await ask.refused("PATCH", f"{SECRETS}/a", {"data": {}}, **MERGE) == (500, one)
    assert await ask.refused("DELETE", f"{SECRETS}/a") == (500, one)
    assert await ask.refused("DELETE", SECRETS) == (500, many)
    status, text = await ask("GET", "/readyz")
    assert status == 500
    assert "[-]informer-sync failed" in text
    assert "[-]poststarthook/storage-readiness failed" in text
    assert (await ask("POST", SECRETS, secret("new")))[0] == 201
    assert (await ask("DELETE", f"{SECRETS}/new"))[0] == 200
    await asyncio.sleep(30)
    assert (await ask("GET", f"{SECRETS}?watch=1"))[1]["details"] == {"retryAfterSeconds": 6}


REASONS: dict[str, tuple[list[Object] | None, str]] = {
    "no configuration": (None, "identity transformer tried to read encrypted data"),
    "a configuration of something else": ([], "identity transformer tried to read encrypted data"),
    "a key of another name": ([provider("aescbc", "key2")], "no matching key was found for the provided AES transformer"),
    "another provider": ([provider("secretbox", "key1")], "no matching prefix found"),
    "identity alone": ([{"identity": {}}], "no matching prefix found"),
}  # fmt: skip


@pytest.mark.parametrize("case", REASONS)
def test_an_object_without_its_key_is_an_error_and_not_gone(case: str, tmp_path: Path) -> None:
    providers, why = REASONS[case]

    async def main(kept: KeptStore) -> None:
        await with_server(kept, create, write(tmp_path / "e", provider("aescbc", "key1")))
        before = await kept.raw(KEY)
        file = None
        if providers is not None:
            resources = ("secrets",) if providers else ("configmaps",)
            file = write(tmp_path / "f", *(providers or [provider("aescbc", "key1")]), resources=resources)
        await with_server(kept, lambda ask: refuses_all(ask, why), file)
        assert await kept.raw(KEY) == before

    play(main)


def test_a_watch_ends_when_something_unreadable_appears_and_nobody_is_told_of_a_deletion(tmp_path: Path) -> None:
    file = write(tmp_path / "e", provider("aescbc", "key1"))

    async def main(kept: KeptStore) -> None:
        async def scene(ask: Asked) -> None:
            await create(ask)
            seen = asyncio.create_task(ask("GET", f"{SECRETS}?watch=1&timeoutSeconds=30"))
            await asyncio.sleep(1)
            began = asyncio.get_running_loop().time()
            await kept.inner.put(KEY, b"k8s:enc:aescbc:v1:key1:" + b"x" * 83)
            _, events = await seen
            assert asyncio.get_running_loop().time() - began < 5
            assert "DELETED" not in str(events)
            why = "the stored data is not a multiple of the block size"
            assert await ask.refused("GET", f"{SECRETS}/a") == (500, f"Internal error occurred: {why}")
            await kept.inner.delete(KEY)
            assert (await ask("GET", f"{SECRETS}/a"))[0] == 404
            await create(ask)
            await readable(ask)

        await with_server(kept, scene, file)

    play(main)


def test_a_changed_file_is_taken_over_within_a_minute_and_a_wrong_one_never(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(tmp_path / "e", provider("aescbc", "key1"))

    async def main(kept: KeptStore) -> None:
        async def scene(ask: Asked) -> None:
            await create(ask)
            file.write_text("resources: none of this")
            await asyncio.sleep(61)
            await readable(ask)
            assert f"error processing encryption config file {file}: error while parsing file:" in caplog.text
            write(file, provider("secretbox", "s1"), provider("aescbc", "key1"))
            await asyncio.sleep(61)
            await readable(ask)
            await ask("PATCH", f"{SECRETS}/a", {"data": {}}, **MERGE)
            assert (await kept.raw(KEY)).startswith(b"k8s:enc:secretbox:v1:s1:")
            write(file, provider("aescbc", "key1"))  # the key that is needed is no longer there
            await asyncio.sleep(61)
            assert await ask.refused("GET", f"{SECRETS}/a") == (
                500,
                "Internal error occurred: no matching prefix found",
            )
            write(file, provider("aescbc", "key1"), provider("secretbox", "s1"))
            await asyncio.sleep(61)
            await readable(ask)

        await with_server(kept, scene, file, reload=True)

    with caplog.at_level(logging.INFO):
        play(main)
    assert MARK not in caplog.text


def test_without_a_reload_a_changed_file_changes_nothing(tmp_path: Path) -> None:
    file = write(tmp_path / "e", provider("aescbc", "key1"))

    async def main(kept: KeptStore) -> None:
        async def scene(ask: Asked) -> None:
            write(file, provider("secretbox", "s1"))
            await asyncio.sleep(300)
            await create(ask)
            assert (await kept.raw(KEY)).startswith(b"k8s:enc:aescbc:v1:key1:")

        await with_server(kept, scene, file)

    play(main)


def test_a_watch_through_it_rings_the_bells_of_whoever_reads() -> None:
    async def main(kept: KeptStore) -> None:
        store = EncryptedStore(kept.inner, Transformers(configuration((("secrets",), [provider("aescbc", "1")]))))
        watch, bell = store.watch("/registry/secrets/", "/registry/secrets0"), Bell()
        watch.bells = [bell]
        await store.put(KEY, b"{}")
        assert bell.count() == 1
        assert [event.kv.value for event in watch.take()] == [b"{}"]
        await watch.close()

    play(main)


@pytest.mark.parametrize(
    ("key", "resource"),
    {
        KEY: ("", "secrets"),
        "/registry/minions/n": ("", "nodes"),
        "/registry/services/specs/default/s": ("", "services"),
        "/registry/services/endpoints/default/s": ("", "endpoints"),
        "/registry/events/default/e": ("", "events"),
        "/registry/deployments/default/d": ("apps", "deployments"),
        "/registry/apiextensions.k8s.io/customresourcedefinitions/x": ("apiextensions.k8s.io", "customresourcedefinitions"),
        "/registry/apiregistration.k8s.io/apiservices/x": ("apiregistration.k8s.io", "apiservices"),
        "/registry/example.com/widgets/default/w": ("example.com", "widgets"),
        "/registry/ranges/serviceips": None,
        "/registry/masterleases/10.0.0.1": None,
        "compact_rev_key": None,
    }.items(),
)  # fmt: skip
def test_a_key_says_whose_it_is(key: str, resource: tuple[str, str] | None) -> None:
    assert resource_of(key) == resource
