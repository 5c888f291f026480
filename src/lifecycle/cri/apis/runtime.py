"""All that a kubelet needs of the machine it is on: CRI, and what a real node has
beside it.

Ours: upstream's kubelet has the node's files itself. A hollow node has none.
"""

from __future__ import annotations

from typing import Protocol

from lifecycle.cri.apis.pod_network import PodNetwork
from lifecycle.cri.apis.services import ImageService, RuntimeService


class LogFiles(Protocol):
    """How the kubelet reads container logs (`log_format.py`). On a real node these are
    files.
    """

    def read_log(self, path: str, offset: int = 0, size: int = -1) -> bytes:
        """At most `size` bytes (-1: all) of a container's log from `offset` on. Raises
        FileNotFoundError.
        """
        ...

    def log_size(self, path: str) -> int:
        """Bytes. Raises FileNotFoundError."""
        ...

    async def log_grown(self, path: str, size: int) -> None:
        """Return when the log is longer than `size` bytes."""
        ...


class Runtime(RuntimeService, ImageService, PodNetwork, LogFiles, Protocol):
    """All that the kubelet needs of a runtime."""
