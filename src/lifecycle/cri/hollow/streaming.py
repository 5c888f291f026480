"""Talking to a hollow container: exec and attach.

Upstream: `cri-api/pkg/apis/runtime/v1` (`ExecSync`, `Exec`, `Attach`); the errors are
containerd's (`internal/cri/server/container_execsync.go`, v2.x). Left out: terminals
that change their size.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from hashlib import sha256

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.logs import HollowLogs
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.output import Output
from lifecycle.cri.hollow.process.pipes import Input
from lifecycle.cri.hollow.process.process import SIGKILLED, Process, Program, play

EXEC_ERROR = (
    "rpc error: code = Unknown desc = failed to exec in container: failed to start exec"
    ' "{}": OCI runtime exec failed: exec failed: unable to start container process: {}'
)
"""Of a program that is not there."""

N_TTY_BUF_SIZE = 4096
"""Bytes of a line that is being typed, its end among them; further keys do nothing.
Upstream: Linux, `include/linux/tty.h`.
"""


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
