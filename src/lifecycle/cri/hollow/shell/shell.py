"""A small shell, played: it goes through a script as a shell does, on the cluster's
clock.

Signals are as with a real shell that is process 1: they are ignored unless there is a
`trap`, and a trap waits until the command in the foreground has ended; only `wait` is
interrupted. A loop that takes no time is slowed down after a while, so that it does not
take everybody else's.

Ours. Left out: what `syntax.py` leaves out, job control, options but `-e`, `-u`,
`-x` and `pipefail`.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace

from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.pipes import BrokenPipe, Input, Pipe
from lifecycle.cri.hollow.process.process import Process
from lifecycle.cri.hollow.shell.commands import ShellCommands
from lifecycle.cri.hollow.shell.state import (
    ExitShell,
    LeaveLoop,
    ShellStreams,
)
from lifecycle.cri.hollow.shell.syntax import (
    For,
    If,
    Loop,
    Node,
    Parser,
    Sequence,
    Simple,
    Subshell,
    UnexpectedEnd,
    UnsupportedSyntax,
)
from lifecycle.cri.hollow.shell.syntax import Pipe as Pipeline

IDLE_ROUNDS, IDLE_SECONDS = 200, 1.0
"""So many rounds of a loop take so many seconds at least."""


class Shell(ShellCommands):
    """One shell."""

    async def run(self, script: str) -> int:
        """Go through it; its exit code."""
        streams = ShellStreams(
            self.process.stdin, self.process.stdout, self.process.stderr
        )
        try:
            parsed = Parser(script).script()
            self._last = parsed.items[-1].node if parsed.items else None
            await self._run(parsed, streams)
        except ExitShell:
            pass
        except LeaveLoop:
            self.code = 0
        except UnsupportedSyntax as error:
            raise NotModelled(str(error)) from None
        except ValueError as error:
            streams.stderr(f"{self.name}: {error}\n".encode())
            self.code = 2
        finally:
            for job in self._jobs:
                job.cancel()
        if self._exit_trap:
            trap, self._exit_trap = self._exit_trap, ""
            code = self.code
            await self.run(trap)
            self.code = self.code if "exit" in trap else code
        return self.code

    async def converse(self) -> int:
        """Run what is typed, line by line, until the input ends."""
        process = self.process
        streams = ShellStreams(process.stdin, process.stdout, process.stderr)
        text = ""
        while True:
            if process.tty:
                process.stdout(b"> " if text else f"{process.cwd} # ".encode())
            line = await process.stdin.readline()
            if not line:
                break
            text += line.decode("utf-8", "surrogateescape")
            try:
                await self._run(Parser(text).script(), streams)
            except UnexpectedEnd:
                continue
            except UnsupportedSyntax as error:
                self._not_modelled(str(error), streams)
            except NotModelled as error:
                self._not_modelled(str(error), streams)
            except LeaveLoop:
                pass
            except ExitShell:
                break
            except ValueError as error:
                streams.stderr(f"{self.name}: {error}\n".encode())
                self.code = 2
            text = ""
        return self.code

    async def _run(self, node: Node, streams: ShellStreams) -> None:
        if isinstance(node, Simple):
            await self._simple(node, streams)
        elif isinstance(node, Sequence):
            await self._in_a_row(node, streams)
        elif isinstance(node, If):
            await self._if(node, streams)
        elif isinstance(node, Loop):
            await self._loop(node, streams)
        elif isinstance(node, For):
            await self._for(node, streams)
        elif isinstance(node, Pipeline):
            await self._pipe(node, streams)
        elif isinstance(node, Subshell):
            self.code = await self._subshell(node.body, streams)
        else:
            redirected = await self._redirected(node.redirects, streams)
            if redirected is not None:
                await self._run(node.body, redirected)

    async def _in_a_row(self, node: Sequence, streams: ShellStreams) -> None:
        for i, item in enumerate(node.items):
            if item.before != ";" and (self.code == 0) != (item.before == "&&"):
                continue
            if item.background:
                quiet = replace(streams, stdin=Input())
                self._jobs.append(
                    asyncio.ensure_future(self._subshell(item.node, quiet))
                )
                self.code = 0
                continue
            await self._run(item.node, streams)
            last = i + 1 == len(node.items) or node.items[i + 1].before == ";"
            checked = isinstance(item.node, Simple | Subshell) or (
                isinstance(item.node, Pipeline) and not item.node.negated
            )
            if "e" in self._options and self.code and last and checked:
                raise ExitShell
            await self._handle_signal()

    async def _holds(self, condition: Sequence, streams: ShellStreams) -> bool:
        """A condition may fail, also where nothing else may."""
        options, self._options = self._options, self._options - {"e"}
        await self._run(condition, streams)
        self._options = options
        return self.code == 0

    async def _subshell(self, node: Node, streams: ShellStreams) -> int:
        """A copy of this shell does it; its exit code."""
        process = self.process.child(
            self.process.argv,
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
        )
        shell = Shell(process, (self.name, *self.arguments), self)
        try:
            await shell._run(node, streams)
        except (ExitShell, LeaveLoop):
            pass
        except NotModelled as error:
            shell._not_modelled(str(error), streams)
        except ValueError as error:
            streams.stderr(f"{self.name}: {error}\n".encode())
            shell.code = 2
        except BrokenPipe:
            shell.code = 141
        return shell.code

    async def _if(self, node: If, streams: ShellStreams) -> None:
        for condition, body in node.branches:
            if await self._holds(condition, streams):
                await self._run(body, streams)
                return
        self.code = 0
        if node.otherwise is not None:
            await self._run(node.otherwise, streams)

    async def _round(self, body: Sequence, streams: ShellStreams) -> bool:
        """One round of a loop; whether there may be another."""
        try:
            await self._run(body, streams)
        except LeaveLoop as stop:
            if stop.levels > 1:
                raise LeaveLoop(stop.levels - 1, stop.again) from None
            return stop.again
        return True

    async def _loop(self, node: Loop, streams: ShellStreams) -> None:
        loop = asyncio.get_running_loop()
        since, rounds, code = loop.time(), 0, 0
        while await self._holds(node.condition, streams) != node.until:
            if not await self._round(node.body, streams):
                return
            code = self.code
            rounds += 1
            if rounds == IDLE_ROUNDS:
                if loop.time() - since < IDLE_SECONDS:
                    await asyncio.sleep(IDLE_SECONDS)
                since, rounds = loop.time(), 0
            await self._handle_signal()
        self.code = code

    async def _for(self, node: For, streams: ShellStreams) -> None:
        words = (
            list(self.arguments)
            if node.words is None
            else await self._expander.fields(node.words)
        )
        self.code = 0
        for word in words:
            self.put(node.name, word)
            if not await self._round(node.body, streams):
                break
            await self._handle_signal()

    async def _pipe(self, node: Pipeline, streams: ShellStreams) -> None:
        """All at the same time, each in a shell of its own."""
        pipes = [Pipe() for _ in node.commands[1:]]
        own, before = streams.stdin, streams.stdin.towards
        if pipes:
            own.towards = pipes[0]
        tasks = []
        for i, command in enumerate(node.commands):
            towards = pipes[i] if i < len(pipes) else None
            stdin = Input(pipes[i - 1], towards) if i else streams.stdin
            stdout = pipes[i].write if i < len(pipes) else streams.stdout
            tasks.append(
                asyncio.ensure_future(
                    self._stage(
                        command,
                        replace(streams, stdin=stdin, stdout=stdout),
                        pipes[i - 1] if i else None,
                        pipes[i] if i < len(pipes) else None,
                    )
                )
            )
        try:
            codes = await asyncio.gather(*tasks)
        finally:
            own.towards = before
            for task in tasks:
                task.cancel()
        failed = [code for code in codes if code]
        self.code = codes[-1]
        if "pipefail" in self._options and failed:
            self.code = failed[-1]
        if node.negated:
            self.code = int(self.code == 0)

    async def _stage(
        self, node: Node, streams: ShellStreams, before: Pipe | None, after: Pipe | None
    ) -> int:
        try:
            return await self._subshell(node, streams)
        finally:
            if before is not None:
                before.abandon()
            if after is not None:
                after.close()


async def sh(process: Process) -> int:
    """`sh -c script`, or what is typed."""
    words = list(process.argv)
    shell_words = words[1:]
    options = []
    while shell_words and shell_words[0].startswith("-") and len(shell_words[0]) > 1:
        options.append(shell_words.pop(0)[1:])
    flags = "".join(options)
    if set(flags) - set("ceuxli"):
        raise NotModelled(" ".join(words))
    shell = Shell(process, shell_words[1:] or (words[0],))
    shell.set_options(set(flags) & set("eux"))
    with contextlib.suppress(ExitShell):
        if "c" in flags:
            if not shell_words:
                process.complain(f"{words[0]}: -c requires an argument")
                return 2
            return await shell.run(shell_words[0])
        if shell_words:
            return await _file(process, words, shell_words)
        return await shell.converse()
    return shell.code


async def _file(process: Process, words: list[str], arguments: list[str]) -> int:
    """A script in a file."""
    path = absolute(process.cwd, arguments[0])
    try:
        data = await process.files.read(path)
    except FileError as error:
        process.complain(f"{words[0]}: can't open '{arguments[0]}': {error}")
        return 2
    return await Shell(process, arguments).run(data.decode("utf-8", "surrogateescape"))
