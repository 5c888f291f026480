"""Commands in the sandbox runtime's containers.

Upstream: containerd `internal/cri/server/container_execsync.go`, `container_exec.go`.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from secrets import token_hex
from typing import Any

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import ExecSyncResponse, Streams
from lifecycle.cri.sandbox import stdio
from lifecycle.cri.sandbox.launch import read_json, write_json
from lifecycle.cri.sandbox.own_program import own_program
from lifecycle.cri.sandbox.processes import command, environment
from lifecycle.cri.sandbox.records import Container
from lifecycle.cri.sandbox.state import RuntimeState
from lifecycle.cri.sandbox.streaming import copy_output, no_input, send_input

MAX_SYNC_OUTPUT = 16 * 1024 * 1024
MAX_PIECES = 16
"""Of a terminal's output, of at most 64 KiB each, that wait to be sent: then the
program has to.
"""


class ContainerExec(RuntimeState):
    """The calls that run a command in a container."""

    def _running(self, container_id: str, doing: str) -> Container:
        container = self._container(container_id)
        if container.status.state is not ContainerState.RUNNING:
            raise RuntimeServiceError(
                f"rpc error: code = Unknown desc = {doing}: container is in"
                f" {container.status.state.value} state"
            )
        return container

    async def _execute(
        self,
        container: Container,
        cmd: tuple[str, ...],
        files: tuple[Any, Any, Any],
        tty: bool,
    ) -> Any:
        """Start the helper that joins the container; the process, and the pipe on which
        it complains.
        """
        process = dict(read_json(f"{container.directory}/config.json")["process"])
        process |= {"args": list(cmd), "terminal": tty}
        if tty:
            process["env"] = [*process["env"], "TERM=xterm"]
        file = f"{container.directory}/exec-{token_hex(8)}.json"
        write_json(file, process)
        heard, complaints = os.pipe()
        try:
            running = await asyncio.create_subprocess_exec(
                *command("execute", str(container.directory), file, str(complaints)),
                executable=await asyncio.to_thread(own_program),
                stdin=files[0],
                stdout=files[1],
                stderr=files[2],
                env=environment(),
                cwd="/",
                pass_fds=(complaints,),
            )
        finally:
            os.close(complaints)
        return running, heard

    @staticmethod
    def _complaint(heard: int) -> None:
        with os.fdopen(heard, "rb") as pipe:
            why = pipe.read().decode(errors="replace")
        if why:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = failed to exec in container: failed"
                f' to start exec "{token_hex(32)}": OCI runtime exec failed: exec'
                f" failed: unable to start container process: {why}: unknown"
            )

    async def exec_sync(
        self, container_id: str, cmd: tuple[str, ...], timeout: float
    ) -> ExecSyncResponse:
        """Output beyond 16 MiB is dropped as it comes. Raises RuntimeServiceError, when
        `timeout` is over too.
        """
        container = self._running(container_id, "failed to exec in container")
        async with output_pipe() as (out, to_out), output_pipe() as (err, to_err):
            try:
                files = (subprocess.DEVNULL, to_out, to_err)
                process, heard = await self._execute(container, cmd, files, False)
            finally:
                os.close(to_out)
                os.close(to_err)
            try:
                async with asyncio.timeout(timeout or None):
                    outputs = await asyncio.gather(
                        capped_output(out), capped_output(err)
                    )
                    await process.wait()
            except TimeoutError:
                os.close(heard)
                raise RuntimeServiceError(
                    "rpc error: code = DeadlineExceeded desc = failed to exec in"
                    f" container: timeout {timeout:g}s exceeded: context deadline"
                    " exceeded"
                ) from None
            except BaseException:
                os.close(heard)
                raise
            finally:
                if process.returncode is None:
                    with suppress(ProcessLookupError):
                        process.kill()
                    await process.wait()
        self._complaint(heard)
        texts = [data.decode("utf-8", "surrogateescape") for data in outputs]
        return ExecSyncResponse(process.returncode or 0, *texts)

    async def exec(
        self,
        container_id: str,
        cmd: tuple[str, ...],
        streams: Streams,
        tty: bool = False,
    ) -> int:
        """With a terminal both outputs are one."""
        container = self._running(container_id, "failed to exec in container")
        if tty:
            return await self._exec_terminal(container, cmd, streams)
        stdin = subprocess.PIPE if streams.stdin is not None else subprocess.DEVNULL
        process, heard = await self._execute(
            container, cmd, (stdin, subprocess.PIPE, subprocess.PIPE), False
        )
        feeding = asyncio.ensure_future(send_input(process.stdin, streams))
        try:
            await asyncio.gather(
                copy_output(process.stdout, streams.stdout),
                copy_output(process.stderr, streams.stderr),
            )
            await process.wait()
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            if process.returncode is None:
                with suppress(ProcessLookupError):
                    process.kill()
                await process.wait()
        self._complaint(heard)
        return int(process.returncode or 0)

    async def _exec_terminal(
        self, container: Container, cmd: tuple[str, ...], streams: Streams
    ) -> int:
        master, slave = os.openpty()
        process, heard = await self._execute(
            container, cmd, (slave, slave, slave), True
        )
        os.close(slave)
        loop = asyncio.get_running_loop()
        output: asyncio.Queue[bytes | None] = asyncio.Queue()

        def read() -> None:
            try:
                data = os.read(master, 65536)
            except OSError:
                data = b""
            output.put_nowait(data or None)
            if not data or output.qsize() >= MAX_PIECES:
                loop.remove_reader(master)  # until what is there has been sent

        async def feed() -> None:
            async for data in streams.stdin or no_input():
                await asyncio.to_thread(os.write, master, data)

        async def resize() -> None:
            async for width, height in streams.resize or no_input():
                stdio.set_size(master, b'{"width": %d, "height": %d}' % (width, height))

        loop.add_reader(master, read)
        tasks = [asyncio.ensure_future(feed()), asyncio.ensure_future(resize())]
        try:
            while (data := await output.get()) is not None:
                await streams.stdout(data)
                if output.empty():
                    loop.add_reader(master, read)
            await process.wait()
        finally:
            loop.remove_reader(master)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            if process.returncode is None:
                process.kill()
                await process.wait()
            os.close(master)
        self._complaint(heard)
        return int(process.returncode or 0)


@asynccontextmanager
async def output_pipe() -> AsyncIterator[tuple[asyncio.StreamReader, int]]:
    """A pipe: a reader, closed at the end, and the other end, which is the caller's to
    close.

    With a pipe of asyncio's own, waiting for the process would mean waiting for the end
    of its output, which never comes if nobody reads it or a grandchild holds it.
    """
    receive, send = os.pipe()
    reader = asyncio.StreamReader()
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader),
        os.fdopen(receive, "rb", buffering=0),
    )
    try:
        yield reader, send
    finally:
        transport.close()


async def capped_output(reader: asyncio.StreamReader) -> bytes:
    """Reads to the end, keeps `MAX_SYNC_OUTPUT`. Upstream: `cappedWriter` in
    `container_execsync.go`.
    """
    kept = bytearray()
    while data := await reader.read(65536):
        kept += data[: MAX_SYNC_OUTPUT - len(kept)]
    return bytes(kept)
