"""The volumes of a hollow node: trees of files in memory.

What a kubelet would write to its disk for a pod it `publish`es here; it is fetched when
somebody reads it, so that ten thousand pods whose tokens nobody looks at cost nothing.
An `emptyDir` belongs to the pod, a `hostPath` to the node.

Ours. Left out: what claims keep when their pod is gone; sizes, owners, modes.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

Contents = Callable[[str], Awaitable[Mapping[str, bytes]]]
"""The files of one of a pod's volumes, by path below it. Raises LookupError."""

_POD_PATH = re.compile(
    r".*/pods/([^/]+)/volumes(?:-subpaths)?/([^/]+)/([^/]+)(?:/(.*))?"
)
"""A pod's volume on a node's disk: uid, plugin, name, and what follows."""

_HOSTS_PATH = re.compile(r".*/pods/([^/]+)/etc-hosts")
FROM_API = frozenset(
    f"kubernetes.io~{plugin}"
    for plugin in ("configmap", "secret", "projected", "downward-api")
)
"""The plugins whose files the API gives, and which are read-only."""


class UnknownFile(Exception):
    """Nobody here can tell what is there. The text is the path."""


class Tree:
    """Files by path, without a slash at the beginning; None is a directory.

    `contents`: where they come from, if not from those who write them.
    """

    __slots__ = ("contents", "entries")

    def __init__(
        self, contents: Callable[[], Awaitable[Mapping[str, bytes]]] | None = None
    ) -> None:
        self.contents = contents
        self.entries: dict[str, bytes | None] = {}

    async def _known(self) -> Mapping[str, bytes | None]:
        if self.contents is None:
            return self.entries
        try:
            return await self.contents()
        except LookupError as error:
            raise UnknownFile(str(error.args[0])) from None

    async def kind(self, path: str) -> str:
        """`file`, `directory`, or nothing."""
        entries = await self._known()
        if path in entries:
            return "directory" if entries[path] is None else "file"
        below = f"{path}/" if path else ""
        return "directory" if any(key.startswith(below) for key in entries) else ""

    async def read(self, path: str) -> bytes:
        """A file that is there."""
        return (await self._known())[path] or b""

    async def names(self, path: str) -> set[str]:
        """What is in a directory."""
        below = f"{path}/" if path else ""
        return {
            key[len(below) :].split("/", 1)[0]
            for key in await self._known()
            if key.startswith(below) and key != path
        }

    def size(self) -> int:
        """Bytes of what was written."""
        return sum(len(data) for data in self.entries.values() if data)

    def remove(self, path: str) -> None:
        """With all that is below."""
        for key in [
            key for key in self.entries if key == path or key.startswith(f"{path}/")
        ]:
            del self.entries[key]


class HollowVolumes:
    """One node's. `unmount` takes the time that it takes to release a pod's."""

    def __init__(self, unmount: Callable[[], Awaitable[None]] | None = None) -> None:
        self._unmount = unmount
        self._published: dict[str, Contents] = {}
        self._empty_dirs: dict[tuple[str, str], Tree] = {}
        self._disk = Tree()

    def publish(self, uid: str, contents: Contents) -> None:
        """From now on a pod's volumes are read there."""
        self._published[uid] = contents

    async def withdraw(self, uid: str) -> None:
        """The pod has ended, and its volumes with it. Again does no harm."""
        if self._unmount is not None:
            await self._unmount()
        self._published.pop(uid, None)
        for key in [key for key in self._empty_dirs if key[0] == uid]:
            del self._empty_dirs[key]

    async def _contents(self, uid: str, name: str) -> Mapping[str, bytes]:
        published = self._published.get(uid)
        if published is None:
            raise LookupError(f"volume {name}")
        return await published(name)

    def open(self, host_path: str) -> tuple[Tree, str]:
        """The tree behind a mount's path on the node, and where in it."""
        if hosts := _HOSTS_PATH.fullmatch(host_path):
            return Tree(partial(self._contents, hosts[1], "etc-hosts")), "etc-hosts"
        match = _POD_PATH.fullmatch(host_path)
        if match is None:
            return self._disk, host_path.strip("/")
        uid, plugin, name, below = match.groups(default="")
        if plugin in FROM_API:
            return Tree(partial(self._contents, uid, name)), below
        return self._empty_dirs.setdefault((uid, f"{plugin}/{name}"), Tree()), below
