"""Hollow servers that speak TLS, with the certificate that lies in their files; other threads connect to them."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost.certificate import localhost_crt
from lifecycle.cri.hollow.network.conversation import NOT_HTTP
from lifecycle.cri.hollow.network.network import HollowNetwork
from lifecycle.cri.hollow.runtime import HollowRuntime
from tests.cri.hollow.test_runtime import started

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
SERVER = "10.244.1.2"
"""The first pod of the node."""
KEYS = "--tls-cert-file=/localhost.crt --tls-private-key-file=/localhost.key"
WEBHOOK = f"webhook --port=8443 -v=4 {KEYS}"
Dial = Callable[[tuple[str, int], float], socket.socket]


def serving(command: str, port: int, scene: Callable[[HollowRuntime, Dial], Awaitable[Any]]) -> Any:
    """Plays a scene once a part of agnhost listens at `SERVER`."""

    async def main() -> Any:
        network = HollowNetwork()
        runtime = HollowRuntime(network=network)
        await runtime.update_runtime_config("10.244.1.0/24")
        await runtime.pull_image(IMAGE)
        text = f"export SERVE_TLS_PORT_443=foo; exec /agnhost {command}"
        await started(runtime, "sh", "-c", text, image=IMAGE)
        async with asyncio.timeout(60):
            while await runtime.tcp_connect(SERVER, port, 1):  # noqa: ASYNC110 - nobody tells that it listens
                await asyncio.sleep(0)
        try:
            return await scene(runtime, network.dialer())
        finally:
            await network.close()
            await runtime.stop()

    return asyncio.run(main())


def trusting(certificate: bytes) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=certificate.decode())


def post(dial: Dial, context: ssl.SSLContext, name: str) -> tuple[int, Any, str]:
    """Ask over a connection of its own; blocks."""
    with dial((SERVER, 8443), 30) as plain, context.wrap_socket(plain, server_hostname=name) as secure:
        connection = http.client.HTTPConnection(SERVER, 8443)
        connection.sock = secure
        request = {"uid": "u", "object": {"metadata": {"name": "x"}}}
        review = {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request}
        headers = {"Content-Type": "application/json"}
        connection.request("POST", "/add-label?timeout=1s", json.dumps(review).encode(), headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read()), answer.headers["Content-Type"]


def test_another_thread_speaks_tls_with_it() -> None:
    async def scene(runtime: HollowRuntime, dial: Dial) -> tuple[int, Any, str]:
        return await asyncio.to_thread(post, dial, trusting(localhost_crt()), "localhost")

    status, said, kind = serving(WEBHOOK, 8443, scene)
    assert (status, kind) == (200, "application/json")
    assert said["response"]["patchType"] == "JSONPatch"


def test_whoever_does_not_trust_it_says_nothing_and_the_next_one_is_served() -> None:
    async def scene(runtime: HollowRuntime, dial: Dial) -> int:
        with pytest.raises(ssl.SSLCertVerificationError):
            await asyncio.to_thread(post, dial, ssl.create_default_context(), "localhost")
        with pytest.raises(ssl.SSLCertVerificationError, match="Hostname mismatch"):
            await asyncio.to_thread(post, dial, trusting(localhost_crt()), "hooks.default.svc")
        said = await asyncio.to_thread(post, dial, trusting(localhost_crt()), "localhost")
        return said[0]

    assert serving(WEBHOOK, 8443, scene) == 200


def test_nobody_listens_at_other_ports_and_addresses() -> None:
    async def scene(runtime: HollowRuntime, dial: Dial) -> None:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.to_thread(dial, (SERVER, 1), 30)
        with pytest.raises(OSError, match=r"No route to host$"):
            await asyncio.to_thread(dial, ("10.244.1.77", 8443), 30)

    serving(WEBHOOK, 8443, scene)


@pytest.mark.parametrize(("command", "port"), [(WEBHOOK, 8443), (f"netexec {KEYS}", 8080), ("porter", 443)])
def test_who_speaks_tls_does_not_speak_plainly(command: str, port: int) -> None:
    async def scene(runtime: HollowRuntime, dial: Dial) -> tuple[HTTPAnswer, HTTPAnswer]:
        plain = await runtime.http_get(HTTPRequest(SERVER, port, "/readyz"), 1)
        return plain, await runtime.http_get(HTTPRequest(SERVER, port, "/readyz", "https"), 1)

    plain, secure = serving(command, port, scene)
    assert plain == HTTPAnswer(400, NOT_HTTP)
    assert secure.status == 200


@pytest.mark.parametrize(
    ("flags", "complaint"),
    [
        ("--tls-cert-file=/none --tls-private-key-file=/localhost.key", "No such file or directory"),
        ("--tls-cert-file=/localhost.crt --tls-private-key-file=/localhost.crt", "tls: "),
    ],
)
@pytest.mark.parametrize("part", ["webhook", "crd-conversion-webhook", "netexec"])
def test_it_panics_without_its_certificate(part: str, flags: str, complaint: str) -> None:
    async def main() -> tuple[int, str]:
        runtime = HollowRuntime()
        await runtime.update_runtime_config("10.244.1.0/24")
        container_id = await started(runtime, "sleep", "100", image=IMAGE)
        said = await runtime.exec_sync(container_id, ("/agnhost", part, *flags.split()), 0)
        await runtime.stop()
        return said.exit_code, said.stderr

    code, text = asyncio.run(main())
    assert code == 2
    assert text.startswith("panic: ")
    assert complaint in text
