"""What the sandbox runtime knows while it runs: its sandboxes and containers, whom it
watches, whom it tells.

Upstream: containerd `internal/cri/server/service.go` (`criService`), `events.go`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.cri.images.store import ImageStore
from lifecycle.cri.sandbox.network import LoopbackOnly, PodNetworkSetup
from lifecycle.cri.sandbox.overlay import overlay_works
from lifecycle.cri.sandbox.processes import forget, wait_for
from lifecycle.cri.sandbox.records import Container, Sandbox


class RuntimeState:
    """The beginning of `SandboxRuntime`: the calls are made of it, layer by layer."""

    def __init__(
        self,
        root: Path,
        network: PodNetworkSetup | None = None,
        host_netns: str = "",
        nodename: str = "",
    ) -> None:
        self.root = root
        self.host_netns = host_netns
        self.nodename = nodename
        for name in ("sandboxes", "containers", "netns", "userns", "shm"):
            (root / name).mkdir(parents=True, exist_ok=True)
        self._network = network or LoopbackOnly()
        self.images = ImageStore(root / "images", overlay_works(root))
        self._sandboxes: dict[str, Sandbox] = {}
        self._containers: dict[str, Container] = {}
        self._handlers: list[Callable[[ContainerEventResponse], None]] = []
        self._watches: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Stop watching. What runs goes on."""
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)

    def _watch(
        self, pid: int, ended: Callable[..., None], what: Sandbox | Container
    ) -> None:
        async def watch() -> None:
            await wait_for(pid)
            ended(what)

        def done(task: asyncio.Task[None]) -> None:
            self._watches.discard(task)
            forget(pid)

        task = asyncio.get_running_loop().create_task(watch())
        self._watches.add(task)
        task.add_done_callback(done)

    def get_container_events(
        self, handler: Callable[[ContainerEventResponse], None]
    ) -> None:
        """Handlers are called on the loop, at once."""
        self._handlers.append(handler)

    def _emit(
        self, kind: ContainerEventType, container_id: str, sandbox_id: str
    ) -> None:
        sandbox = self._sandboxes.get(sandbox_id)
        uid = sandbox.config.metadata.uid if sandbox else ""
        event = ContainerEventResponse(
            container_id, kind, time.time_ns(), sandbox_id, uid
        )
        for handler in self._handlers:
            handler(event)

    @property
    def _host_name(self) -> str:
        """What a pod on the node's network is called."""
        return self.nodename or os.uname().nodename

    def _netns(self, sandbox_id: str) -> str:
        return str(self.root / "netns" / sandbox_id)

    def _userns(self, sandbox_id: str) -> str:
        return str(self.root / "userns" / sandbox_id)

    def _shm(self, sandbox_id: str) -> str:
        return str(self.root / "shm" / sandbox_id)

    def _sandbox(self, pod_sandbox_id: str) -> Sandbox:
        try:
            return self._sandboxes[pod_sandbox_id]
        except KeyError:
            raise not_found("sandbox", pod_sandbox_id) from None

    def _container(self, container_id: str) -> Container:
        try:
            return self._containers[container_id]
        except KeyError:
            raise not_found("container", container_id) from None


def not_found(kind: str, name: str) -> RuntimeServiceError:
    """As containerd says it."""
    return RuntimeServiceError(
        f"rpc error: code = NotFound desc = an error occurred when try to find {kind}"
        f' "{name}": not found'
    )
