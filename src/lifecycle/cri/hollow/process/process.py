"""Processes of hollow containers. Nothing runs: a program is a Python function that is
given a `Process`, plays it, and returns its exit code.

A function that only prints and returns is a short program; one that awaits is a long
one, on the cluster's clock, which may be a virtual one. What nobody has written a
function for is `NotModelled`, and that is an error for whoever asks for it, not a
success.

Ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.process.filesystem import FileSystem
from lifecycle.cri.hollow.process.listening import (
    PAGES,
    Answer,
    Datagrams,
    Server,
    pages_answer,
)
from lifecycle.cri.hollow.process.not_modelled import (
    NOT_MODELLED,
    NotModelled,
    not_modelled_message,
)
from lifecycle.cri.hollow.process.pipes import BrokenPipe, Input
from lifecycle.cri.hollow.process.resolver import Record
from lifecycle.cri.hollow.process.volumes import UnknownFile

if TYPE_CHECKING:
    import ssl

SIGKILLED, SIGTERMED = 137, 143
"""Exit codes of a process that a signal ended."""

MOST_DEPTH = 40
"""Processes that started one another, and scripts within scripts."""


class NoSuchHost(Exception):
    """A name that nobody knows."""


class Network(Protocol):
    """What a process reaches from where it is. What is neither a pod's address nor
    leads to one raises KeyError.
    """

    async def http(self, request: HTTPRequest) -> HTTPAnswer:
        """Ask once; without an answer the status is 0. Raises NoSuchHost, KeyError."""
        ...

    async def talk(self, host: str, port: int, data: bytes) -> bytes:
        """What a server says that is connected, and sent so much. Raises OSError if it
        is not, NoSuchHost, KeyError.
        """
        ...

    async def datagram(self, host: str, port: int, data: bytes) -> bytes:
        """What comes back for a datagram; nothing, if nothing does. Raises OSError if
        it is refused, NoSuchHost, KeyError.
        """
        ...

    async def ask(self, name: str, kind: str, *, search: bool = True) -> list[Record]:
        """What the pod's DNS server knows of a name, with its search domains unless
        `search` is off. Raises KeyError if nobody can be asked.
        """
        ...

    async def lookup(self, name: str) -> str:
        """An address. Raises NoSuchHost, KeyError."""
        ...


class Machine(Protocol):
    """What a process sees of the container it is in."""

    hostname: str

    @property
    def user(self) -> int | None:
        """Who the pod says runs it; None: whom the image names."""
        ...

    def program(self, argv: tuple[str, ...]) -> Program:
        """Who plays a command. Raises NotModelled, and FileNotFoundError if there is no
        such program.
        """
        ...

    def now(self) -> float:
        """Seconds since 1970."""
        ...

    def serve(self, process: Process | None, port: int, server: Server) -> None:
        """See `Process.serve`."""
        ...

    def serve_datagrams(self, process: Process, port: int, answer: Datagrams) -> None:
        """See `Process.serve_datagrams`."""
        ...

    def exit(self, code: int) -> None:
        """Process 1 ends itself, and the container with it."""
        ...

    @property
    def network(self) -> Network:
        """Its pod's."""
        ...

    def closed(self, process: Process) -> None:
        """It has ended, and listens no longer."""
        ...

    @property
    def has_busybox(self) -> bool:
        """Or coreutils."""
        ...

    def terminate(self) -> None:
        """SIGTERM to process 1."""
        ...

    async def use_all_memory(self) -> None:
        """Until the container is killed for it; without a limit nothing happens."""
        ...


