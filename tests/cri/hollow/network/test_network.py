"""Hollow pods ask one another for pages, by address, across nodes."""

from __future__ import annotations

import asyncio

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.apis.streams import ExecSyncResponse
from lifecycle.cri.hollow.network.network import HollowNetwork
from lifecycle.cri.hollow.runtime import HollowRuntime
from tests.cri.hollow.shell.test_shell import NOT_RUN
from tests.cri.hollow.test_runtime import started

IMAGE = "registry.k8s.io/e2e-test-images/agnhost:2.63.0"
SERVER = "10.244.1.2"
"""The first pod of the first node."""


def asked(text: str, *, together: bool = True, server: tuple[str, ...] = ("netexec",)) -> tuple[int, str, str]:
    """What a script says in a pod of the second node, while `server` runs in one of the first."""

    async def main() -> ExecSyncResponse:
        network = HollowNetwork()
        nodes = [HollowRuntime(network=network if together else None) for _ in range(2)]
        for i, node in enumerate(nodes, 1):
            await node.update_runtime_config(f"10.244.{i}.0/24")
            await node.pull_image(IMAGE)
        await started(nodes[0], "/agnhost", *server, image=IMAGE)
        await asyncio.sleep(1)
        client = await started(nodes[1], "sleep", "1000", image=IMAGE)
        return await nodes[1].exec_sync(client, ("sh", "-c", text), 0)

    answer = run_virtual(main())
    return answer.exit_code, answer.stdout, answer.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"curl -g -q -s --max-time 15 --connect-timeout 1 http://{SERVER}:8080/hostName", (0, "p", "")),
        (f"curl -s '{SERVER}:8080/echo?msg=a%20b'", (0, "a b", "")),
        (
            f"curl -s {SERVER}:8080/echo?code=503; curl -sf {SERVER}:8080/echo?code=503",
            (22, "", "curl: (22) The requested URL returned error: 503\n"),
        ),
        (f"curl -s {SERVER}:81", (7, "", f"curl: (7) Failed to connect to {SERVER} port 81 after 0 ms: Couldn't connect to server\n")),
        ("curl -s http://web:80", (126, "", NOT_RUN.format("curl -s http://web:80"))),
        ("curl -s 10.96.0.1", (126, "", NOT_RUN.format("curl -s 10.96.0.1"))),
        (f"curl -X POST {SERVER}:8080", (126, "", NOT_RUN.format(f"curl -X POST {SERVER}:8080"))),
        (f"curl https://{SERVER}:8080", (126, "", NOT_RUN.format(f"curl https://{SERVER}:8080"))),
        (f"wget -qO- {SERVER}:8080/hostname; wget -q -O /tmp/page -T 2 {SERVER}:8080/hostname; cat /tmp/page", (0, "pp", "")),
        (f"wget -qO- {SERVER}:81", (1, "", f"wget: can't connect to remote host ({SERVER}): Connection refused\n")),
        (f"wget -q -O - {SERVER}:8080/echo?code=404", (1, "", "wget: server returned error: HTTP/1.1 404 Not Found\n")),
        (f"wget {SERVER}:8080", (126, "", NOT_RUN.format(f"wget {SERVER}:8080"))),
    ],
)  # fmt: skip
def test_a_page_of_another_pod(text: str, said: tuple[int, str, str]) -> None:
    assert asked(text) == said


def test_nodes_that_share_no_network_do_not_see_each_other() -> None:
    command = f"curl -s {SERVER}:8080"
    assert asked(command, together=False) == (126, "", NOT_RUN.format(command))


def test_a_kubelet_reaches_the_pods_of_other_nodes() -> None:
    async def main() -> HTTPAnswer:
        network = HollowNetwork()
        nodes = [HollowRuntime(network=network) for _ in range(2)]
        for i, node in enumerate(nodes, 1):
            await node.update_runtime_config(f"10.244.{i}.0/24")
            await node.pull_image(IMAGE)
        await started(nodes[0], "/agnhost", "netexec", image=IMAGE)
        await asyncio.sleep(1)
        return await nodes[1].http_get(HTTPRequest(SERVER, 8080, "/hostname"), 1)

    assert run_virtual(main()) == HTTPAnswer(200, "p")


