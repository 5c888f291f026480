"""Requests made to exhaust the server: its memory and its event loop stay bounded."""

from __future__ import annotations

import asyncio
import gc
import time
import tracemalloc
from typing import Any

from lifecycle.api.patch.strategic import consume_patch
from lifecycle.api.schema import schema_for
from lifecycle.apiserver.registry.metadata import dedup_owner_references
from tests.apiserver.https_site import CONFIG_MAPS, Site, message_of


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