@dataclass(slots=True)
class Process:
    """A process, as the function that plays it sees it.

    `argv` with the program's name; `env` its environment; `files` the container's.
    `stdin` is read, `stdout` and `stderr` take bytes; most will use `print`. `leader`:
    process 1 of its PID namespace, which signals do not end by themselves.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: FileSystem
    machine: Machine
    stdin: Input
    stdout: Callable[[bytes], None]
    stderr: Callable[[bytes], None]
    cwd: str = "/"
    leader: bool = False
    tty: bool = False
    depth: int = 0
    on_term: Callable[[], None] | None = None
    """What a signal calls; None: the signal's default."""
    _terminated: asyncio.Event | None = None

    def print(self, text: str, end: str = "\n") -> None:
        """A line on standard output."""
        self.stdout((text + end).encode("utf-8", "surrogateescape"))

    def complain(self, text: str) -> None:
        """A line on standard error."""
        self.stderr((text + "\n").encode("utf-8", "surrogateescape"))

    def listen(self, port: int, pages: Iterable[str] = PAGES) -> None:
        """Accept connections from now on, until it ends; HTTP requests for `pages` are
        answered with 200, others with 404.
        """
        self.serve(port, pages_answer(frozenset(pages)))

    def serve(
        self, port: int, answer: Answer, tls: ssl.SSLContext | None = None
    ) -> None:
        """Accept connections from now on, until it ends, and let `answer` say what
        there is to say to HTTP requests. `tls`: see `Server`.
        """
        self.machine.serve(self, port, Server(answer, tls))

    def serve_datagrams(self, port: int, answer: Datagrams) -> None:
        """Take in UDP from now on, until it ends."""
        self.machine.serve_datagrams(self, port, answer)

    def greet(self, port: int, greeting: bytes) -> None:
        """Accept connections from now on, until it ends, and say so much to each."""
        server = Server(pages_answer(frozenset()), greeting=greeting)
        self.machine.serve(self, port, server)

    def exit(self, code: int) -> None:
        """End the container from within an answer, if this is its process 1."""
        self.machine.exit(code)

    async def sleep(self, seconds: float) -> None:
        """On the cluster's clock; `inf` is for ever."""
        if seconds == float("inf"):
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(seconds)

    async def terminated(self) -> None:
        """Return when it is asked to end (SIGTERM). A program that never awaits this is
        ended by the signal; one that does decides itself.
        """
        if self._terminated is None:
            self._terminated = asyncio.Event()
            self.on_term = self._terminated.set
        await self._terminated.wait()

    def child(
        self,
        argv: tuple[str, ...],
        *,
        env: Mapping[str, str] | None = None,
        stdin: Input | None = None,
        stdout: Callable[[bytes], None] | None = None,
        stderr: Callable[[bytes], None] | None = None,
    ) -> Process:
        """A process for another command, with this one's environment and streams unless
        others are given. `play` it.
        """
        if self.depth >= MOST_DEPTH:
            raise NotModelled(f"more than {MOST_DEPTH} processes in one another")
        return Process(
            argv,
            self.env if env is None else env,
            self.files,
            self.machine,
            stdin or self.stdin,
            stdout or self.stdout,
            stderr or self.stderr,
            self.cwd,
            tty=self.tty,
            depth=self.depth + 1,
        )


Program = Callable[[Process], Awaitable[int]]
"""Plays a process, and returns its exit code."""


async def play(process: Process, program: Program | None = None) -> int:
    """Run `program`, or whatever plays its `argv`, and say it if nobody does."""
    try:
        return await _played(process, program)
    except BrokenPipe:  # be it by what was to be said of another failure
        return 141
    except NotModelled:  # and of this one there is no room to tell
        return NOT_MODELLED
    finally:
        process.machine.closed(process)


async def _played(process: Process, program: Program | None) -> int:
    """Raises BrokenPipe, and NotModelled, when they cannot be told."""
    name = process.argv[0]
    try:
        if program is None:
            program = process.machine.program(process.argv)
        return await program(process) & 255
    except FileNotFoundError:
        process.complain(f"sh: {name}: not found")
        return 127
    except NotModelled as error:
        process.stderr(not_modelled_message(str(error)).encode())
        return NOT_MODELLED
    except UnknownFile as error:
        process.stderr(not_modelled_message(f"{name} {error}").encode())
        return NOT_MODELLED
    except BrokenPipe:
        raise
    except Exception as error:  # what somebody supplied ends as any program would
        process.complain(f"{name}: {type(error).__name__}: {error}")
        return 1


@dataclass(slots=True, frozen=True)
class Service:
    """A program that listens and waits: as such it needs no task of its own, which is
    why thousands fit in one process. `deaf`: it is not ended by SIGTERM. `text`: what
    stands on its pages, and `content_type` what it calls that.
    """

    listens: frozenset[int] = frozenset()
    pages: frozenset[str] = PAGES
    deaf: bool = False
    text: str = ""
    content_type: str = ""

    @property
    def answer(self) -> Answer:
        """What it says to requests."""
        return pages_answer(self.pages, self.text, self.content_type)

    async def __call__(self, process: Process) -> int:
        """The same, as part of a script."""
        for port in self.listens:
            process.serve(port, self.answer)
        await process.terminated()
        return 0
