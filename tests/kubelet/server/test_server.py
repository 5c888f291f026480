"""The kubelet's own API: logs, commands, ports, over every protocol that clients speak."""

from __future__ import annotations

import asyncio
import base64
import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request, Response, UserInfo
from lifecycle.api.httpstream.spdy_frames import DICTIONARY, FrameDecoder, FrameEncoder
from lifecycle.api.httpstream.websocket import BINARY, WebSocket, frame, unmasked
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.kubelet_connections import KubeletConnection
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.log_format import format_entry
from lifecycle.kubelet.logs import read
from lifecycle.kubelet.logs.container_log_manager import rotate_log
from lifecycle.kubelet.logs.files import RealLogFile, link_log, log_symlink, remove_dead_links
from lifecycle.kubelet.logs.read import LogOptions, read_logs, tail_start
from lifecycle.kubelet.server.container_logs import NoLogsError, container_for_logs
from tests.kubelet.small_cluster import SmallCluster, small_cluster
from tests.kubelet.test_kubelet import ONE_NODE, nginx


class Pipe:
    """One end of a connection in memory."""

    def __init__(self) -> None:
        self.incoming: asyncio.Queue[bytes] = asyncio.Queue()
        self.sent: asyncio.Queue[bytes] = asyncio.Queue()

    async def read(self) -> bytes:
        return await self.incoming.get()

    async def write(self, data: bytes) -> None:
        self.sent.put_nowait(data)

    def close(self) -> None:
        self.sent.put_nowait(b"")


def masked(message: bytes) -> bytes:
    """As a client sends it."""
    whole, mask = frame(BINARY, message), b"abcd"
    head = len(whole) - len(message)
    return bytes([whole[0], whole[1] | 0x80]) + whole[2:head] + mask + unmasked(message, mask)


async def talker(cluster: SmallCluster) -> None:
    """A pod that says something, and an API server that knows the way to its kubelet."""
    for name, kubelet in cluster.kubelets.items():
        cluster.server.kubelets[name] = KubeletConnection(kubelet)
    pod = nginx("talk")
    script = "echo one; echo two; echo three; sleep 5; exit 1"
    pod["spec"]["containers"][0] |= {"image": "busybox:1.36", "command": ["sh", "-c", script]}
    await cluster.create_pod(pod)
    await cluster.create_pod(nginx("web"))
    await cluster.create_pod(nginx("bad") | {"spec": {"containers": [{"name": "c", "image": "registry.invalid/x"}]}})
    await asyncio.sleep(2)


async def ask(cluster: SmallCluster, path: str, method: str = "GET", **headers: str) -> Response:
    """A request to the API server, as an administrator."""
    user = UserInfo("admin", ("system:masters", "system:authenticated"))
    path, _, query = path.partition("?")
    pairs: dict[str, list[str]] = {}
    for pair in filter(None, query.split("&")):
        key, _, value = pair.partition("=")
        pairs.setdefault(key, []).append(value)
    request = Request(method, f"/api/v1/namespaces/default/pods/{path}", pairs, {"user-agent": "t/1", **headers})
    return await cluster.server.in_process_transport(user).round_trip(request)


async def text(response: Response) -> str:
    if response.stream is not None:
        return b"".join([piece async for piece in response.stream]).decode()  # type: ignore[misc]
    return (response.body or fast_json.dumps(response.obj)).decode()


def message_of(response: Response) -> str:
    return str(fast_json.loads(response.body)["message"]) if response.body else str((response.obj or {})["message"])


def test_logs_are_cut_as_asked() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            assert await text(await ask(cluster, "talk/log")) == "one\ntwo\nthree\n"
            assert await text(await ask(cluster, "talk/log?tailLines=2")) == "two\nthree\n"
            assert await text(await ask(cluster, "talk/log?tailLines=0")) == ""
            assert await text(await ask(cluster, "talk/log?limitBytes=6")) == "one\ntw"
            stamped = await text(await ask(cluster, "talk/log?timestamps=true&tailLines=1"))
            assert stamped[10] == "T"
            assert stamped.endswith("Z three\n")
            assert stamped.index(" ") == len("2026-11-21T02:06:56.123456789Z")
            await asyncio.sleep(2)
            assert await text(await ask(cluster, "talk/log?sinceSeconds=1")) == ""

    run_virtual(main())


