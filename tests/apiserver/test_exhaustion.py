"""Requests made to exhaust the server: its memory and its event loop stay bounded."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc

from tests.apiserver.https_site import Site


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
