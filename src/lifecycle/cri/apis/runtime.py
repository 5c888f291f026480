"""All that a kubelet needs of the machine it is on: CRI, and what a real node has
beside it.

Ours: upstream's kubelet has the node's files itself. A hollow node has none.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
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


class VolumeFiles(Protocol):
    """How a kubelet without a disk hands over what it would have written there. On a
    real node these are files.
    """

    def publish(
        self, uid: str, contents: Callable[[str], Awaitable[Mapping[str, bytes]]]
    ) -> None:
        """From now on `contents` gives the files of a pod's volumes, by the volume's
        name; `etc-hosts` is the pod's `/etc/hosts`. It raises LookupError.
        """
        ...

    async def withdraw(self, uid: str) -> None:
        """The pod is gone, and its volumes with it. Again does no harm."""
        ...


class Runtime(RuntimeService, ImageService, PodNetwork, LogFiles, Protocol):
    """All that the kubelet needs of a runtime."""
