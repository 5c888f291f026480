"""The streams of a container: into its log as CRI lines, and to whoever attaches.

The shim holds one end of each pipe, or of a pseudo-terminal, for as long as the
container lives, so nothing is lost while the runtime restarts. On the socket `BUNDLE/s`
it serves attachments: frames of one byte for the kind, four for the length, and the
data.

Upstream: containerd `internal/cri/io/logger.go`, `container_io.go` (`Attach`).
"""

from __future__ import annotations

import fcntl
import json
import os
import selectors
import signal
import socket
import struct
import termios
import time
from contextlib import suppress
from typing import Any

from lifecycle.cri.log_format import format_entry, split_output

STDIN, STDOUT, STDERR, RESIZE, REOPEN, DONE, CLOSE = 0, 1, 2, 4, 5, 6, 255
SOCKET = "s"


def frame(kind: int, data: bytes = b"") -> bytes:
    """One message."""
    return struct.pack(">BI", kind, len(data)) + data


def unframe(buffer: bytearray) -> list[tuple[int, bytes]]:
    """Whole messages at the start of `buffer`, which is left with the rest."""
    messages = []
    while len(buffer) >= 5:
        kind, size = struct.unpack(">BI", buffer[:5])
        if len(buffer) < 5 + size:
            break
        messages.append((kind, bytes(buffer[5 : 5 + size])))
        del buffer[: 5 + size]
    return messages


class Stdio:
    """`options`: `log_path` (empty: no log), `tty`, `stdin`, `stdin_once`."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._log_path = options.get("log_path") or ""
        self._tty, self._once = (
            bool(options.get("tty")),
            bool(options.get("stdin_once")),
        )
        self._log = self._open_log()
        self._rest: dict[str, bytes] = {"stdout": b"", "stderr": b""}
        self._outputs: dict[int, str] = {}
        self._clients: dict[socket.socket, bytearray] = {}
        self._stdin = -1
        if self._tty:
            master, slave = os.openpty()
            self.child_ends = (slave, slave, slave)
            self._outputs[master] = "stdout"
            self._stdin = master if options.get("stdin") else -1
            self._master = master
        else:
            stdin = os.open(os.devnull, os.O_RDONLY)
            if options.get("stdin"):
                stdin, self._stdin = os.pipe()
            out, out_end = os.pipe()
            err, err_end = os.pipe()
            self._outputs = {out: "stdout", err: "stderr"}
            self.child_ends = (stdin, out_end, err_end)
        self._listener = socket.socket(socket.AF_UNIX)
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)
        self._listener.bind(SOCKET)
        self._listener.listen(16)
        self._selector = selectors.DefaultSelector()

    def _open_log(self) -> int:
        if not self._log_path:
            return -1
        os.makedirs(os.path.dirname(self._log_path), exist_ok=True)
        return os.open(
            self._log_path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o640
        )

    def serve(self, pid: int) -> int:
        """Copy until process `pid` has ended; its wait status."""
        for fd in set(self.child_ends):
            os.close(fd)
        wake, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self._selector.register(wake, selectors.EVENT_READ, "wake")
        self._selector.register(self._listener, selectors.EVENT_READ, "listen")
        for fd in self._outputs:
            os.set_blocking(fd, False)
            self._selector.register(fd, selectors.EVENT_READ, "output")
        while True:
            reaped, status = _reap(pid)
            if reaped:
                return status
            for key, _ in self._selector.select():
                if key.data == "wake":
                    os.read(wake, 512)
                elif key.data == "output":
                    self._copy(key.fd)
                elif key.data == "listen":
                    self._accept()
                else:
                    self._hear(key.fileobj)  # type: ignore[arg-type]

    def finish(self) -> None:
        """What is still in the pipes, the last unfinished lines, and goodbye to those
        attached.
        """
        for fd in list(self._outputs):
            while fd in self._outputs and self._copy(fd):
                pass
        for stream, rest in self._rest.items():
            if rest:  # nobody will end this line any more: a piece, whole as it is
                self._write(format_entry(time.time_ns(), stream, False, rest))
        for client in self._clients:
            client.close()
        self._listener.close()
        with suppress(FileNotFoundError):
            os.unlink(SOCKET)

    def _copy(self, fd: int) -> bool:
        stream = self._outputs[fd]
        try:
            data = os.read(fd, 65536)
        except BlockingIOError:
            return False
        except OSError:  # a terminal whose last user has gone
            data = b""
        if not data:
            self._selector.unregister(fd)
            del self._outputs[fd]
            return False
        pieces, self._rest[stream] = split_output(self._rest[stream] + data)
        now = time.time_ns()
        self._write(
            b"".join(
                format_entry(now, stream, complete, text) for complete, text in pieces
            )
        )
        message = frame(STDOUT if stream == "stdout" else STDERR, data)
        for client in list(self._clients):
            try:
                client.sendall(message)
            except OSError:
                self._drop(client)
        return True

    def _write(self, data: bytes) -> None:
        """What a full disk does not take is lost: the container goes on, and so does
        the shim, which is the only one to hear how it ends.
        """
        with suppress(OSError):
            while self._log >= 0 and data:
                data = data[os.write(self._log, data) :]

    def _accept(self) -> None:
        client, _ = self._listener.accept()
        client.settimeout(5.0)
        self._clients[client] = bytearray()
        self._selector.register(client, selectors.EVENT_READ, "client")

    def _drop(self, client: socket.socket) -> None:
        self._selector.unregister(client)
        del self._clients[client]
        client.close()

    def _hear(self, client: socket.socket) -> None:
        try:
            data = client.recv(65536)
        except OSError:
            data = b""
        if not data:
            self._drop(client)
            return
        self._clients[client] += data
        for kind, payload in unframe(self._clients[client]):
            if kind == STDIN and self._stdin >= 0:
                with suppress(OSError):
                    os.write(self._stdin, payload)
            elif kind == CLOSE and self._stdin >= 0 and self._once and not self._tty:
                os.close(self._stdin)
                self._stdin = -1
            elif kind == RESIZE and self._tty:
                set_size(self._master, payload)
            elif kind == REOPEN:
                if self._log >= 0:
                    os.close(self._log)
                self._log = self._open_log()
                client.sendall(frame(DONE))


def set_size(terminal: int, size: bytes) -> None:
    """`size`: JSON with `width` and `height`."""
    winsize = json.loads(size)
    with suppress(OSError):
        fcntl.ioctl(
            terminal,
            termios.TIOCSWINSZ,
            struct.pack("HHHH", winsize["height"], winsize["width"], 0, 0),
        )


def _reap(pid: int) -> tuple[bool, int]:
    """Bury all dead children; whether `pid` was among them, and its status."""
    reaped, result = False, 0
    while True:
        try:
            dead, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return reaped, result
        if not dead:
            return reaped, result
        if dead == pid:
            reaped, result = True, status
