"""The volumes of a hollow node: trees of files in memory.

What a kubelet would write to its disk for a pod it `publish`es here; it is fetched when
somebody reads it, so that ten thousand pods whose tokens nobody looks at cost nothing.
An `emptyDir` belongs to the pod, a `hostPath` to the node.

Ours. Left out: what claims keep when their pod is gone; sizes, links, times.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial

from lifecycle.cri.apis.volume_files import Contents, VolumeContent

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


@dataclass(slots=True, frozen=True)
class Attributes:
    """Permission bits, with setuid, setgid and the sticky bit; who owns it."""

    mode: int
    user: int = 0
    group: int = 0


class Tree:
    """Files by path, without a slash at the beginning; None is a directory.

    `content`: what the kubelet says of the volume, if it is one; `read_only`: its files
    are there, too, and none can be written.
    """

    __slots__ = ("_content", "attributes", "entries", "read_only")

    def __init__(
        self,
        content: Callable[[], Awaitable[VolumeContent]] | None = None,
        *,
        read_only: bool = False,
    ) -> None:
        self._content = content
        self.read_only = read_only
        self.entries: dict[str, bytes | None] = {}
        self.attributes: dict[str, Attributes] = {}

    async def content(self) -> VolumeContent | None:
        """The volume as the kubelet made it; None if this is none, or an empty one of
        which no kubelet said anything. Raises UnknownFile.
        """
        if self._content is None:
            return None
        try:
            return await self._content()
        except LookupError as error:
            if not self.read_only:
                return None
            raise UnknownFile(str(error.args[0])) from None

    async def _known(self) -> Mapping[str, object]:
        content = await self.content() if self.read_only else None
        return self.entries if content is None else content.files

    async def kind(self, path: str) -> str:
        """`file`, `directory`, or nothing."""
        entries = await self._known()
        if path in entries:
            return "directory" if entries[path] is None else "file"
        below = f"{path}/" if path else ""
        return "directory" if any(key.startswith(below) for key in entries) else ""

    async def read(self, path: str) -> bytes:
        """A file that is there."""
        content = await self.content() if self.read_only else None
        return (
            (self.entries[path] or b"") if content is None else content.files[path].data
        )

    async def stat(self, path: str) -> Attributes:
        """Of what is there."""
        if path in self.attributes:
            return self.attributes[path]
        content = await self.content()
        if content is None:
            return Attributes(0o755 if path else 0o777)
        if path in content.files:
            file = content.files[path]
            return Attributes(file.mode, file.user, file.group)
        return Attributes(content.mode if not path else 0o755, 0, content.group)

    async def names(self, path: str) -> set[str]:
        """What is in a directory."""
        below = f"{path}/" if path else ""
        return {
            key[len(below) :].split("/", 1)[0]
            for key in await self._known()
            if key.startswith(below) and key != path
        }

    def make_directories(self, path: str) -> None:
        """What a `subPath` names is made, if it is not there."""
        parts = path.split("/") if path else []
        for i in range(len(parts)):
            self.entries.setdefault("/".join(parts[: i + 1]), None)

    def size(self) -> int:
        """Bytes of what was written."""
        return sum(len(data) for data in self.entries.values() if data)

    def remove(self, path: str) -> None:
        """With all that is below."""
        for key in [
            key for key in self.entries if key == path or key.startswith(f"{path}/")
        ]:
            del self.entries[key]
            self.attributes.pop(key, None)


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

    async def _content(self, uid: str, name: str) -> VolumeContent:
        published = self._published.get(uid)
        if published is None:
            raise LookupError(f"volume {name}")
        return await published(name)

    def open(self, host_path: str) -> tuple[Tree, str]:
        """The tree behind a mount's path on the node, and where in it."""
        if hosts := _HOSTS_PATH.fullmatch(host_path):
            content = partial(self._content, hosts[1], "etc-hosts")
            return Tree(content, read_only=True), "etc-hosts"
        match = _POD_PATH.fullmatch(host_path)
        if match is None:
            return self._disk, host_path.strip("/")
        uid, plugin, name, below = match.groups(default="")
        content = partial(self._content, uid, name)
        if plugin in FROM_API:
            return Tree(content, read_only=True), below
        key = uid, f"{plugin}/{name}"
        if key not in self._empty_dirs:
            self._empty_dirs[key] = Tree(content)
        tree = self._empty_dirs[key]
        tree.make_directories(below)
        return tree, below
