"""Probes and hooks over HTTP and HTTPS: what is sent, and what is said when nobody answers."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import Any

import pytest

from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.cri.apis.pod_network import NO_TLS, HTTPAnswer, HTTPRequest
from lifecycle.cri.node_access import MAX_BODY, NodeAccess
from lifecycle.kubelet.lifecycle.handlers import HookRunner
from lifecycle.kubelet.lifecycle.http_get_action import PROBE, headers_of, http_get
from lifecycle.kubelet.prober.prober import Prober
from tests.kubelet.prober.test_probes import played, probed, said


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


def asked(action: dict[str, Any], tls: ssl.SSLContext | None) -> tuple[HTTPAnswer, list[str]]:
    """The answer, and the lines that arrived at a server that says 204."""
    arrived: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        arrived.extend(head.decode("latin-1").strip().split("\r\n"))
        writer.write(b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()

    async def main() -> HTTPAnswer:
        async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls) as server:
            port = server.sockets[0].getsockname()[1]
            answer = await http_get(NodeAccess(), action, port, "127.0.0.1", 5, PROBE)
            await asyncio.sleep(0)
            return answer

    return asyncio.run(main()), arrived


def test_https_asks_whoever_is_there_whatever_the_certificate() -> None:
    action = {"scheme": "HTTPS", "path": "healthz?full=1", "httpHeaders": [{"name": "Host", "value": "shop.example"}]}
    answer, lines = asked(action, CertificateAuthority().server_context())
    assert answer == HTTPAnswer(204)
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
        return [(answer.status, answer.text.replace(str(port), "PORT")) for answer in (spoken, gone)]

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


@pytest.mark.parametrize(
    ("address", "plain", "failed", "told"),
    [
        ("10.0.0.9", HTTPAnswer(200), "", "10.0.0.9:80"),
        ("fd00::9", HTTPAnswer(500), "", "[fd00::9]:80"),
        ("10.0.0.9", HTTPAnswer(0, "connection refused"), NO_TLS, ""),
    ],
)
def test_a_hook_over_https_tries_again_in_plain_without_its_secrets(
    address: str, plain: HTTPAnswer, failed: str, told: str
) -> None:
    calls: list[tuple[str, list[tuple[str, str]]]] = []
    events: list[tuple[str, ...]] = []

    class Plain:
        async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
            calls.append((request.scheme, list(request.headers[:1])))
            return plain if request.scheme == "http" else HTTPAnswer(0, f'Get "https://": {NO_TLS}')

    get = {"port": 80, "scheme": "HTTPS", "httpHeaders": [{"name": "authorization", "value": "Bearer x"}]}
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
    runner: Any = HookRunner(Plain(), lambda pod, *event: events.append(event))  # type: ignore[arg-type]
    why = asyncio.run(runner.run(pod, "id", {"name": "c"}, {"httpGet": get}, address))
    assert why.endswith(failed)
    assert bool(why) == bool(failed)
    message = f"request to HTTPS lifecycle hook {told} got HTTP response, retry with HTTP succeeded"
    assert events == ([("Warning", "LifecycleHTTPFallback", message, "")] if told else [])
    assert calls == [("https", [("authorization", "Bearer x")]), ("http", [("Accept", "*/*")])]


class Network:
    """Servers by address, each with the place that every path of it leads to; what was asked is noted."""

    def __init__(self, leads_to: dict[str, str], final: int = 200) -> None:
        self.leads_to = leads_to
        self.final = final
        self.asked: list[str] = []

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        self.asked.append(request.url)
        location = self.leads_to.get(request.path, "")
        return HTTPAnswer(302, "moved", location) if location else HTTPAnswer(self.final)

    def get(self) -> HTTPAnswer:
        return asyncio.run(http_get(self, {"path": "/"}, 80, "10.0.0.9", 5, PROBE))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("/there?a=1", "http://10.0.0.9:80/there?a=1"),
        ("//10.0.0.9:8080/there", "http://10.0.0.9:8080/there"),
        ("https://10.0.0.9/there", "https://10.0.0.9:443/there"),
        ("http://10.0.0.10/there", ""),
        ("http://shop.example/", ""),
        ("", ""),
    ],
)
def test_a_redirect_is_followed_only_to_the_same_host(location: str, followed: str) -> None:
    network = Network({"/": location})
    answer = network.get()
    assert network.asked == ["http://10.0.0.9:80/", *([followed] if followed else [])]
    assert answer.status == (200 if followed or not location else 302)


def test_after_ten_requests_nobody_is_followed_any_more() -> None:
    network = Network({"/": "/"})
    assert network.get() == HTTPAnswer(0, 'Get "/": stopped after 10 redirects')
    assert len(network.asked) == 10


def test_a_redirect_elsewhere_passes_with_a_warning() -> None:
    runtime: Any = Network({"/": "http://elsewhere.example/"})
    probe = {"httpGet": {"path": "/", "port": 80}}
    said = asyncio.run(Prober(runtime).probe(probe, {"name": "c"}, "id", "10.0.0.9"))
    assert said == (True, "Probe terminated redirects, Response body: moved")


def test_of_a_long_answer_only_the_beginning_is_read() -> None:
    left = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 20_000)  # and no more, ever
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()
        left.set()

    async def main() -> HTTPAnswer:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            answer = await http_get(NodeAccess(), {}, port, "127.0.0.1", 40, PROBE)
            await left.wait()
            await asyncio.sleep(0)
            return answer

    assert asyncio.run(main()) == HTTPAnswer(200, "x" * MAX_BODY)
