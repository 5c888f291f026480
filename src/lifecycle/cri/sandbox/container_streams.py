"""Streams of the sandbox runtime that run no command: attach, port-forward, and the log
that begins anew.

Upstream: containerd `internal/cri/server/container_attach.go`,
`sandbox_portforward_linux.go`, `container_log_reopen.go`.
"""

from __future__ import annotations

import asyncio
import os
import socket

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.streams import Streams
from lifecycle.cri.sandbox import stdio
from lifecycle.cri.sandbox.container_exec import ContainerExec
from lifecycle.cri.sandbox.network import connect_inside
from lifecycle.cri.sandbox.records import Container
from lifecycle.cri.sandbox.streaming import copy_output, no_input, send_input


class ContainerStreams(ContainerExec):
    """The calls that connect somebody to a container's shim, or to a pod's port."""

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
            async for data in streams.stdin or no_input():
                writer.write(stdio.frame(stdio.STDIN, data))
                await writer.drain()
            if streams.stdin is not None:
                writer.write(stdio.frame(stdio.CLOSE))

        async def resize() -> None:
            async for width, height in streams.resize or no_input():
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
            sock: socket.socket = await asyncio.to_thread(connect_inside, netns, port)
        except OSError as error:
            raise RuntimeServiceError(
                f"rpc error: code = Unknown desc = error forwarding port {port} to pod"
                f" {pod_sandbox_id}, uid : failed to execute "
                f'portforward in network namespace "{netns}": failed to connect to'
                f" localhost:{port} inside namespace "
                f'"{pod_sandbox_id}", IPv4: dial tcp4 127.0.0.1:{port}: connect:'
                f" {(error.strerror or str(error)).lower()}"
            ) from None
        sock.settimeout(None)
        reader, writer = await asyncio.open_connection(sock=sock)
        feeding = asyncio.ensure_future(send_input(writer, streams))
        try:
            await copy_output(reader, streams.stdout)
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)
            writer.close()
