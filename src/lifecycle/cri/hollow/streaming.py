"""Talking to a hollow container: exec, attach, port-forward. Nothing runs, but what
would have been said is said.

Upstream: `cri-api/pkg/apis/runtime/v1` (`ExecSync`, `Exec`, `Attach`, `PortForward`);
the errors are containerd's (`internal/cri/server/container_execsync.go`,
`sandbox_portforward_linux.go`, v2.x). Left out: terminals that change their size.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from hashlib import sha256

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_network import NO_TLS, HTTPAnswer, HTTPRequest
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.files import changes_of, look
from lifecycle.cri.hollow.logs import HollowLogs
from lifecycle.cri.hollow.process import SIGKILLED, expand
from lifecycle.cri.hollow.programs import program_of_words

EXEC_ERROR = (
    "rpc error: code = Unknown desc = failed to exec in container: failed to start exec"
    ' "{}": OCI runtime exec failed: exec failed: unable to start container process: {}'
)
"""Of a program that is not there."""


async def exec_sync(
    container: HollowContainer,
    environment: Mapping[str, str],
    cmd: tuple[str, ...],
    timeout: float,
    age: float = 0.0,
) -> ExecSyncResponse:
    """Takes the time and gives the code that the command would, `age` seconds after the
    container's start.

    `timeout` in seconds, 0: none. Raises RuntimeServiceError.
    """
    container.must_run()
    past = tuple(
        replace(change, after=change.after - age) for change in container.program.files
    )
    program = program_of_words(list(cmd), container.commands, environment, past)
    if program.start_error:
        exec_id = sha256(" ".join([container.status.id, *cmd]).encode()).hexdigest()
        raise RuntimeServiceError(EXEC_ERROR.format(exec_id, program.start_error))
    found = look(container.program.files, cmd, age)
    if found is not None:
        return ExecSyncResponse(found[0], "", found[1])
    made = program.files or changes_of(list(cmd), 0.0)
    if made:
        later = tuple(replace(change, after=change.after + age) for change in made)
        container.program = replace(
            container.program, files=container.program.files + later
        )
    seconds = program.runs_for if program.runs_for is not None else 3600.0
    limit = min(seconds, timeout) if timeout else seconds
    if limit and not await _still_runs_after(container, limit):
        return ExecSyncResponse(SIGKILLED)  # who runs in a container ends with it
    if timeout and seconds > timeout:
        raise RuntimeServiceError(
            "rpc error: code = DeadlineExceeded desc = failed to exec in container: "
            f"timeout {timeout:g}s exceeded: context deadline exceeded"
        )
    said: dict[str, list[str]] = {"stdout": [], "stderr": []}
    for line in program.output:
        if line.stream in said:
            said[line.stream].append(expand(line.text, dict(environment)) + "\n")
    return ExecSyncResponse(
        program.exit_code, "".join(said["stdout"]), "".join(said["stderr"])
    )


async def _still_runs_after(container: HollowContainer, seconds: float) -> bool:
    ended: asyncio.Queue[tuple[str, bytes] | None] = asyncio.Queue()
    container.watchers.append(ended)
    try:
        async with asyncio.timeout(seconds):
            await ended.get()
    except TimeoutError:
        return True
    finally:
        container.watchers.remove(ended)
    return False


async def exec_stream(
    container: HollowContainer,
    environment: Mapping[str, str],
    cmd: tuple[str, ...],
    streams: Streams,
    tty: bool,
    age: float = 0.0,
) -> int:
    """The same as it is said; the exit code. `cat` gives back what it is sent."""
    if (
        len(cmd) == 1
        and cmd[0].rsplit("/", 1)[-1] == "cat"
        and streams.stdin is not None
    ):
        container.must_run()
        async for data in streams.stdin:
            await streams.stdout(data)
        return 0
    answer = await exec_sync(container, environment, cmd, 0, age)
    if answer.stdout:
        await streams.stdout(answer.stdout.encode())
    if answer.stderr:
        await (streams.stdout if tty else streams.stderr)(answer.stderr.encode())
    return answer.exit_code


async def attach(
    container: HollowContainer, logs: HollowLogs, streams: Streams, tty: bool
) -> None:
    """Hear what the program says from now on, until it ends."""
    container.must_run()
    said: asyncio.Queue[tuple[str, bytes] | None] = asyncio.Queue()
    path = container.status.log_path or container.status.id
    stop = logs.listen(path, lambda stream, data: said.put_nowait((stream, data)))
    container.watchers.append(said)
    try:
        while (piece := await said.get()) is not None:
            await (
                streams.stderr if piece[0] == "stderr" and not tty else streams.stdout
            )(piece[1])
    finally:
        container.watchers.remove(said)
        stop()


def http_answer(server: HollowContainer | None, request: HTTPRequest) -> HTTPAnswer:
    """What `server` says to a request, or why nobody does."""
    if server is None:
        where = f"dial tcp {request.host}:{request.port}"
        return HTTPAnswer(
            0, f'Get "{request.url}": {where}: connect: connection refused'
        )
    if request.scheme == "https":
        return HTTPAnswer(0, f'Get "{request.url}": {NO_TLS}')
    if request.method not in ("GET", "HEAD"):
        return HTTPAnswer(405)
    return HTTPAnswer(
        200 if request.path.partition("?")[0] in server.program.pages else 404
    )


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
    request = b""
    async for data in streams.stdin or _nothing():
        request += data
        while b"\r\n\r\n" in request:
            head, _, request = request.partition(b"\r\n\r\n")
            words = head.split(b" ")
            page = words[1].decode(errors="replace") if len(words) > 1 else ""
            said = "200 OK" if page in server.program.pages else "404 Not Found"
            await streams.stdout(
                f"HTTP/1.1 {said}\r\nContent-Length: 0\r\n\r\n".encode()
            )


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
