"""One container of the hollow runtime: what the kubelet may know of it, and the
processes that are played in it.

Ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from lifecycle.api.httpstream.unread import Unread
from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.hollow.commands.applets import commands_of
from lifecycle.cri.hollow.process.filesystem import FileSystem
from lifecycle.cri.hollow.process.listening import Datagrams, Server
from lifecycle.cri.hollow.process.output import Output
from lifecycle.cri.hollow.process.pipes import Input
from lifecycle.cri.hollow.process.process import (
    SIGKILLED,
    SIGTERMED,
    Network,
    Process,
    Program,
    Service,
    play,
)
from lifecycle.cri.hollow.programs import Programs, StartError


class HollowContainer:
    """A container's status and its processes. `envs`: what its processes start with;
    `end` is told when process 1 has ended, `write` gets what it writes, `network` leads
    to other pods.
    """

    def __init__(
        self,
        status: ContainerStatus,
        config: ContainerConfig,
        pod_uid: str,
        hostname: str,
        envs: dict[str, str],
        files: FileSystem,
        programs: Programs,
        *,
        now: Callable[[], float],
        write: Callable[[HollowContainer, str, bytes], None],
        end: Callable[[HollowContainer, int, str], None],
        network: Network,
    ) -> None:
        self.status = status
        self.config = config
        self.pod_uid = pod_uid
        self.hostname = hostname
        self.image = config.user_specified_image or config.image
        self.envs = envs
        self.files = files
        self.now = now
        self._programs = programs
        self._write = write
        self._end = end
        self.network = network
        self._main: Program | None = None
        self._process: Process | None = None
        self._task: asyncio.Task[int] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._servers: list[tuple[Process | None, int, Server]] = []
        self._datagrams: list[tuple[Process, int, Datagrams]] = []
        self._ended: asyncio.Future[None] | None = None
        self.listens_at = 0
        """Nanoseconds of the clock before which it takes no connections."""
        self.input: Unread | None = None
        self.watchers: list[Output] = []

    # -- what processes see of it (`Machine`) ------------------------------------------

    @property
    def user(self) -> int | None:
        """Who the pod says runs it."""
        user = self.config.security_context.get("run_as_user")
        return int(user.get("value", 0)) if isinstance(user, dict) else user

    @property
    def has_busybox(self) -> bool:
        """Or coreutils."""
        return "ash" in (commands_of(self.image) or ())

    def program(self, argv: tuple[str, ...]) -> Program:
        """Who plays a command."""
        try:
            return self._programs.command(self.image, argv)
        except StartError as error:
            raise FileNotFoundError(str(error)) from None

    def serve(self, process: Process | None, port: int, server: Server) -> None:
        """Until the process ends."""
        self._servers.append((process, port, server))

    def serve_datagrams(self, process: Process, port: int, answer: Datagrams) -> None:
        """Until the process ends."""
        self._datagrams.append((process, port, answer))

    def exit(self, code: int) -> None:
        """With an exit code of its own."""
        self._end(self, code, "")

    def closed(self, process: Process) -> None:
        """It listens no longer."""
        if self._servers:
            self._servers = [each for each in self._servers if each[0] is not process]
        if self._datagrams:
            kept = [each for each in self._datagrams if each[0] is not process]
            self._datagrams = kept

    def server(self, port: int) -> Server | None:
        """Who answers there; None: nobody listens."""
        for _, each, server in self._servers:
            if each == port:
                return server
        return None

    def datagram_server(self, port: int) -> Datagrams | None:
        """Who takes in UDP there; None: nobody."""
        return next((each[2] for each in self._datagrams if each[1] == port), None)

    def listens(self, protocol: str, port: int) -> bool:
        """Whether anybody does: `tcp` or `udp`."""
        found = self.server(port) if protocol == "tcp" else self.datagram_server(port)
        return found is not None

    async def use_all_memory(self) -> None:
        """Over its limit the container is killed; without one there is enough."""
        if self.config.memory_limit:
            self._end(self, SIGKILLED, "OOMKilled")
            return
        await asyncio.get_running_loop().create_future()

    def terminate(self) -> None:
        """SIGTERM from within, which does not wait for an answer."""
        self.signal()

    # -- its life ----------------------------------------------------------------------

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

    def process(
        self, argv: tuple[str, ...], stdin: Input, out: Callable[[str, bytes], None]
    ) -> Process:
        """A process in it that nobody plays yet."""
        return Process(
            argv,
            self.envs,
            self.files,
            self,
            stdin,
            lambda data: out("stdout", data),
            lambda data: out("stderr", data),
            self.config.working_dir or "/",
        )

    def prepare(self) -> None:
        """Find its program. Raises StartError."""
        self._main, argv = self._programs.main(
            self.image, self.config.command, self.config.args
        )
        stdin = Input()
        if self.config.stdin:
            self.input = Unread()
            stdin = Input(aiter(self.input))
        self._process = self.process(argv, stdin, self.say)
        options = self.config.security_context.get("namespace_options") or {}
        alone = options.get("pid") in (None, "CONTAINER")
        self._process.leader = alone and not self._programs.is_registered(self._main)
        self._process.tty = self.config.tty

    def say(self, stream: str, data: bytes) -> None:
        """Into its log, while it runs."""
        if self.running:
            self._write(self, stream, data)

    def start(self) -> None:
        """Let its program begin."""
        main, process = self._main, self._process
        assert main is not None
        assert process is not None
        if isinstance(main, Service):
            for port in main.listens:
                self.serve(None, port, Server(main.answer))
            return
        self._task = asyncio.ensure_future(self._play(main, process))

    async def _play(self, main: Program, process: Process) -> int:
        code = await play(process, main)
        self._end(self, code, "")
        return code

    def signal(self) -> bool:
        """SIGTERM to process 1; whether it may end of it."""
        main, process = self._main, self._process
        assert process is not None
        if isinstance(main, Service):
            if main.deaf and process.leader:
                return False
            self._end(self, SIGTERMED if main.deaf else 0, "")
            return True
        if process.on_term is not None:
            process.on_term()
            return True
        if process.leader:
            return False
        self._end(self, SIGTERMED, "")
        return True

    async def wait(self, seconds: float) -> bool:
        """Whether it has ended after so many seconds at the latest."""
        if self.running:
            if self._ended is None:
                self._ended = asyncio.get_running_loop().create_future()
            await asyncio.wait([self._ended], timeout=seconds)
        return not self.running

    def stop_processes(self) -> None:
        """Whatever is played in it ends with it."""
        current = asyncio.current_task()
        for task in (self._task, *self._tasks):
            if task is not None and task is not current:
                task.cancel()
        self._task = None
        self._servers = []
        if self._ended is not None and not self._ended.done():
            self._ended.set_result(None)
        for watcher in self.watchers:
            watcher.end()

    def forget_process(self) -> None:
        """The container has been removed. Its process knows it, and it its process:
        each would outlive the pod for the other's sake.
        """
        self._main = self._process = None

    def spawn(self, work: Coroutine[Any, Any, int]) -> asyncio.Task[int]:
        """A task that ends with the container at the latest."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task
