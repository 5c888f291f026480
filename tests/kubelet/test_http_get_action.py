"""Probes and hooks over HTTP and HTTPS: what is sent, and what is said when nobody answers."""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import pytest

from lifecycle.apiserver.certificates import CertificateAuthority
from lifecycle.cri.node_access import NodeAccess
from lifecycle.cri.runtime import NO_TLS
from lifecycle.kubelet.hooks import HookRunner
from lifecycle.kubelet.http_get_action import PROBE, headers_of, http_get
from tests.kubelet.test_probes import played, probed, said


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ([], [("Accept", "*/*"), ("User-Agent", PROBE)]),
        ([("X-A", "1"), ("x-a", "2")], [("X-A", "1"), ("x-a", "2"), ("Accept", "*/*"), ("User-Agent", PROBE)]),
        ([("user-agent", "me")], [("user-agent", "me"), ("Accept", "*/*")]),
        ([("Accept", ""), ("User-Agent", "")], []),
    ],
)
def test_two_headers_are_added_unless_the_pod_names_them(
    given: list[tuple[str, str]], sent: list[tuple[str, str]]
) -> None:
    action = {"httpHeaders": [{"name": name, "value": value} for name, value in given]}
    assert headers_of(action, PROBE) == sent


def asked(action: dict[str, Any], tls: ssl.SSLContext | None) -> tuple[tuple[int, str], list[str]]:
    """The answer, and the lines that arrived at a server that says 204."""
    arrived: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        arrived.extend(head.decode("latin-1").strip().split("\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async def main() -> tuple[int, str]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls) as server:
            port = server.sockets[0].getsockname()[1]
            answer = await http_get(NodeAccess(), action, port, "127.0.0.1", 5, PROBE)
            await asyncio.sleep(0)
            return answer

    return asyncio.run(main()), arrived


def test_https_asks_whoever_is_there_whatever_the_certificate() -> None:
    action = {"scheme": "HTTPS", "path": "healthz?full=1", "httpHeaders": [{"name": "Host", "value": "shop.example"}]}
    answer, lines = asked(action, CertificateAuthority().server_context())
    assert answer == (204, "")
    assert lines == ["GET /healthz?full=1 HTTP/1.1", "Host: shop.example", "Accept: */*", f"User-Agent: {PROBE}"]


def test_a_server_that_speaks_plainly_is_told_from_one_that_is_not_there() -> None:
    plain = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(plain)
        await writer.drain()
        writer.close()

    async def main() -> list[tuple[int, str]]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            spoken = await http_get(NodeAccess(), {"scheme": "HTTPS"}, port, "127.0.0.1", 5, PROBE)
        gone = await http_get(NodeAccess(), {"scheme": "HTTPS"}, port, "127.0.0.1", 5, PROBE)
        return [(code, why.replace(str(port), "PORT")) for code, why in (spoken, gone)]

    assert asyncio.run(main()) == [
        (0, f'Get "https://127.0.0.1:PORT/": {NO_TLS}'),
        (0, 'Get "https://127.0.0.1:PORT/": dial tcp 127.0.0.1:PORT: connect: connection refused'),
    ]


def test_an_https_probe_of_a_plain_server_fails_and_says_why() -> None:
    get = {"port": 80, "scheme": "HTTPS"}
    pod, events, ready = played(probed({}, readinessProbe={"httpGet": get, "periodSeconds": 1}), 5)
    assert not ready
    [message] = said(events, "Unhealthy")
    assert message == f'Readiness probe failed: Get "https://{pod["status"]["podIP"]}:80/": {NO_TLS}'


def test_a_hook_over_https_tries_again_in_plain_without_its_secrets() -> None:
    calls: list[tuple[str, list[tuple[str, str]]]] = []

    class Plain:
        async def http_get(self, *_: Any, scheme: str, headers: list[tuple[str, str]]) -> tuple[int, str]:
            calls.append((scheme, headers[:1]))
            return (200, "") if scheme == "http" else (0, f'Get "https://": {NO_TLS}')

    get = {"port": 80, "scheme": "HTTPS", "httpHeaders": [{"name": "authorization", "value": "Bearer x"}]}
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
    runner: Any = HookRunner(Plain())  # type: ignore[arg-type]
    assert asyncio.run(runner.run(pod, "id", {"name": "c"}, {"httpGet": get}, "10.0.0.9")) == ""
    assert calls == [("https", [("authorization", "Bearer x")]), ("http", [("Accept", "*/*")])]
