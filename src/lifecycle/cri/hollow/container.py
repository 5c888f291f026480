"""One container of the hollow runtime: what the kubelet may know of it, and the process
that is not there.

Ours. `timer` ends a program that runs for a while, `done` is who waits for its end,
`watchers` are who listens to it.
"""

from __future__ import annotations

import asyncio

from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.hollow.commands import commands_of
from lifecycle.cri.hollow.process import Program


class HollowContainer:
    """A container's status and its make-believe process."""

    __slots__ = ("config", "done", "pod_uid", "program", "status", "timer", "watchers")

    def __init__(
        self,
        status: ContainerStatus,
        config: ContainerConfig,
        program: Program,
        pod_uid: str,
    ) -> None:
        self.status = status
        self.config = config
        self.program = program
        self.pod_uid = pod_uid
        self.timer: asyncio.TimerHandle | None = None
        self.done: asyncio.Future[None] | None = None
        self.watchers: list[asyncio.Queue[tuple[str, bytes] | None]] = []

    @property
    def commands(self) -> frozenset[str] | None:
        """What its image is known to have."""
        return commands_of(self.config.user_specified_image or self.config.image)

    @property
    def running(self) -> bool:
        """Started, and not ended."""
        return self.status.state is ContainerState.RUNNING

    def must_run(self) -> None:
        """Raises RuntimeServiceError, in containerd's words, unless it runs."""
        if not self.running:
            raise RuntimeServiceError(
                "rpc error: code = Unknown desc = container is in"
                f" {self.status.state.value} state"
            )
