"""Requests made to exhaust the server: its memory and its event loop stay bounded."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc

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
            body = b"[" + b"[[[[[]]]]]," * 260_000 + b"x"
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
