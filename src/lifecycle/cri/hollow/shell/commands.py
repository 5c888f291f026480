"""Simple commands of a shell of a hollow container: assignments, redirections, and who
does it.

Ours, after POSIX' Shell Command Language (2.7 Redirection, 2.9.1 Simple Commands).
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.paths import absolute
from lifecycle.cri.hollow.process.pipes import Input, Pipe
from lifecycle.cri.hollow.process.process import Service, play
from lifecycle.cri.hollow.process.volumes import UnknownFile
from lifecycle.cri.hollow.shell.builtins import ShellBuiltins
from lifecycle.cri.hollow.shell.state import (
    ASSIGNMENT,
    ExitShell,
    ShellStreams,
)
from lifecycle.cri.hollow.shell.syntax import (
    Redirect,
    Simple,
)


class ShellCommands(ShellBuiltins):
    """From the words of a command to its exit code."""

    async def _redirected(
        self, redirects: list[Redirect], streams: ShellStreams
    ) -> ShellStreams | None:
        """With the redirections; None if one cannot be made, which has been said."""
        for redirect in redirects:
            target = await self._expander.unsplit(redirect.target)
            try:
                streams = await self._redirect(redirect, target, streams)
            except FileError as error:
                verb = "open" if redirect.kind == "<" else "create"
                why = str(error)
                if why.startswith("No such"):
                    why = "no such file" if verb == "open" else "nonexistent directory"
                streams.stderr(f"{self.name}: can't {verb} {target}: {why}\n".encode())
                self.code = 1
                return None
            except UnknownFile as error:
                self._not_modelled(f"{self.name} {redirect.kind} {error}", streams)
                return None
        return streams

    async def _redirect(
        self, redirect: Redirect, target: str, streams: ShellStreams
    ) -> ShellStreams:
        path = absolute(self.process.cwd, target)
        if redirect.kind == "<":
            if path == "/dev/null":
                return replace(streams, stdin=Input())
            return replace(streams, stdin=_given(await self.process.files.read(path)))
        if redirect.kind == ">&" or path in ("/dev/stdout", "/dev/stderr"):
            named = target if redirect.kind == ">&" else path
            writers = {
                "1": streams.stdout,
                "2": streams.stderr,
                "/dev/stdout": streams.stdout,
                "/dev/stderr": streams.stderr,
            }
            if named not in writers:
                raise NotModelled(f"the shell's redirection {redirect.kind}{target}")
            write = writers[named]
        elif path == "/dev/null":
            write = _discard
        else:
            write = await self.process.files.open(path, append=redirect.kind == ">>")
        if redirect.descriptor == 2:
            return replace(streams, stderr=write)
        return replace(streams, stdout=write)

    async def _simple(self, node: Simple, streams: ShellStreams) -> None:
        code_before = self.code
        assignments, words = await self._words(node)
        redirected = await self._redirected(node.redirects, streams)
        if redirected is None:
            return
        if not words:
            self._variables.update(assignments)
            if self.code == code_before and not any(
                part.kind == "command" for word in node.words for part in word.parts
            ):
                self.code = 0
            return
        if "x" in self._options:
            streams.stderr(f"+ {' '.join(words)}\n".encode())
        if words[0] == "exec" and len(words) > 1:
            await self._external(words[1:], assignments, redirected, last=True)
            raise ExitShell
        builtin = await self._builtin(words, redirected)
        if not builtin:
            await self._external(
                words, assignments, redirected, last=node is self._last
            )

    async def _words(self, node: Simple) -> tuple[dict[str, str], list[str]]:
        """Assignments before the command, and its words."""
        assignments: dict[str, str] = {}
        words = list(node.words)
        while words and words[0].parts and words[0].parts[0].kind == "text":
            first = words[0].parts[0]
            match = None if first.quoted else ASSIGNMENT.fullmatch(first.text)
            if match is None:
                break
            rest = replace(words[0], parts=words[0].parts[1:])
            assignments[match[1]] = match[2] + await self._expander.unsplit(rest)
            del words[0]
        return assignments, await self._expander.fields(words)

    async def _external(
        self,
        words: list[str],
        assignments: dict[str, str],
        streams: ShellStreams,
        *,
        last: bool,
    ) -> None:
        """Another program. The last one of the script that process 1 runs is what the
        container is there for: it gets the signals, and if nobody plays it, it is taken
        for one that runs on.
        """
        process = self.process
        child = process.child(
            tuple(words),
            env={**self._environment(), **assignments},
            stdin=streams.stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
        )
        if not (last and process.leader):
            self.code = await play(child)
            return
        child.leader = True
        if self._trap is None:
            process.on_term = lambda: child.on_term() if child.on_term else None
        try:
            process.machine.program(child.argv)
        except NotModelled:
            self.code = await Service(deaf=True)(child)
            return
        except FileNotFoundError:
            pass
        self.code = await play(child)


def _discard(data: bytes) -> None:
    pass


def _given(data: bytes) -> Input:
    pipe = Pipe()
    pipe.write(data)
    pipe.close()
    return Input(pipe)
