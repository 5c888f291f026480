"""What a kubelet without a disk would have written to it: the volumes of a pod, with
modes and owners.

Ours: on a real node these are files, and nobody has to be told.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(slots=True, frozen=True)
class VolumeFile:
    """One file: `mode` its permission bits, `user` and `group` who owns it."""

    data: bytes
    mode: int = 0o644
    user: int = 0
    group: int = 0


@dataclass(slots=True, frozen=True)
class VolumeContent:
    """A volume. `files` by path below it; `mode` and `group` are its own directory's,
    and `group` is handed on to what is made in it if `mode` says so. `in_memory`: a
    `tmpfs`, not the node's disk.
    """

    files: Mapping[str, VolumeFile] = field(default_factory=dict)
    mode: int = 0o755
    group: int = 0
    in_memory: bool = False


Contents = Callable[[str], Awaitable[VolumeContent]]
"""One of a pod's volumes, by its name; `etc-hosts` is the pod's `/etc/hosts`. Raises
LookupError.
"""


class VolumeFiles(Protocol):
    """How a kubelet without a disk hands over what it would have written there."""

    def publish(self, uid: str, contents: Contents) -> None:
        """From now on `contents` gives what is in a pod's volumes."""
        ...

    async def withdraw(self, uid: str) -> None:
        """The pod is gone, and its volumes with it. Again does no harm."""
        ...
