"""Clients that are slow, stuck, gone or many: nobody else notices, and what was acknowledged stays."""

from __future__ import annotations

import asyncio
import gc
import json
import random
import socket
import time
import weakref
from typing import Any

import pytest
from aiohttp import web

from lifecycle.apiserver.server import connection, https, incoming, large_answers
from lifecycle.apiserver.storage.cacher import cache_watcher
from tests.apiserver.https_site import CONFIG_MAPS, Site, config_map, read_answer, request_bytes

PROMPT = 5.0
"""Seconds in which a healthy server answers /livez, on a busy machine."""


async def answers_promptly(site: Site) -> None:
    start = time.monotonic()
    assert (await site.ask("GET", "/livez"))[2] == b"ok"
    assert time.monotonic() - start < PROMPT


async def until(condition: Any) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def watchers(site: Site) -> int:
    return len(site.server.cachers["", "configmaps"].watchers())


def test_a_body_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "BODY_TIMEOUT", 0.3)

    async def main() -> None:
        async with Site() as site:
            reader, writer = await site.connect()
            writer.write(request_bytes("POST", CONFIG_MAPS, Content_Length="1000"))
            for _ in range(5):
                writer.write(b"{")
                await answers_promptly(site)
            assert (await read_answer(reader))[0] == 408
            assert await reader.read() == b""  # and the connection is closed
            writer.close()

    asyncio.run(main())


def test_a_handshake_that_never_comes_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(https, "TLS_HANDSHAKE_TIMEOUT", 0.2)

    async def main() -> None:
        async with Site() as site:
            silent = [await asyncio.open_connection("127.0.0.1", site.port) for _ in range(20)]
            silent[0][1].write(b"GET / HTTP/1.1\r\n\r\n")  # not TLS at all
            silent[1][1].write(b"\x16\x03\x01\x02\x00\x01")  # the beginning of a hello
            await answers_promptly(site)
            async with asyncio.timeout(60):
                for reader, writer in silent:
                    assert len(await reader.read()) < 100  # an alert at most
                    writer.close()

    asyncio.run(main())


def test_who_never_shakes_hands_leaves_no_connection_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_REQUEST_TIMEOUT", 0.01)

    async def main() -> None:
        made = connection.Connection(web.Server(lambda _: None), loop=asyncio.get_running_loop())  # type: ignore[arg-type]
        gone = asyncio.Event()
        weakref.finalize(made, gone.set)
        del made
        assert not gone.is_set(), "its parser knows it, and it its parser"
        async with asyncio.timeout(60):
            await gone.wait()

    gc.disable()
    try:
        asyncio.run(main())
    finally:
        gc.enable()


def test_a_connection_without_a_request_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "FIRST_REQUEST_TIMEOUT", 0.2)

    async def main() -> None:
        async with Site() as site:
            reader, writer = await site.connect()
            writer.write(b"GET /livez HTTP/1.1\r\nHo")
            async with asyncio.timeout(60):
                assert await reader.read() == b""
            writer.close()

    asyncio.run(main())


async def deaf_watch(site: Site) -> socket.socket:
    """A watch whose client reads its headers and then nothing."""
    plain = socket.socket()
    plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    plain.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.sock_connect(plain, ("127.0.0.1", site.port))
    reader, writer = await asyncio.open_connection(sock=plain, ssl=site.tls, server_hostname="127.0.0.1", limit=1024)
    writer.write(request_bytes("GET", f"{CONFIG_MAPS}?watch=true&resourceVersion=0"))
    await reader.readuntil(b"\r\n\r\n")
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    site.deaf = (reader, writer)  # type: ignore[attr-defined]  # kept open
    return plain


@pytest.mark.parametrize(("limit", "value"), [("time", 0.4), ("frames", 20)])
def test_a_watch_that_is_never_read_is_ended(monkeypatch: pytest.MonkeyPatch, limit: str, value: float) -> None:
    """After so much time, or so many frames: both bound what one deaf client can cost."""
    if limit == "time":
        monkeypatch.setattr(large_answers, "WRITE_TIMEOUT", value)
    else:
        monkeypatch.setattr(cache_watcher, "MAX_PENDING", value)
    large = "x" * 50_000

    async def main() -> None:
        async with Site() as site:
            assert (await site.ask("POST", CONFIG_MAPS, config_map("busy")))[0] == 201
            await deaf_watch(site)
            await until(lambda: watchers(site) == 1)
            for number in range(100):
                body = config_map("busy", number=str(number), text=large)
                assert (await site.ask("PUT", f"{CONFIG_MAPS}/busy", body))[0] == 200
            await answers_promptly(site)
            await until(lambda: watchers(site) == 0)
            site.deaf[1].transport.abort()  # type: ignore[attr-defined]

    asyncio.run(main())