@pytest.mark.parametrize("yes", ["True", "TRUE", "1", "yes", ""])
def test_a_boolean_may_be_spelled_as_clients_spell_it(yes: str) -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            assert (await text(await ask(cluster, f"talk/log?timestamps={yes}&tailLines=1")))[10] == "T"
            response = await ask(cluster, f"web/exec?stdout={yes}&command=ls")
            assert (response.status, response.body) == (500, b"Upgrade request required\n")
            for no in ("False", "false", "0"):
                assert await text(await ask(cluster, f"talk/log?timestamps={no}&tailLines=1")) == "three\n"
                refused = await text(await ask(cluster, f"web/exec?stdout={no}&command=ls"))
                assert "you must specify at least 1 of stdin, stdout, stderr" in refused

    run_virtual(main())


def test_following_ends_with_the_container_and_previous_shows_the_run_before() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            begin = cluster.clock.now()
            assert await text(await ask(cluster, "talk/log?follow=true")) == "one\ntwo\nthree\n"
            assert 2 < cluster.clock.now() - begin < 5
            await asyncio.sleep(1)
            assert await text(await ask(cluster, "talk/log?previous=true")) == "one\ntwo\nthree\n"

    run_virtual(main())


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("absent/log", 404, 'pods "absent" not found'),
        ("web/log?container=x", 400, "container x is not valid for pod web"),
        ("web/log?previous=true", 400, 'previous terminated container "c" in pod "web" not found'),
        ("bad/log", 400, 'container "c" in pod "bad" is waiting to start: image can\'t be pulled'),
        (
            "web/log?tailLines=-1",
            422,
            'PodLogOptions "web" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0',
        ),
        ("web/exec?container=x&command=ls&stdout=true", 400, "container x is not valid for pod web"),
    ],
)
def test_what_cannot_be_is_said_in_the_known_words(path: str, code: int, message: str) -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            response = await ask(cluster, path)
            assert (response.status, message_of(response)) == (code, message)

    run_virtual(main())


def test_with_several_containers_one_must_be_named() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            containers = [{"name": name, "image": "nginx:1.27"} for name in ("a", "b")]
            init = [{"name": "i", "image": "busybox:1.36", "command": ["true"]}]
            await cluster.create_pod(nginx("two") | {"spec": {"containers": containers, "initContainers": init}})
            await asyncio.sleep(1)
            said = message_of(await ask(cluster, "two/log"))
            assert said == "a container name must be specified for pod two, choose one of: [i a b]"

    run_virtual(main())


STATES = {
    "ErrImagePull": "image can't be pulled",
    "ImagePullBackOff": "trying and failing to pull image",
    "ContainerCreating": "ContainerCreating",
    "PodInitializing": "PodInitializing",
}


@pytest.mark.parametrize("reason", STATES)
def test_a_container_that_waits_says_what_for(reason: str) -> None:
    status = {"containerStatuses": [{"name": "c", "state": {"waiting": {"reason": reason}}, "lastState": {}}]}
    with pytest.raises(NoLogsError) as why:
        container_for_logs("p", status, "c", False)
    assert str(why.value) == f'container "c" in pod "p" is waiting to start: {STATES[reason]}'


def ended(**more: Any) -> Object:
    return {"name": "c", "state": {"terminated": more}, "lastState": {}}


