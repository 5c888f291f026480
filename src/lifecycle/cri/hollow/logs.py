"""Logs of hollow containers: what their programs would have written, as CRI lines, in
memory.

A hollow node must not write to the machine's real `/var/log/pods`, so its files live
here, under the paths that the kubelet asked for. With `root` they are real files below
that directory instead.

Ours. The lines are those of `log_format.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from lifecycle.cri.log_format import format_entry, split_output


class HollowLogs:
    """All log files of one node, by path."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root
        self._files: dict[str, bytearray] = {}
        self._waiting: dict[str, list[asyncio.Future[None]]] = {}
        self._partial: dict[tuple[str, str], bytes] = {}
        self._listeners: dict[str, list[Callable[[str, bytes], None]]] = {}

    def create(self, path: str) -> None:
        """An empty file, unless there is one."""
        if path and path not in self._files:
            self._files[path] = bytearray()
            self._write(path, b"")

    def _write(self, path: str, data: bytes) -> None:
        if self._root is None:
            return
        file = self._root / path.lstrip("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as stream:
            stream.write(data)

    def append(self, path: str, time: int, stream: str, data: bytes) -> None:
        """What a program wrote. `time` in nanoseconds. The beginning of a line waits
        for its end, or for `flush`.
        """
        for listener in list(self._listeners.get(path, ())):
            listener(stream, data)
        if not path.startswith("/"):
            return
        pieces, rest = split_output(self._partial.pop((path, stream), b"") + data)
        if rest:
            self._partial[path, stream] = rest
        self._add(
            path,
            b"".join(
                format_entry(time, stream, complete, piece)
                for complete, piece in pieces
            ),
        )

    def flush(self, path: str, time: int) -> None:
        """The program has ended: what has no end by now gets none, as a piece."""
        for stream in ("stdout", "stderr"):
            rest = self._partial.pop((path, stream), b"")
            if rest:
                self._add(path, format_entry(time, stream, False, rest))

    def _add(self, path: str, entries: bytes) -> None:
        if not entries:
            return
        self.create(path)
        self._files[path] += entries
        self._write(path, entries)
        for future in self._waiting.pop(path, ()):
            if not future.done():
                future.set_result(None)

    def listen(
        self, path: str, listener: Callable[[str, bytes], None]
    ) -> Callable[[], None]:
        """Tell `listener` the stream and the bytes of everything written from now on;
        the function returned ends that.
        """
        self._listeners.setdefault(path, []).append(listener)
        return lambda: self._listeners[path].remove(listener)

    def reopen(self, path: str) -> None:
        """The file has been rotated away: begin anew."""
        self._files[path] = bytearray()

    def _file(self, path: str) -> bytearray:
        try:
            return self._files[path]
        except KeyError:
            raise FileNotFoundError(f"open {path}: no such file or directory") from None

    def read(self, path: str, offset: int = 0, size: int = -1) -> bytes:
        """At most `size` bytes; -1: to the end. Raises FileNotFoundError."""
        return bytes(self._file(path)[offset : None if size < 0 else offset + size])

    def size(self, path: str) -> int:
        """Raises FileNotFoundError."""
        return len(self._file(path))

    async def grown(self, path: str, size: int) -> None:
        """Return when there is more than `size` bytes."""
        while len(self._files.get(path, b"")) <= size:
            future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.setdefault(path, []).append(future)
            await future
