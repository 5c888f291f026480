"""Requests made to exhaust the server: its memory and its event loop stay bounded."""

from __future__ import annotations

import asyncio
import gc
import json
import sys
import time
import tracemalloc
from functools import _lru_cache_wrapper
from typing import Any

from lifecycle.api.http.wire import Request, UserInfo
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.patch.strategic import consume_patch
from lifecycle.api.protobuf.envelope import MAGIC
from lifecycle.api.protobuf.wire_format import delimited
from lifecycle.api.schema import schema_for
from lifecycle.apiserver.registry.metadata import dedup_owner_references
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.etcd.memory import MemoryStore
from tests.apiserver.https_site import CONFIG_MAPS, Site, message_of
from tests.furnished import restored


def test_what_anonymous_callers_send_is_not_kept() -> None:
    """Each request has a path, an accept header and a user agent of its own, of a quarter of a megabyte each."""

    async def scene() -> None:
        async with Site() as site:

            async def send(number: int) -> None:
                long = f"{number}{'a' * (1 << 18)}"
                headers = {"Accept": f"application/json, {long}", "User_Agent": long}
                for path in (f"/{long}", f"/api/v1/namespaces/{long}/pods"):
                    assert (await site.ask("GET", path, token="", **headers))[0] == 403

            await send(0)
            gc.collect()
            tracemalloc.start()
            try:
                for number in range(1, 20):
                    await send(number)
                gc.collect()
                kept, _ = tracemalloc.get_traced_memory()
            finally:
                tracemalloc.stop()
            assert kept < 4 << 20  # of 30 MB

    asyncio.run(scene())


def entries_without_a_bound() -> dict[str, int]:
    """How much is in the caches that never forget."""
    modules = [module for name, module in sys.modules.items() if name.startswith("lifecycle.")]
    found = {each for module in modules for each in vars(module).values() if isinstance(each, _lru_cache_wrapper)}
    return {
        f"{each.__module__}.{each.__qualname__}": each.cache_info().currsize
        for each in found
        if each.cache_info().maxsize is None
    }


def test_names_that_callers_make_up_are_in_no_cache_that_never_forgets() -> None:
    """A kind, a version, a namespace and a group of its own in each request, in every form that a body may have."""
    maps, reviews = "/api/v1/namespaces/default/configmaps", "/apis/authentication.k8s.io/v1/selfsubjectreviews"
    jane = UserInfo("jane", ("system:masters",))

    async def scene() -> None:
        server = create_server_chain(MemoryStore(), clock=Clock())
        await server.start(restored)

        async def send(method: str, path: str, body: bytes = b"", form: str = "json", accept: str = "*/*") -> int:
            headers = {"content-type": f"application/{form}", "accept": accept}
            request = Request(method, path, {"fieldManager": ["m"]}, headers, body, user=jane)
            return (await server.handler(request)).status

        async def make_up(number: int) -> None:
            kind, group = f"Kind{number}", f"g{number}.example"
            meta = delimited(b"\x0a", b"v%d" % number) + delimited(b"\x12", kind.encode())
            plain = json.dumps({"apiVersion": f"{group}/v1", "kind": kind, "metadata": {"name": "m"}}).encode()
            for path in (maps, reviews):
                assert await send("POST", path, plain) == 400
                assert await send("POST", path, MAGIC + delimited(b"\x0a", meta), "vnd.kubernetes.protobuf") == 400
            assert await send("DELETE", f"{maps}/m", plain) == 400
            assert await send("PUT", f"{maps}/m", plain) == 400
            assert await send("PATCH", f"{maps}/m", plain, "apply-patch+yaml") == 400
            assert await send("PATCH", f"{maps}/m", plain, "merge-patch+json") >= 400
            assert await send("GET", maps, accept=f"application/json;as={kind};g={group};v=v{number}") == 406
            assert await send("GET", f"/api/v1/namespaces/ns{number}/pods") == 200
            assert await send("GET", f"/apis/{group}/v1/things") == 404
            assert await send("GET", f"/openapi/v3/apis/{group}/v1") == 404

        await server.handler(
            Request("POST", maps, body=b'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"}}', user=jane)
        )
        await make_up(0)
        await make_up(1)
        before = entries_without_a_bound()
        for number in range(2, 12):
            await make_up(number)
        assert entries_without_a_bound() == before
        await server.stop()

    run_virtual(scene())


def test_others_are_answered_while_a_large_body_is_found_to_be_no_json() -> None:
    async def scene() -> None:
        async with Site() as site:
            body = b"[" + b"[[[[[]]]]]," * 60_000 + b"x"
            refused = asyncio.create_task(site.ask("POST", CONFIG_MAPS, body))
            answered = 0
            while not refused.done():
                assert (await site.ask("GET", "/livez"))[2] == b"ok"
                answered += 1
            assert message_of(await refused).endswith(
                "invalid character 'x' looking for beginning of value (5b5b5b5b5b5b5d5d5d5d5d2c5b5b5b5b5b5d5d5d5d5d2c5b5b5b5b5b5d5d ...)"
            )
            assert answered > 5

    asyncio.run(scene())


def test_owners_named_over_and_over_are_counted_in_one_pass() -> None:
    owners = [{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": str(number % 30_000)} for number in range(60_000)]
    obj: dict[str, Any] = {"metadata": {"ownerReferences": owners}}
    warnings: list[str] = []
    started = time.process_time()
    dedup_owner_references(obj, warnings)
    assert time.process_time() - started < 5  # compared with one another, they take minutes
    assert obj["metadata"]["ownerReferences"] == owners[:30_000]
    assert warnings[0].endswith(", ".join(str(number) for number in range(30_000)))


def test_an_order_of_many_elements_is_found_in_one_pass() -> None:
    names = [f"a.example/{number}" for number in range(30_000)]
    live = {"metadata": {"finalizers": names}}
    patch = {"metadata": {"$setElementOrder/finalizers": names[::-1]}}
    started = time.process_time()
    patched = consume_patch(live, patch, schema_for("v1", "ConfigMap"))
    assert time.process_time() - started < 10  # compared with one another, they take an hour
    assert patched["metadata"]["finalizers"] == names[::-1]