@pytest.mark.parametrize(
    ("entries", "previous", "says"),
    [
        ([], False, "is not available"),
        ([{"name": "other", "state": {"running": {}}, "containerID": "containerd://x"}], False, "is not available"),
        ([ended()], False, "is terminated"),
        ([{"name": "c", "state": {}, "lastState": {"terminated": {}}}], False, "is terminated"),
        ([{"name": "c", "state": {}}], False, "is waiting to start - no logs yet"),
        ([ended(containerID="containerd://x")], True, None),
        ([{"name": "c", "state": {"running": {}}, "lastState": {"terminated": {}}}], True, None),
    ],
)
def test_a_container_that_wrote_nothing_says_so(entries: list[Object], previous: bool, says: str | None) -> None:
    which = 'container "c" in pod "p"'
    with pytest.raises(NoLogsError) as why:
        container_for_logs("p", {"containerStatuses": entries}, "c", previous)
    assert str(why.value) == (f"{which} {says}" if says else f"previous terminated {which} not found")


@pytest.mark.parametrize(
    ("entry", "previous"),
    [
        ({"state": {"running": {}}, "containerID": "containerd://x"}, False),
        ({"state": {"terminated": {"containerID": "containerd://x"}}}, False),
        ({"state": {"terminated": {}}, "lastState": {"terminated": {"containerID": "containerd://x"}}}, False),
        ({"state": {"waiting": {}}, "lastState": {"terminated": {"containerID": "containerd://x"}}}, False),
        ({"state": {"running": {}}, "lastState": {"terminated": {"containerID": "containerd://x"}}}, True),
    ],
)
@pytest.mark.parametrize("kind", ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"])
def test_whose_logs_those_of_a_container_are(entry: Object, previous: bool, kind: str) -> None:
    assert container_for_logs("p", {kind: [{"name": "c", **entry}]}, "c", previous) == "x"


WEBSOCKET = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ=="}


async def messages_of(response: Response, *sent: bytes) -> list[bytes]:
    """What comes over an upgraded connection to whoever sends this first."""
    assert response.upgrade is not None
    pipe = Pipe()
    for message in sent:
        pipe.incoming.put_nowait(masked(message))
    await response.upgrade(pipe)
    received, last = Pipe(), b""
    while not pipe.sent.empty():
        received.incoming.put_nowait(last := pipe.sent.get_nowait())
    assert last[:1] == b"\x88", "the connection is closed as the protocol wants it"
    received.incoming.put_nowait(b"")
    return [message async for message in WebSocket(received).messages()]


async def exec_over_websocket(
    cluster: SmallCluster, command: list[str], stdin: bytes | None = None
) -> dict[int, bytes]:
    """What came on each channel."""
    query = (
        "&".join(f"command={word}" for word in command) + "&stdout=true&stderr=true" + ("&stdin=true" if stdin else "")
    )
    headers = {**WEBSOCKET, "sec-websocket-protocol": "v5.channel.k8s.io"}
    response = await ask(cluster, f"web/exec?{query}", **headers)
    assert response.status == 101
    assert response.headers["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455's own example
    # version 5: stdin has ended
    sent = (b"\x00" + stdin, b"\xff\x00") if stdin else ()
    got = dict[int, bytes]()
    for message in await messages_of(response, *sent):
        got[message[0]] = got.get(message[0], b"") + message[1:]
    return got


def test_a_command_over_websocket_its_output_input_and_exit_code() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            said = await exec_over_websocket(cluster, ["echo", "hello"])
            assert said[1] == b"hello\n"
            assert fast_json.loads(said[3]) == {"metadata": {}, "status": "Success"}
            said = await exec_over_websocket(cluster, ["cat"], b"typed")
            assert said[1] == b"typed"
            failed = fast_json.loads((await exec_over_websocket(cluster, ["sh", "-c", "exit 3"]))[3])
            assert failed["reason"] == "NonZeroExitCode"
            assert failed["details"]["causes"] == [{"reason": "ExitCode", "message": "3"}]

    run_virtual(main())


@pytest.mark.parametrize("protocol", ["", "channel.k8s.io"])
def test_the_oldest_protocol_tells_the_end_only_if_it_was_a_bad_one(protocol: str) -> None:
    async def main() -> None:
        headers = {**WEBSOCKET, **({"sec-websocket-protocol": protocol} if protocol else {})}
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            said = await ask(cluster, "web/exec?command=echo&command=hello&stdout=1&stderr=1", **headers)
            assert said.headers.get("Sec-WebSocket-Protocol", "") == protocol
            assert await messages_of(said) == [b"\x01", b"\x01hello\n"]
            failed = await ask(cluster, "web/exec?command=sh&command=-c&command=exit 3&stdout=1", **headers)
            *_, last = await messages_of(failed)
            assert (
                last
                == b"\x03command terminated with non-zero exit code: error executing command [sh -c exit 3], exit code 3"
            )

    run_virtual(main())


def test_a_protocol_of_text_names_channels_by_digits() -> None:
    async def main() -> None:
        headers = {**WEBSOCKET, "sec-websocket-protocol": "base64.channel.k8s.io"}
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            command = "read word; echo $word"
            query = f"command=sh&command=-c&command={command}&stdin=1&stdout=1"
            said = await ask(cluster, f"web/exec?{query}", **headers)
            got = await messages_of(said, b"0" + base64.b64encode(b"typed\n"))
            assert got == [b"1", b"1" + base64.b64encode(b"typed\n")]

    run_virtual(main())


@pytest.mark.parametrize(
    ("protocol", "messages"),
    [
        ("", [b"", b"one\ntwo\nthree\n"]),
        ("binary.k8s.io", [b"", b"one\ntwo\nthree\n"]),
        ("base64.binary.k8s.io", [b"", base64.b64encode(b"one\ntwo\nthree\n")]),
    ],
)
def test_a_log_over_websocket(protocol: str, messages: list[bytes]) -> None:
    async def main() -> None:
        headers = {**WEBSOCKET, **({"sec-websocket-protocol": protocol} if protocol else {})}
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            response = await ask(cluster, "talk/log", **headers)
            assert response.status == 101
            assert await messages_of(response) == messages
            unknown = await ask(cluster, "talk/log", **WEBSOCKET, **{"sec-websocket-protocol": "morse"})
            assert unknown.status == 403

    run_virtual(main())


def test_reading_a_pod_is_not_enough_to_run_a_command_in_it() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            role = {
                "metadata": {"name": "reader"},
                "rules": [{"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["get"]}],
            }
            await cluster.admin.create(resource("roles.rbac.authorization.k8s.io"), role, "default")
            binding = {
                "metadata": {"name": "reader"},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
                "subjects": [{"kind": "User", "name": "mary", "apiGroup": "rbac.authorization.k8s.io"}],
            }
            await cluster.admin.create(resource("rolebindings.rbac.authorization.k8s.io"), binding, "default")
            mary = cluster.client("t", "mary")
            with pytest.raises(StatusError) as refused:
                await mary.request("GET", resource("pods").path("default", "web", "exec"), query={"command": "ls"})
            assert refused.value.code == 403
            assert 'cannot create resource "pods/exec"' in refused.value.message

    run_virtual(main())


async def spdy_session(
    upgrade: Any, opened: list[tuple[int, dict[str, str]]], sends: dict[int, bytes]
) -> dict[int, bytes]:
    pipe, encoder, decoder = Pipe(), FrameEncoder(), FrameDecoder()
    for number, headers in opened:
        pipe.incoming.put_nowait(encoder.syn_stream(number, headers))
    for number, data in sends.items():
        pipe.incoming.put_nowait(encoder.data(number, data, fin=True))
    serving = asyncio.create_task(upgrade(pipe))
    await asyncio.sleep(3)
    pipe.incoming.put_nowait(b"")
    await serving
    got: dict[int, bytes] = {}
    while not pipe.sent.empty():
        for each in decoder.feed(pipe.sent.get_nowait()):
            if each.kind == 0:
                got[each.stream] = got.get(each.stream, b"") + each.data
    return got


SPDY = {"upgrade": "SPDY/3.1", "connection": "Upgrade"}


def test_a_command_and_a_port_over_spdy_as_kubectl_1_20_asks() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            versions = {"x-stream-protocol-version": "v4.channel.k8s.io, v3.channel.k8s.io"}
            query = "command=cat&stdin=true&stdout=true"
            response = await ask(cluster, f"web/exec?{query}", "POST", **SPDY, **versions)
            assert response.headers["X-Stream-Protocol-Version"] == "v4.channel.k8s.io"
            opened = [(n, {"streamType": kind}) for n, kind in ((1, "error"), (3, "stdin"), (5, "stdout"))]
            got = await spdy_session(response.upgrade, opened, {3: b"typed"})
            assert got[5] == b"typed"
            assert fast_json.loads(got[1])["status"] == "Success"
            response = await ask(
                cluster, "web/portforward", "POST", **SPDY, **{"x-stream-protocol-version": "portforward.k8s.io"}
            )
            opened = [
                (number, {"streamType": kind, "port": str(port), "requestID": str(request)})
                for number, kind, port, request in (
                    (1, "error", 80, 0),
                    (3, "data", 80, 0),
                    (5, "error", 81, 1),
                    (7, "data", 81, 1),
                )
            ]
            got = await spdy_session(response.upgrade, opened, {3: b"GET / HTTP/1.1\r\n\r\n", 7: b"x"})
            assert got[3].startswith(b"HTTP/1.1 200 OK")
            assert got[1] == b""
            assert got[5].startswith(b"error forwarding port 81 to pod ")

    run_virtual(main())


def test_what_the_kubelet_says_of_itself() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            server = cluster.kubelets["lifecycle-worker"].server
            assert (await server(Request("GET", "/healthz"))).body == b"ok"
            pods = fast_json.loads((await server(Request("GET", "/pods"))).body or b"")
            assert [pod["metadata"]["name"] for pod in pods["items"]] == ["talk", "web", "bad"]
            running = fast_json.loads((await server(Request("GET", "/runningpods/"))).body or b"")
            assert len(running["items"]) == 2
            answer = await server(Request("GET", "/metrics"))
            assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            metrics = answer.body or b""
            assert metrics.startswith(
                b"# TYPE kubelet_running_containers gauge\n"
                b'kubelet_running_containers{container_state="running"} 2\n'
                b"# TYPE kubelet_running_pods gauge\n"
                b"kubelet_running_pods 3\n"  # one of them has nothing that runs
                b"# TYPE kubelet_http_requests_total counter\n"
                b'kubelet_http_requests_total{code="200",path="healthz"} 1\n'
            )
            assert b"\nkubelet_pod_start_sli_duration_seconds_count 2\n" in metrics
            assert b'\nkubelet_pod_worker_duration_seconds_count{operation_type="create"} 3\n' in metrics
            assert b"kubelet_pleg_relist" not in metrics  # a hollow runtime tells of everything: nobody looks
            assert (await server(Request("GET", "/nothing"))).status == 404

    run_virtual(main())


# -- log files --------------------------------------------------------------------------------------------------------


class Fixed:
    """A log file that does not grow."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.most, self.all = 0, 0
        """Bytes read at once, and altogether."""

    def read(self, offset: int = 0, size: int = -1) -> bytes:
        block = self.data[offset : None if size < 0 else offset + size]
        self.most, self.all = max(self.most, len(block)), self.all + len(block)
        return block

    def size(self) -> int:
        return len(self.data)

    async def grown(self, size: int) -> None:
        await asyncio.get_running_loop().create_future()


def lines_of(data: bytes, options: LogOptions) -> bytes:
    async def main() -> bytes:
        pieces: AsyncIterator[bytes] = read_logs(Fixed(data), options, lambda: False)
        return b"".join([piece async for piece in pieces])

    return run_virtual(main())


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r", codec="utf-8"), max_size=20), max_size=12),
    st.integers(0, 14),
)
def test_the_tail_is_the_last_lines(texts: list[str], count: int) -> None:
    data = b"".join(format_entry(i, "stdout", True, line.encode()) for i, line in enumerate(texts))
    expected = [line.encode() + b"\n" for line in texts[len(texts) - min(count, len(texts)) :]]
    assert lines_of(data, LogOptions(tail=count)) == b"".join(expected)
    assert lines_of(data, LogOptions()) == b"".join(line.encode() + b"\n" for line in texts)


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(0, 14), st.integers(1, 40))
def test_the_tail_is_found_block_by_block(pieces: list[bytes], count: int, block: int) -> None:
    data = b"\n".join(pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(read, "BLOCK_SIZE", block)
        start = run_virtual(read.find_tail_line_start_index(Fixed(data), count))
    assert start == 0 or data[start - 1 : start] == b"\n"
    assert data[start:].count(b"\n") == min(count, data.count(b"\n"))
    assert start == tail_start(data, count)


def test_a_line_longer_than_a_block_is_read_whole() -> None:
    texts = [b"short", b"x" * 300_000, b"end"]
    data = b"".join(format_entry(1, "stdout", True, text) for text in texts)
    assert lines_of(data, LogOptions()) == b"\n".join(texts) + b"\n"
    assert lines_of(data, LogOptions(tail=2)) == b"\n".join(texts[1:]) + b"\n"


def test_a_long_log_is_read_in_blocks_between_which_others_have_their_turn() -> None:
    data = format_entry(1, "stdout", True, b"x" * 50) * 100_000
    file = Fixed(data)

    async def main() -> int:
        turns = length = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.ensure_future(other())
        async for piece in read_logs(file, LogOptions(), lambda: False):
            length += len(piece)
        task.cancel()
        assert length == 51 * 100_000
        return turns

    turns = run_virtual(main())
    assert turns >= len(data) // read.BLOCK_SIZE
    assert file.most <= read.BLOCK_SIZE
    assert file.all < 1.1 * len(data)


@pytest.mark.parametrize("options", [LogOptions(tail=10), LogOptions(limit=1000)])
def test_no_more_of_a_log_is_read_than_is_asked_for(options: LogOptions) -> None:
    file = Fixed(format_entry(1, "stdout", True, b"x" * 50) * 100_000)

    async def main() -> int:
        return sum([len(piece) async for piece in read_logs(file, options, lambda: False)])

    assert run_virtual(main()) == (options.limit or 10 * 51)
    assert file.all <= 3 * read.BLOCK_SIZE


def test_a_log_that_was_rotated_is_followed_from_its_beginning_once(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    log.write_bytes(b"".join(format_entry(1, "stdout", True, b"old") for _ in range(10)))

    class Rotating(RealLogFile):
        async def grown(self, size: int) -> None:
            if log.read_bytes().endswith(b"old\n"):
                log.write_bytes(format_entry(2, "stdout", True, b"new"))
            else:
                ended.set()

    async def main() -> bytes:
        pieces = read_logs(Rotating(str(log)), LogOptions(follow=True), lambda: not ended.is_set(), ended)
        return b"".join([piece async for piece in pieces])

    ended = asyncio.Event()
    assert run_virtual(asyncio.wait_for(main(), 10)) == b"old\n" * 10 + b"new\n"


def test_pieces_of_a_line_are_one_line_again() -> None:
    data = (
        format_entry(1, "stdout", False, b"be")
        + format_entry(2, "stderr", True, b"x")
        + format_entry(3, "stdout", True, b"gin")
    )
    assert lines_of(data, LogOptions()) == b"bex\ngin\n"
    stamped = lines_of(data, LogOptions(timestamps=True))
    assert stamped == b"1970-01-01T00:00:00.000000001Z be1970-01-01T00:00:00.000000002Z x\ngin\n"


def test_rotation_keeps_five_files_and_loses_no_line(tmp_path: Path) -> None:
    log = tmp_path / "0.log"

    async def reopen() -> None:
        log.write_bytes(b"")

    async def main() -> None:
        for day in range(7):
            log.write_bytes(b"line %d\n" % day)
            await rotate_log(str(log), day * 86400.0, reopen)

    run_virtual(main())
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["0.log"] + [f"0.log.1970010{day}-000000.gz" for day in (4, 5, 6)] + ["0.log.19700107-000000"]
    with gzip.open(tmp_path / "0.log.19700106-000000.gz") as old:
        assert old.read() == b"line 5\n"


def test_a_log_that_cannot_be_reopened_keeps_its_name(tmp_path: Path) -> None:
    log = tmp_path / "0.log"
    log.write_bytes(b"line\n")

    async def reopen() -> None:
        raise RuntimeServiceError("no")

    with pytest.raises(RuntimeServiceError):
        run_virtual(rotate_log(str(log), 0.0, reopen))
    assert [path.name for path in tmp_path.iterdir()] == ["0.log"]


def test_links_lead_to_logs_and_go_with_them(tmp_path: Path) -> None:
    log = tmp_path / "c" / "0.log"
    log.parent.mkdir()
    log.write_bytes(format_entry(1, "stdout", True, b"x"))
    pod = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
    link = log_symlink(pod, "c", "0123", str(tmp_path / "containers"))
    assert link.endswith("/containers/p_n_c-0123.log")
    link_log(str(log), link)
    assert RealLogFile(link).read().endswith(b" stdout F x\n")
    log.unlink()
    assert remove_dead_links(str(tmp_path / "containers")) == ["p_n_c-0123.log"]


# -- protocols --------------------------------------------------------------------------------------------------------


def test_the_dictionary_is_the_one_of_the_draft() -> None:
    """Adler-32 and length of what every SPDY/3 implementation has."""
    import zlib

    assert (len(DICTIONARY), zlib.adler32(DICTIONARY)) == (1423, 3821447106)


@given(st.lists(st.tuples(st.integers(1, 1000), st.binary(max_size=300)), max_size=8), st.integers(1, 50))
def test_frames_come_back_however_they_are_cut(frames: list[tuple[int, bytes]], cut: int) -> None:
    encoder, decoder = FrameEncoder(), FrameDecoder()
    data = b"".join(encoder.syn_stream(n, {"a": str(n)}) + encoder.data(n, payload) for n, payload in frames)
    got = [f for i in range(0, len(data), cut) for f in decoder.feed(data[i : i + cut])]
    assert [(f.stream, f.data) for f in got if f.kind == 0] == frames
    assert [f.headers for f in got if f.kind == 1] == [(("a", str(n)),) for n, _ in frames]


@given(st.lists(st.binary(min_size=1, max_size=70000), max_size=3))
def test_websocket_messages_come_back(messages: list[bytes]) -> None:
    async def main() -> list[bytes]:
        pipe = Pipe()
        for message in messages:
            pipe.incoming.put_nowait(masked(message))
        pipe.incoming.put_nowait(b"")
        return [message async for message in WebSocket(pipe).messages()]

    assert run_virtual(main()) == messages


def test_a_page_s_links_lead_through_the_proxy() -> None:
    async def main() -> None:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await talker(cluster)
            web = nginx("files")
            script = "echo '<a href=\"/next\">next</a>' > /tmp/page.html"
            web["spec"]["containers"][0] |= {
                "image": "registry.k8s.io/e2e-test-images/agnhost:2.63.0",
                "command": ["sh", "-c", f"{script}; exec /agnhost test-webserver --port=80"],
            }
            await cluster.create_pod(web)
            await asyncio.sleep(2)
            page = await ask(cluster, "files/proxy/tmp/page.html")
            assert page.headers["Content-Type"] == "text/html; charset=utf-8"
            assert await text(page) == '<a href="/api/v1/namespaces/default/pods/files/proxy/next">next</a>\n'
            moved = await ask(cluster, "files/proxy/tmp")
            assert (moved.status, moved.headers["Location"]) == (301, "tmp/")
            start = await ask(cluster, "web/proxy/")
            assert (start.status, start.headers["Content-Type"]) == (200, "text/html")

    run_virtual(main())
