"""Talking to a hollow container: exec, attach, port-forward.

Upstream: `cri-api/pkg/apis/runtime/v1` (`ExecSync`, `Exec`, `Attach`, `PortForward`);
the errors are containerd's (`internal/cri/server/container_execsync.go`,
`sandbox_portforward_linux.go`, v2.x). Left out: terminals that change their size.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from http import HTTPStatus

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_network import NO_TLS, HTTPAnswer, HTTPRequest
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.http_headers import body_of, headers_of
from lifecycle.cri.hollow.logs import HollowLogs
from lifecycle.cri.hollow.output import Output
from lifecycle.cri.hollow.process import (
    SIGKILLED,
    Input,
    NotModelled,
    Process,
    Program,
    not_modelled_message,
    play,
)

_REASONS = {status.value: status.phrase for status in HTTPStatus}

EXEC_ERROR = (
    "rpc error: code = Unknown desc = failed to exec in container: failed to start exec"
    ' "{}": OCI runtime exec failed: exec failed: unable to start container process: {}'
)
"""Of a program that is not there."""

N_TTY_BUF_SIZE = 4096
"""Bytes of a line that is being typed, its end among them; further keys do nothing.
Upstream: Linux, `include/linux/tty.h`.
"""

MAX_HEADER_BYTES = 1 << 20
"""Of a request. Upstream: Go's `net/http` (`DefaultMaxHeaderBytes`)."""

END_OF_HEAD = b"\r\n\r\n"

TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\n\r\n431 Request Header Fields Too Large"
)
"""What Go's server says to a head without an end."""

BAD_REQUEST = (
    b"HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain; charset=utf-8\r\n"
    b"Connection: close\r\n\r\n400 Bad Request"
)
"""What Go's server says to what is no request."""

NOT_HTTP = "Client sent an HTTP request to an HTTPS server.\n"
"""What Go's server says to one that speaks plainly."""


class _Interrupted(Exception):
    """The container has ended, and its processes with it."""


async def _run(container: HollowContainer, process: Process, timeout: float = 0) -> int:
    """Its exit code. Raises _Interrupted, TimeoutError, and RuntimeServiceError if
    there is no such program.
    """
    container.must_run()
    program: Program | None = None
    try:
        program = container.program(process.argv)
    except FileNotFoundError as error:
        exec_id = sha256(
            " ".join([container.status.id, *process.argv]).encode()
        ).hexdigest()
        raise RuntimeServiceError(EXEC_ERROR.format(exec_id, error)) from None
    except NotModelled:
        pass  # it is played all the same, and says so
    task = container.spawn(play(process, program))
    try:
        async with asyncio.timeout(timeout or None):
            await asyncio.wait([task])
    finally:
        task.cancel()
    if task.cancelled():
        raise _Interrupted
    return task.result()


async def exec_sync(
    container: HollowContainer, cmd: tuple[str, ...], timeout: float
) -> ExecSyncResponse:
    """Plays the command to its end. `timeout` in seconds, 0: none. Raises
    RuntimeServiceError.
    """
    written = {"stdout": bytearray(), "stderr": bytearray()}
    process = container.process(
        cmd, Input(), lambda stream, data: written[stream].extend(data)
    )
    try:
        code = await _run(container, process, timeout)
    except _Interrupted:
        code = SIGKILLED
    except TimeoutError:
        raise RuntimeServiceError(
            "rpc error: code = DeadlineExceeded desc = failed to exec in container: "
            f"timeout {timeout:g}s exceeded: context deadline exceeded"
        ) from None
    texts = [data.decode("utf-8", "surrogateescape") for data in written.values()]
    return ExecSyncResponse(code, *texts)


async def exec_stream(
    container: HollowContainer, cmd: tuple[str, ...], streams: Streams, tty: bool
) -> int:
    """The same with everything as it comes, in both directions; the exit code."""
    output = Output(tty)
    keys = output.paced(streams.stdin) if streams.stdin is not None else None
    if tty and keys is not None:
        keys = typed_lines(keys, lambda data: output.write("stdout", data))
    process = container.process(cmd, Input(keys), output.write)
    process.tty = tty
    task = asyncio.ensure_future(_run(container, process))
    task.add_done_callback(lambda _: output.end())
    try:
        await output.send(streams)
        return await task
    except _Interrupted:
        return SIGKILLED
    finally:
        task.cancel()


async def typed_lines(
    keys: AsyncIterator[bytes], echo: Callable[[bytes], None]
) -> AsyncIterator[bytes]:
    """What a terminal makes of keys: lines, shown as they are typed. Ctrl-D on an empty
    line ends it, Ctrl-C empties the line.
    """
    line = bytearray()
    async for data in keys:
        for byte in data:
            if len(line) >= N_TTY_BUF_SIZE - 1 and byte not in b"\r\n\x03\x04\x7f\b":
                continue
            if byte in b"\r\n":
                echo(b"\n")
                yield bytes(line) + b"\n"
                line.clear()
            elif byte == 4:
                if not line:
                    return
                yield bytes(line)
                line.clear()
            elif byte == 3:
                echo(b"^C\n")
                line.clear()
                yield b"\n"
            elif byte in b"\x7f\b":
                if line:
                    line.pop()
                    echo(b"\b \b")
            elif byte >= 32 or byte == 9:
                line.append(byte)
                echo(bytes([byte]))


