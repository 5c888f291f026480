"""A scene on a real etcd of its own: Debian's, on free loopback ports, in a directory
that goes with it.

Where no etcd is installed, the scene is not played and the reader is told.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

from lifecycle.agreements.apiserver.resource_handling import ADMIN
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.version import user_agent
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.etcd.etcd import EtcdStore
from lifecycle.etcd.store import StoreError

ABSENT = "etcd is not installed here (Debian: etcd-server); what follows was left out"
PATIENCE = 15.0


def with_own_etcd(scene: Callable[[GenericAPIServer, Client], Awaitable[Any]]) -> Any:
    """What the scene returns, played on an API server over a real etcd; a line that
    says why not, where there is none.
    """

    async def alone(servers: Sequence[GenericAPIServer]) -> Any:
        [server] = servers
        transport = server.in_process_transport(ADMIN)
        return await scene(server, Client(transport, user_agent("kubectl")))

    return with_servers_over_etcd(alone, 1)


def with_servers_over_etcd(
    scene: Callable[[Sequence[GenericAPIServer]], Awaitable[Any]], count: int
) -> Any:
    """The same with several API servers over one etcd, of which each has its own
    caches.
    """
    binary = shutil.which("etcd")
    if binary is None:
        return ABSENT

    async def main() -> Any:
        with tempfile.TemporaryDirectory() as place:
            url, command = _command(binary or "", Path(place))
            process = await asyncio.to_thread(_started, command)
            servers: list[GenericAPIServer] = []
            try:
                for _ in range(count):
                    servers.append(create_server_chain(await _opened(url)))
                    await servers[-1].start()
                return await scene(servers)
            finally:
                for server in servers:
                    await server.stop()
                process.kill()
                process.wait()

    return on_a_loop(main())


def _started(command: list[str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


async def _opened(url: str) -> EtcdStore:
    deadline = asyncio.get_running_loop().time() + PATIENCE
    while True:
        try:
            return await EtcdStore.open(url)
        except StoreError:
            if asyncio.get_running_loop().time() > deadline:
                raise
            await asyncio.sleep(0.05)


def _command(binary: str, place: Path) -> tuple[str, list[str]]:
    ports = []
    for _ in range(2):
        with socket.socket() as sock:
            sock.bind(("127.0.0.1", 0))
            ports.append(sock.getsockname()[1])
    url, peer = (f"http://127.0.0.1:{port}" for port in ports)
    return url, [
        binary, "--name=own", f"--data-dir={place / 'data'}", "--log-level=error",
        f"--listen-client-urls={url}",
        f"--advertise-client-urls={url}", f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=own={peer}", "--heartbeat-interval=20",
        "--election-timeout=200",
    ]  # fmt: skip