def test_who_leaves_in_the_middle_leaves_nothing_behind() -> None:
    async def main() -> None:
        async with Site() as site:
            for number in range(20):
                _, writer = await site.connect()
                body = json.dumps(config_map(f"half-{number}", k="v" * 1000)).encode()
                writer.write(request_bytes("POST", CONFIG_MAPS, body)[:-10])
                await writer.drain()
                writer.transport.abort()
            for _ in range(20):
                reader, writer = await site.connect()
                writer.write(request_bytes("GET", f"{CONFIG_MAPS}?watch=true"))
                await reader.readuntil(b"\r\n\r\n")
                writer.transport.abort()
            await until(lambda: watchers(site) == 0)
            found = json.loads((await site.ask("GET", CONFIG_MAPS))[2])["items"]
            assert [item["metadata"]["name"] for item in found if item["metadata"]["name"].startswith("half")] == []

    asyncio.run(main())


def test_a_half_closed_connection_still_gets_its_answer_or_an_end() -> None:
    """TLS has no half-open state worth relying on; the server must neither hang nor fail."""

    async def main() -> None:
        async with Site() as site:
            reader, writer = await site.connect()
            writer.write(request_bytes("GET", CONFIG_MAPS))
            await writer.drain()
            writer.transport.get_extra_info("socket").shutdown(socket.SHUT_WR)
            async with asyncio.timeout(60):
                assert (await reader.read())[:15] in (b"", b"HTTP/1.1 200 OK")
            writer.transport.abort()
            await answers_promptly(site)

    asyncio.run(main())


def test_two_hundred_connections_at_once() -> None:
    async def client(site: Site, number: int) -> int:
        reader, writer = await site.connect()
        done = 0
        for step in range(3):
            body = json.dumps(config_map(f"c-{number}-{step}", k=str(number))).encode()
            writer.write(request_bytes("POST", CONFIG_MAPS, body))
            done += (await read_answer(reader))[0] == 201
        writer.close()
        return done

    async def main() -> None:
        async with Site() as site:
            assert sum(await asyncio.gather(*(client(site, number) for number in range(200)))) == 600
            assert len(json.loads((await site.ask("GET", CONFIG_MAPS))[2])["items"]) >= 600

    asyncio.run(main())


# -- the storm -----------------------------------------------------------------------------------------------------------


async def honest(site: Site, number: int, acknowledged: dict[str, str | None]) -> None:
    """Creates, updates, patches, deletes; writes down what was acknowledged."""
    chance = random.Random(number)
    reader, writer = await site.connect()
    for step in range(25):
        name = f"honest-{number}-{chance.randrange(8)}"
        kind = chance.choice(["POST", "PUT", "PATCH", "DELETE"])
        text = f"{number}-{step}"
        path = CONFIG_MAPS if kind == "POST" else f"{CONFIG_MAPS}/{name}"
        body = b"" if kind == "DELETE" else json.dumps(config_map(name, text=text)).encode()
        media_type = "application/merge-patch+json" if kind == "PATCH" else "application/json"
        writer.write(request_bytes(kind, path, body, Content_Type=media_type))
        code, _, _ = await read_answer(reader)
        assert code in (200, 201, 404, 409), code
        if code in (200, 201):
            acknowledged[name] = None if kind == "DELETE" else text
    writer.close()


async def hostile(site: Site, number: int) -> None:
    """Nonsense of all kinds."""
    chance = random.Random(-number)
    for _ in range(12):
        _, writer = await site.connect()
        request = request_bytes(
            "POST", CONFIG_MAPS, json.dumps(config_map(f"honest-{number}-0")).encode(), token="wrong"
        )
        bad = chance.choice(
            [
                chance.randbytes(500),
                request,
                request[: chance.randrange(len(request))],
                request_bytes(
                    "PATCH", f"{CONFIG_MAPS}/honest-{number}-0", b"[" * 3000, Content_Type="application/json-patch+json"
                ),
                request_bytes("DELETE", f"{CONFIG_MAPS}/honest-{number}-0", b"{not json"),
                request_bytes("GET", f"{CONFIG_MAPS}?watch=true"),
                request_bytes("POST", CONFIG_MAPS, Content_Length="99999999"),
                request_bytes("PUT", f"{CONFIG_MAPS}/honest-{number}-0", b'{"kind":"Pod"}'),
            ]
        )
        writer.write(bad)
        await asyncio.sleep(chance.random() * 0.02)
        writer.transport.abort()


def test_nothing_acknowledged_is_lost_in_a_storm() -> None:
    acknowledged: dict[str, str | None] = {}

    async def main() -> None:
        async with Site() as site:
            clients = [honest(site, number, acknowledged) for number in range(20)]
            clients += [hostile(site, number) for number in range(20)]
            await asyncio.gather(*clients)
            listed = json.loads((await site.ask("GET", CONFIG_MAPS))[2])["items"]
            data = {
                item["metadata"]["name"]: item["data"]["text"] for item in listed if "text" in (item.get("data") or {})
            }
            expected = {name: text for name, text in acknowledged.items() if text is not None}
            assert data == expected
            for name, text in list(expected.items())[:20]:
                code, _, body = await site.ask("GET", f"{CONFIG_MAPS}/{name}")
                assert (code, json.loads(body)["data"]["text"]) == (200, text)
            await answers_promptly(site)

    asyncio.run(main())
    assert len(acknowledged) > 50