async def attach(
    container: HollowContainer, logs: HollowLogs, streams: Streams, tty: bool
) -> None:
    """Hear what process 1 says from now on, until it ends; what is sent is its
    input.
    """
    container.must_run()
    output = Output(tty)
    path = container.status.log_path or container.status.id
    stop = logs.listen(path, output.overhear)
    container.watchers.append(output)
    feeding = asyncio.ensure_future(_feed(container, streams, output if tty else None))
    try:
        await output.send(streams)
    finally:
        feeding.cancel()
        container.watchers.remove(output)
        stop()


async def _feed(
    container: HollowContainer,
    streams: Streams,
    terminal: Output | None,
) -> None:
    """With `stdinOnce` the first one to attach ends the input, too."""
    if streams.stdin is None or container.input is None:
        return
    pieces = streams.stdin
    if terminal is not None:
        keys = terminal.paced(pieces)
        pieces = typed_lines(keys, lambda data: terminal.write("stdout", data))
    async for data in pieces:
        await container.input.feed(data)
    if container.config.stdin_once:
        container.input.end()


async def http_answer(
    server: HollowContainer | None, request: HTTPRequest
) -> HTTPAnswer:
    """What `server` says to a request, or why nobody does. Whoever asks over HTTPS has
    looked at its certificate, or does not care.
    """
    if server is None:
        where = f"dial tcp {request.host}:{request.port}"
        return HTTPAnswer(
            0, f'Get "{request.url}": {where}: connect: connection refused'
        )
    listening = server.server(request.port)
    if listening is None:
        return HTTPAnswer(0, f'Get "{request.url}": EOF')
    if listening.greeting:
        said = listening.greeting.decode("utf-8", "replace")
        why = f"net/http: HTTP/1.x transport connection broken: malformed {said!r}"
        return HTTPAnswer(0, f'Get "{request.url}": {why}')
    if listening.tls is None and request.scheme == "https":
        return HTTPAnswer(0, f'Get "{request.url}": {NO_TLS}')
    if listening.tls is not None and request.scheme == "http":
        return HTTPAnswer(400, NOT_HTTP)
    try:
        return await listening.answer(request)
    except NotModelled as error:
        return HTTPAnswer(501, not_modelled_message(str(error)))
    except Exception as error:  # what somebody supplied fails as any server would
        return HTTPAnswer(500, f"{type(error).__name__}: {error}")


async def port_forward(
    server: HollowContainer | None, port: int, streams: Streams
) -> None:
    """Answer HTTP requests as `server` would. Raises RuntimeServiceError without
    one.
    """
    if server is None:
        raise RuntimeServiceError(
            "rpc error: code = Unknown desc = failed to execute portforward in network"
            f" namespace: failed to connect to localhost:{port} inside namespace:"
            " connection refused"
        )
    said, searched = bytearray(), 0
    async for data in streams.stdin or _nothing():
        said += data
        while (end := said.find(END_OF_HEAD, searched)) >= 0:
            head = bytes(said[:end])
            del said[: end + len(END_OF_HEAD)]
            searched = 0
            await streams.stdout(await _answered(server, port, head))
        searched = max(0, len(said) - len(END_OF_HEAD) + 1)
        if len(said) > MAX_HEADER_BYTES:
            await streams.stdout(TOO_LARGE)
            return


async def talk(server: HollowContainer, port: int, data: bytes) -> bytes:
    """What a server says to all that it is sent. What is no HTTP is a bad request."""
    listening = server.server(port)
    if listening is not None and listening.greeting:
        return listening.greeting
    said = bytearray()
    while b"\r\n\r\n" in data:
        head, _, data = data.partition(b"\r\n\r\n")
        said += await _answered(server, port, head)
    return bytes(said) + (BAD_REQUEST if data.strip() else b"")


async def datagram_answer(server: HollowContainer, port: int, data: bytes) -> bytes:
    """What a server says to a datagram; nothing also if it breaks down over it. What
    nobody plays is said in the server's log.
    """
    answer = server.datagram_server(port)
    try:
        return b"" if answer is None else await answer(data)
    except NotModelled as error:
        server.say("stderr", not_modelled_message(str(error)).encode())
    except Exception as error:  # what somebody supplied fails as any server would
        server.say("stderr", f"{type(error).__name__}: {error}\n".encode())
    return b""


async def _answered(server: HollowContainer, port: int, head: bytes) -> bytes:
    method, _, rest = head.decode(errors="replace").partition(" ")
    page = rest.partition(" ")[0]
    asked = HTTPRequest("localhost", port, page, method=method)
    return _message(await http_answer(server, asked))


def _message(answer: HTTPAnswer) -> bytes:
    """As it goes over the wire; nothing, if the server broke off."""
    if not answer.status:
        return b""
    body = body_of(answer)
    lines = [f"HTTP/1.1 {answer.status} {_REASONS.get(answer.status, '')}"]
    lines += [f"{name}: {value}" for name, value in headers_of(answer).items()]
    lines += [f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode() + body


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
