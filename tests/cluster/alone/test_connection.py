"""The way to an API server: as whom, how patiently, and what is counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.transport_https import NoAnswerError
from lifecycle.cluster.alone.connection import WAIT, Connection, CountingTransport, Target
from lifecycle.cluster.kubeconfig_file import kubeconfig
from lifecycle.kubectl.failures import CommandError


class Scripted:
    """A transport that raises or returns, one after the other; the last one for ever."""

    def __init__(self, *answers: Exception | int) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def round_trip(self, request: Request) -> Response:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, Exception):
            raise answer
        return Response(answer, obj={"code": answer, "message": "no"})

    async def close(self) -> None:
        pass


def test_requests_are_counted_by_method_and_code() -> None:
    async def main() -> None:
        counts: Counter[tuple[str, str]] = Counter()
        transport = CountingTransport(Scripted(200, 404, OSError("away"), CommandError("no plugin")), counts)
        assert (await transport.round_trip(Request("GET", "/"))).status == 200
        assert (await transport.round_trip(Request("GET", "/"))).status == 404
        with pytest.raises(OSError, match=r"away$"):
            await transport.round_trip(Request("PUT", "/"))
        with pytest.raises(NoAnswerError, match=r"no plugin$"):  # credentials that cannot be had now
            await transport.round_trip(Request("PUT", "/"))
        assert counts == {("GET", "200"): 1, ("GET", "404"): 1, ("PUT", "<error>"): 2}

    run_virtual(main())


def target(path: Path, server: str, **more: object) -> Target:
    config = kubeconfig(server, b"", b"", b"", token="secret")
    path.write_text(yaml.safe_dump(config))
    return Target(str(path), **more)  # type: ignore[arg-type]


def test_a_server_that_comes_late_is_waited_for_and_one_that_never_comes_is_not(tmp_path: Path) -> None:
    async def main() -> None:
        connection = await Connection.open(target(tmp_path / "config", "http://127.0.0.1:1"), {})
        loop = asyncio.get_running_loop()
        try:
            late = Scripted(NoAnswerError("x"), NoAnswerError("x"), 200)
            await connection.wait_for_api_server(Client(late, "test/1"))
            assert late.asked == 3
            began = loop.time()
            with pytest.raises(NoAnswerError, match=r"^http://127.0.0.1:1 does not answer: x$"):
                await connection.wait_for_api_server(Client(Scripted(NoAnswerError("x")), "test/1"))
            assert loop.time() - began == pytest.approx(WAIT, abs=0.5)
        finally:
            await connection.close()

    run_virtual(main())


def test_it_can_stand_in_for_others_with_all_their_groups_and_for_nobody(tmp_path: Path) -> None:
    seen: list[tuple[str, list[str], list[str]]] = []

    async def handler(request: web.Request) -> web.StreamResponse:
        headers = request.headers
        agent = headers["user-agent"].partition("/")[0]
        seen.append((agent, headers.getall("impersonate-user", []), headers.getall("impersonate-group", [])))
        return web.json_response({})

    async def main() -> None:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", handler)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[union-attr]
        who = {"impersonate": "system:node:a", "impersonate_groups": ("system:nodes", "others")}
        connection = await Connection.open(target(tmp_path / "config", server, **who), {})
        try:
            await connection.client("kubelet").request("GET", "/version")
            await Client(connection.anonymous(), "nobody/1").request("GET", "/version")
            assert connection.host == server.removeprefix("http://")
            assert connection.requests == {("GET", "200"): 2}
        finally:
            await connection.close()
            await runner.cleanup()

    asyncio.run(main())
    assert seen == [("kubelet", ["system:node:a"], ["system:nodes", "others"]), ("nobody", [], [])]


def test_without_a_kubeconfig_nobody_is_asked(tmp_path: Path) -> None:
    async def main() -> None:
        with pytest.raises(ValueError, match=r"^no kubeconfig: name one with --kubeconfig or KUBECONFIG$"):
            await Connection.open(Target(""), {"HOME": str(tmp_path)})

    run_virtual(main())