@pytest.mark.parametrize("command", [(), ("sh", "-c", "nginx -g 'daemon off;'")])
def test_nginx_has_a_start_page(command: tuple[str, ...]) -> None:
    async def main() -> list[HTTPAnswer]:
        runtime = HollowRuntime()
        await runtime.update_runtime_config("10.244.1.0/24")
        await started(runtime, *command, image="nginx:1.27")
        await asyncio.sleep(1)
        return [await runtime.http_get(HTTPRequest(SERVER, 80, path), 1) for path in ("/", "/other")]

    page, other = run_virtual(main())
    assert (page.status, other) == (200, HTTPAnswer(404))
    assert "<h1>Welcome to nginx!</h1>" in page.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"nc -v {SERVER} 9376", (0, "p", f"Connection to {SERVER} 9376 port [tcp/*] succeeded!\n")),
        (f"echo hello | nc {SERVER} 9376", (0, "p", "")),
        (f"curl -s {SERVER}:9376", (7, "", None)),
        (f"nc -zv {SERVER} 9377", (1, "", f"nc: connect to {SERVER} port 9377 (tcp) failed: Connection refused\n")),
    ],
)
def test_a_server_that_knows_no_http_says_who_it_is_and_hangs_up(text: str, said: tuple[int, str, str | None]) -> None:
    code, out, err = asked(text, server=("serve-hostname", "--http=false", "--tcp"))
    assert (code, out, err if said[2] is not None else None) == said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"echo hostName | nc -w 1 -u {SERVER} 8081", (0, "p", "")),
        (f"echo 'echo Hi There' | nc -uw 1 {SERVER} 8081", (126, "", NOT_RUN.format(f"nc -uw 1 {SERVER} 8081"))),
        (f"echo 'echo Hi There' | nc -u -w 1 {SERVER} 8081", (0, "hi there", "")),
        (f"echo what | nc -w 1 -u {SERVER} 8081", (0, "", "")),
        (
            f"echo hostName | nc -v -u -w 2 {SERVER} 8081",
            (0, "p", f"Connection to {SERVER} 8081 port [udp/*] succeeded!\n"),
        ),
        (f"echo hostName | nc -v -u -w 2 {SERVER} 8080", (1, "", "")),
        (f"echo clientip | nc -w 1 -u {SERVER} 8081", (0, "", "")),
        (f"echo hostName | nc -w 1 -u {SERVER} 8080", (0, "", "")),
        (f"echo hostName | nc -u {SERVER} 8081", (126, "", NOT_RUN.format(f"nc -u {SERVER} 8081"))),
        (f"nc -z -u -w 1 {SERVER} 8081", (126, "", NOT_RUN.format(f"nc -z -u -w 1 {SERVER} 8081"))),
        (f"nc -z -w 1 {SERVER} 8081", (1, "", "")),
    ],
)
def test_a_datagram_is_answered_or_it_is_not(text: str, said: tuple[int, str, str]) -> None:
    assert asked(text) == said


def test_a_server_that_says_who_it_is_may_be_asked_over_udp() -> None:
    server = ("serve-hostname", "--http=false", "--udp")
    assert asked(f"echo x | nc -w 1 -u {SERVER} 9376", server=server) == (0, "p", "")
    assert asked(f"echo x | nc -w 1 -u {SERVER} 9376", server=("serve-hostname",)) == (0, "", "")


def test_what_nobody_plays_over_udp_is_said_in_the_servers_log() -> None:
    async def main() -> bytes:
        node = HollowRuntime()
        await node.update_runtime_config("10.244.1.0/24")
        await node.pull_image(IMAGE)
        server = await started(node, "/agnhost", "netexec", image=IMAGE)
        written = bytearray()
        node._containers[server]._write = lambda _, stream, data: written.extend(data)
        await asyncio.sleep(1)
        await node.exec_sync(server, ("sh", "-c", f"echo clientip | nc -w 1 -u {SERVER} 8081"), 0)
        return bytes(written)

    assert b"agnhost netexec: clientip over UDP" in run_virtual(main())


def test_a_server_of_nothing_listens_nowhere() -> None:
    assert asked(f"nc -z {SERVER} 9376", server=("serve-hostname", "--http=false"))[0] == 1
