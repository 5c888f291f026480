"""The rest of CRI for the sandbox runtime: commands in containers, streams, logs,
statistics, images.

Upstream: containerd `internal/cri/server/container_execsync.go`, `container_attach.go`,
`sandbox_portforward_linux.go`, `container_stats.go`, `images/`.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from lifecycle.cri.images.store import ImageStore
from lifecycle.cri.node_access import NodeAccess
from lifecycle.cri.runtime import (
    AuthConfig,
    ContainerState,
    ExecSyncResponse,
    Image,
    RuntimeServiceError,
    Streams,
)
from lifecycle.cri.sandbox import stdio
from lifecycle.cri.sandbox.cgroups import Cgroup
from lifecycle.cri.sandbox.launch import read_json, write_json
from lifecycle.cri.sandbox.network import connect_inside
from lifecycle.cri.sandbox.processes import command, environment
from lifecycle.cri.sandbox.records import Container, Sandbox

MAX_SYNC_OUTPUT = 16 * 1024 * 1024


class NodeSide(NodeAccess):
    """Mixed into `SandboxRuntime`."""

    images: ImageStore
    root: Path
    _containers: dict[str, Container]

    def _container(self, container_id: str) -> Container:
        raise NotImplementedError

    def _sandbox(self, pod_sandbox_id: str) -> Sandbox:
        raise NotImplementedError

    def _netns(self, sandbox_id: str) -> str:
        raise NotImplementedError

    # -- commands ----------------------------------------------------------------------

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
        async with _read_end() as (out, to_out), _read_end() as (err, to_err):
            try:
                files = (subprocess.DEVNULL, to_out, to_err)
                process, heard = await self._execute(container, cmd, files, False)
            finally:
                os.close(to_out)
                os.close(to_err)
            try:
                async with asyncio.timeout(timeout or None):
                    outputs = await asyncio.gather(_beginning(out), _beginning(err))
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
        feeding = asyncio.ensure_future(_feed(process.stdin, streams))
        try:
            await asyncio.gather(
                _copy(process.stdout, streams.stdout),
                _copy(process.stderr, streams.stderr),
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
        said: asyncio.Queue[bytes | None] = asyncio.Queue()

        def read() -> None:
            try:
                data = os.read(master, 65536)
            except OSError:
                data = b""
            said.put_nowait(data or None)
            if not data:
                loop.remove_reader(master)

        async def feed() -> None:
            async for data in streams.stdin or _never():
                await asyncio.to_thread(os.write, master, data)

        async def resize() -> None:
            async for width, height in streams.resize or _never():
                stdio.set_size(master, b'{"width": %d, "height": %d}' % (width, height))

        loop.add_reader(master, read)
        tasks = [asyncio.ensure_future(feed()), asyncio.ensure_future(resize())]
        try:
            while (data := await said.get()) is not None:
                await streams.stdout(data)
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

    # -- streams -----------------------------------------------------------------------

    async def _shim(
        self, container: Container
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A connection to the container's shim. Paths of sockets are short, so this
        goes through the directory's fd.
        """
        directory = os.open(container.directory, os.O_PATH)
        try:
            return await asyncio.open_unix_connection(
                f"/proc/self/fd/{directory}/{stdio.SOCKET}"
            )
        except OSError as error:
            raise RuntimeServiceError(
                f"rpc error: code = Unknown desc = failed to reach the shim: {error}"
            ) from None
        finally:
            os.close(directory)

    async def attach(
        self, container_id: str, streams: Streams, tty: bool = False
    ) -> None:
        """From now on; what was said before is in the log."""
        reader, writer = await self._shim(
            self._running(container_id, "failed to attach container")
        )

        async def feed() -> None:
            async for data in streams.stdin or _never():
                writer.write(stdio.frame(stdio.STDIN, data))
                await writer.drain()
            if streams.stdin is not None:
                writer.write(stdio.frame(stdio.CLOSE))

        async def resize() -> None:
            async for width, height in streams.resize or _never():
                writer.write(
                    stdio.frame(
                        stdio.RESIZE, b'{"width": %d, "height": %d}' % (width, height)
                    )
                )

        tasks = [asyncio.ensure_future(feed()), asyncio.ensure_future(resize())]
        buffer = bytearray()
        try:
            while data := await reader.read(65536):
                buffer += data
                for kind, payload in stdio.unframe(buffer):
                    await (streams.stderr if kind == stdio.STDERR else streams.stdout)(
                        payload
                    )
        except ConnectionError:
            pass
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            writer.close()

    async def reopen_container_log(self, container_id: str) -> None:
        """Returns when the shim writes to the new file."""
        container = self._container(container_id)
        if container.status.state is not ContainerState.RUNNING:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = container is not running"
            )
        reader, writer = await self._shim(container)
        writer.write(stdio.frame(stdio.REOPEN))
        buffer = bytearray()
        try:
            while data := await reader.read(65536):
                buffer += data
                if any(kind == stdio.DONE for kind, _ in stdio.unframe(buffer)):
                    return
        finally:
            writer.close()

    async def port_forward(
        self, pod_sandbox_id: str, port: int, streams: Streams
    ) -> None:
        """Even servers that listen on the pod's loopback only can be reached."""
        sandbox = self._sandbox(pod_sandbox_id)
        netns = (
            self._netns(pod_sandbox_id)
            if sandbox.networked
            else self.host_netns or "/proc/self/ns/net"
        )
        try:
            made: socket.socket = await asyncio.to_thread(connect_inside, netns, port)
        except OSError as error:
            raise RuntimeServiceError(
                f"rpc error: code = Unknown desc = error forwarding port {port} to pod"
                f" {pod_sandbox_id}, uid : failed to execute "
                f'portforward in network namespace "{netns}": failed to connect to'
                f" localhost:{port} inside namespace "
                f'"{pod_sandbox_id}", IPv4: dial tcp4 127.0.0.1:{port}: connect:'
                f" {(error.strerror or str(error)).lower()}"
            ) from None
        made.settimeout(None)
        reader, writer = await asyncio.open_connection(sock=made)
        feeding = asyncio.ensure_future(_feed(writer, streams))
        try:
            await _copy(reader, streams.stdout)
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            writer.close()

    # -- statistics --------------------------------------------------------------------

    async def container_stats(self, container_id: str) -> dict[str, Any]:
        """From its cgroup."""
        container = self._container(container_id)
        status = container.status
        cpu, memory = Cgroup(
            read_json(f"{container.directory}/config.json")["linux"]["cgroupsPath"]
        ).usage()
        now = time.time_ns()
        metadata = {"name": status.metadata.name, "attempt": status.metadata.attempt}
        attributes = {
            "id": container_id,
            "metadata": metadata,
            "labels": dict(status.labels),
        }
        return {
            "attributes": {**attributes, "annotations": dict(status.annotations)},
            "cpu": {"timestamp": now, "usage_core_nano_seconds": {"value": cpu}},
            "memory": {"timestamp": now, "working_set_bytes": {"value": memory}},
        }

    async def list_container_stats(
        self, pod_sandbox_id: str = ""
    ) -> list[dict[str, Any]]:
        """Of what runs."""
        return [
            await self.container_stats(container.status.id)
            for container in self._containers.values()
            if container.status.state is ContainerState.RUNNING
            and (
                not pod_sandbox_id or container.status.pod_sandbox_id == pod_sandbox_id
            )
        ]

    # -- images ------------------------------------------------------------------------

    async def list_images(self) -> list[Image]:
        """Largest first."""
        return self.images.list()

    async def image_status(self, image: str) -> Image | None:
        """By any name."""
        found = self.images.find(image)
        return self.images.describe(found) if found else None

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """Its id, as containerd answers."""
        return await self.images.pull(image, auth)

    async def remove_image(self, image: str) -> None:
        """With all its names."""
        self.images.remove(image)

    async def image_fs_info(self) -> list[dict[str, Any]]:
        """What the image store takes."""
        size, inodes = await asyncio.to_thread(self.images.usage)
        where = {"mountpoint": str(self.images.root)}
        used = {"used_bytes": {"value": size}, "inodes_used": {"value": inodes}}
        return [{"timestamp": time.time_ns(), "fs_id": where, **used}]


@asynccontextmanager
async def _read_end() -> AsyncIterator[tuple[asyncio.StreamReader, int]]:
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


async def _beginning(reader: asyncio.StreamReader) -> bytes:
    """Reads to the end, keeps `MAX_SYNC_OUTPUT`. Upstream: `cappedWriter` in
    `container_execsync.go`.
    """
    kept = bytearray()
    while data := await reader.read(65536):
        kept += data[: MAX_SYNC_OUTPUT - len(kept)]
    return bytes(kept)


async def _never() -> Any:
    return
    yield b""


async def _feed(writer: asyncio.StreamWriter | None, streams: Streams) -> None:
    if writer is None or streams.stdin is None:
        return
    with suppress(ConnectionError):
        async for data in streams.stdin:
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def _copy(
    reader: asyncio.StreamReader, write: Callable[[bytes], Awaitable[None]]
) -> None:
    while data := await reader.read(65536):
        await write(data)
