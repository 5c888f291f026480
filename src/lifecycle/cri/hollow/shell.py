"""What a small shell script will do: gone through once, at its start, on a clock of its
own.

`touch /tmp/well; sleep 30; rm /tmp/well; exit 3` becomes: a file that comes and goes,
thirty seconds, an exit code. A loop that nothing in the script can end is gone through
once and said to come again. Signals are as with a real shell that is process 1: they
are ignored unless there is a `trap`, and a trap waits until the command in the
foreground has ended; only `wait` is interrupted.

Ours. Left out: functions, `case`, input, what other containers and hooks do meanwhile.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Mapping
from dataclasses import replace

from lifecycle.api.go_regexp import compile_regexp, parse_error
from lifecycle.cri.hollow.commands import base_name, run
from lifecycle.cri.hollow.files import FileChange, changes_of
from lifecycle.cri.hollow.process import (
    FOREVER,
    SIGTERMED,
    Busy,
    Output,
    Program,
    expand,
)
from lifecycle.cri.hollow.shell_syntax import (
    For,
    If,
    Loop,
    Node,
    Parser,
    Pipe,
    Sequence,
    Simple,
)

MOST_ROUNDS = 500
"""After so many rounds a loop is taken for an endless one."""

STREAMS = {
    "&1": "stdout",
    "&2": "stderr",
    "/dev/stdout": "stdout",
    "/dev/stderr": "stderr",
}
_ARITHMETIC = re.compile(r"\$\(\(\s*([\w\s+*/%()-]+?)\s*\)\)")
_SUM = re.compile(r"(-?\w+)(?:\s*([-+*/%])\s*(-?\w+))?")
_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)


class _Over(Exception):
    """The script has ended, or will never go on."""


class _Break(Exception):
    """Out of the innermost loop."""


class Shell:
    """One script. `known`: the commands that there are; `envs`: the environment;
    `files`: what happened to files before.
    """

    def __init__(
        self,
        known: frozenset[str] | None,
        envs: Mapping[str, str],
        elapsed: float = 0.0,
        files: tuple[FileChange, ...] = (),
    ) -> None:
        self._known = known
        self._variables = {"PWD": "/", "SHLVL": "1", **envs}
        self._exported = set(self._variables)
        self.elapsed = elapsed
        self.code = 0
        self._output: list[Output] = []
        self._files = list(files)
        self._before = len(files)
        self._busy: list[Busy] = []
        self._jobs: list[float] = []
        self._trap: str | None = None
        self._oom = False
        self._serves = False
        self._strict = False
        self._waits = False

    def program(self, script: str) -> Program:
        """What it will do."""
        try:
            parsed = Parser(script).script()
        except ValueError as error:
            return Program(
                runs_for=0.0,
                exit_code=2,
                on_term=None,
                output=(Output(0.0, "stderr", f"sh: {error}"),),
            )
        with contextlib.suppress(_Over, _Break):
            self._run(parsed)
        on_term, seconds = self._on_term()
        return Program(
            runs_for=None if self.elapsed == FOREVER else self.elapsed,
            exit_code=self.code,
            on_term=on_term,
            term_seconds=seconds,
            busy=tuple(self._busy),
            oom=self._oom,
            listens=frozenset({80}) if self._serves else frozenset(),
            output=tuple(self._output),
            files=tuple(self._files[self._before :]),
        )

    def _on_term(self) -> tuple[int | None, float]:
        """Exit code (None: it does not end) and seconds, when it is asked to stop."""
        if self._serves:  # the shell has made room for it
            self._busy.clear()
            return 0, 0.0
        if self._trap is None:
            return None, 0.0
        ended = Shell(self._known, self._variables)
        program = ended.program(self._trap)
        if (
            "exit" not in self._trap
        ):  # it goes on behind what was interrupted: where it waited, that is the end
            return (SIGTERMED, program.runs_for or 0.0) if self._waits else (None, 0.0)
        return program.exit_code, program.runs_for or 0.0

    # -- control -----------------------------------------------------------------------

    def _run(self, node: Node) -> None:
        if isinstance(node, Sequence):
            self._in_a_row(node)
        elif isinstance(node, If):
            self._if(node)
        elif isinstance(node, Loop):
            self._loop(node)
        elif isinstance(node, For):
            for word in self._expanded(node.words):
                self._variables[node.name] = word
                try:
                    self._run(node.body)
                except _Break:
                    break
        elif isinstance(node, Pipe):
            self._pipe(node)
        else:
            self._simple(node)

    def _in_a_row(self, node: Sequence) -> None:
        for i, (before, item, background) in enumerate(node.items):
            if before == ";" or (self.code == 0) == (before == "&&"):
                if background:
                    self._in_background(item)
                else:
                    self._run(item)
                last = i + 1 == len(node.items) or node.items[i + 1][0] == ";"
                if (
                    self._strict
                    and self.code
                    and last
                    and isinstance(item, Simple | Pipe)
                ):
                    raise _Over

    def _holds(self, condition: Sequence) -> bool:
        """A condition may fail, also where nothing else may."""
        strict, self._strict = self._strict, False
        self._run(condition)
        self._strict = strict
        return self.code == 0

    def _in_background(self, node: Node) -> None:
        begun, busy = self.elapsed, len(self._busy)
        with contextlib.suppress(_Over):
            self._run(node)
        self._jobs.append(self.elapsed)
        del self._busy[busy:]
        self.elapsed, self.code = begun, 0

    def _if(self, node: If) -> None:
        for condition, body in node.branches:
            if self._holds(condition):
                self._run(body)
                return
        self.code = 0
        if node.otherwise is not None:
            self._run(node.otherwise)

    def _loop(self, node: Loop) -> None:
        """Until its condition says so; or, if that cannot come to pass, for ever, as
        the first round went.
        """
        begun, outputs, busy, files = (
            self.elapsed,
            len(self._output),
            len(self._busy),
            len(self._files),
        )
        variables = dict(self._variables)
        for _ in range(MOST_ROUNDS):
            if self._holds(node.condition) == node.until:
                self.code = 0
                return
            try:
                self._run(node.body)
            except _Break:
                return
            changed = (
                self._variables != variables
                or self._due_later(begun)
                or len(self._files) > files
            )
            if not changed:
                break
        every = self.elapsed - begun
        for i in range(outputs, len(self._output)):
            self._output[i] = replace(self._output[i], every=every)
        for i in range(busy, len(self._busy)):
            self._busy[i] = replace(self._busy[i], every=every)
        if not every:
            self._busy.append(Busy(begun, FOREVER))
        self.elapsed = FOREVER
        raise _Over

    def _due_later(self, begun: float) -> bool:
        """Whether a job in the background still changes files."""
        return any(change.after > begun for change in self._files)

    # -- commands ----------------------------------------------------------------------

    def _expanded(self, words: list[str]) -> list[str]:
        return [self._expand(word) for word in words]

    def _expand(self, text: str) -> str:
        """With variables, small sums, and `$?`; a literal dollar stays doubled until
        something is said.
        """
        text = _ARITHMETIC.sub(lambda found: str(self._sum(found[1])), text)
        text = text.replace("$?", str(self.code))
        return expand(text, self._variables)

    def _sum(self, text: str) -> int:
        found = _SUM.fullmatch(text.strip())
        if found is None:
            return 0
        left, right = (self._number(word) for word in (found[1], found[3] or "0"))
        divisor = right or 1
        results = {
            "+": left + right,
            "-": left - right,
            "*": left * right,
            "/": left // divisor,
            "%": left % divisor,
        }
        return results[found[2] or "+"]

    def _number(self, word: str) -> int:
        value = self._variables.get(word, word)
        return int(value) if re.fullmatch(r"-?\d+", value) else 0

    def _pipe(self, node: Pipe) -> None:
        """What the first says goes through the others, as far as these are filters that
        are known here.
        """
        said = len(self._output)
        for i, command in enumerate(node.commands):
            if i and isinstance(command, Simple):
                lines = [
                    line for line in self._output[said:] if line.stream == "stdout"
                ]
                self._output[said:] = filtered(self._expanded(command.words), lines)
                if self._output[said:] and command.redirects:
                    self._output[said:] = [
                        self._into_file(line, command) for line in self._output[said:]
                    ]
                self.code = 0
            else:
                self._run(command)
        if node.negated:
            self.code = int(self.code == 0)

    @staticmethod
    def _into_file(line: Output, command: Simple) -> Output:
        targets = [
            kind + target
            for fd, kind, target in command.redirects
            if fd == 1 and target not in STREAMS
        ]
        return replace(line, stream=targets[-1]) if targets else line

    def _simple(self, node: Simple) -> None:
        words = self._expanded(node.words)
        while words and (assigned := _ASSIGNMENT.fullmatch(words[0])):
            self._variables[assigned[1]] = assigned[2]
            words = words[1:]
        for _, kind, target in node.redirects:
            if kind != "<" and target.startswith("/"):
                self._files.append(FileChange(self.elapsed, self._expand(target), True))
        if not words:
            self.code = 0
            return
        name = base_name(words[0])
        if name == "exec" and len(words) > 1:
            words = words[1:]
            name = base_name(words[0])
            self._command(name, words, node)
            raise _Over
        self._command(name, words, node)

    def _command(self, name: str, words: list[str], node: Simple) -> None:
        if name == "exit":
            self.code = self._number(words[1]) & 255 if len(words) > 1 else self.code
            raise _Over
        if name in ("break", "continue"):
            raise _Break
        if name == "set":
            flags = "".join(word for word in words[1:] if word.startswith("-"))
            self._strict, self.code = (
                self._strict or "e" in flags or "errexit" in words,
                0,
            )
        elif name == "trap":
            self._set_trap(words)
        elif name == "wait":
            self._wait()
        elif name == "tail" and "/dev/zero" in words:
            self._oom, self.elapsed = True, FOREVER
            raise _Over
        elif name == "export":
            for word in words[1:]:
                if assigned := _ASSIGNMENT.fullmatch(word):
                    self._variables[assigned[1]] = assigned[2]
                self._exported.add(word.partition("=")[0])
            self.code = 0
        elif name in ("sh", "ash", "bash") and "-c" in words[:-1]:
            self._nested(words[words.index("-c") + 1])
        else:
            self._external(words, node)

    def _external(self, words: list[str], node: Simple) -> None:
        if (
            base_name(words[0]) == "nginx"
            and "-s" not in words
            and "nginx" in (self._known or ())
        ):
            self._serves = True
        seconds, self.code = run(words, self._known, tuple(self._files), self.elapsed)
        self._files += changes_of(words, self.elapsed)
        self._say(said_by(words, self._environment(), self.code), node)
        if seconds:
            self._busy.append(Busy(self.elapsed, self.elapsed + seconds))
        self.elapsed += seconds
        if seconds == FOREVER:
            raise _Over

    def _environment(self) -> dict[str, str]:
        return {
            name: value
            for name, value in self._variables.items()
            if name in self._exported
        }

    def _nested(self, script: str) -> None:
        shell = Shell(self._known, self._variables, self.elapsed, tuple(self._files))
        program = shell.program(script)
        self._output += program.output
        self._files += program.files
        self._busy.append(Busy(self.elapsed, shell.elapsed))
        self.elapsed, self.code = shell.elapsed, program.exit_code
        if self.elapsed == FOREVER:
            raise _Over

    def _set_trap(self, words: list[str]) -> None:
        signals = {word.upper().removeprefix("SIG") for word in words[2:]}
        self.code = 0
        if signals & {"TERM", "15"}:
            self._trap = None if words[1] in ("", "-") else words[1]

    def _wait(self) -> None:
        """For all jobs; a signal is heard meanwhile."""
        self.elapsed = max([self.elapsed, *self._jobs])
        self._waits, self.code = True, 0
        if self.elapsed == FOREVER:
            raise _Over

    def _say(self, lines: list[tuple[str, str]], node: Simple) -> None:
        for stream, text in lines:
            fd = 2 if stream == "stderr" else 1
            for redirected, kind, target in node.redirects:
                if redirected == fd:
                    stream = STREAMS.get(target) or kind + self._expand(target)
            if not stream.endswith(">/dev/null"):
                self._output.append(
                    Output(self.elapsed, stream, text.replace("$", "$$"))
                )


def said_by(
    words: list[str], envs: Mapping[str, str], code: int
) -> list[tuple[str, str]]:
    """Stream and line, as far as one can know without a machine."""
    name = base_name(words[0])
    if code == 127:
        return [("stderr", f"sh: {words[0]}: not found")]
    if name in ("ls", "cat", "stat") and code:
        path = next(word for word in words[1:] if word.startswith("/"))
        what = {
            "cat": f"cat: can't open '{path}'",
            "ls": f"ls: {path}",
            "stat": f"stat: can't stat '{path}'",
        }[name]
        return [("stderr", f"{what}: No such file or directory")]
    if name == "echo":
        rest = words[2:] if words[1:2] in (["-n"], ["-e"]) else words[1:]
        return [("stdout", " ".join(rest))]
    if name == "printf" and len(words) > 1:
        text = words[1].encode().decode("unicode_escape")
        for word in words[2:]:
            text = re.sub(r"%[sd]", lambda _, word=word: word, text, count=1)  # type: ignore[misc]
        return [("stdout", line) for line in text.rstrip("\n").split("\n")]
    if name in ("env", "printenv") and len(words) == 1:
        return [
            ("stdout", line)
            for key, value in envs.items()
            for line in f"{key}={value}".split("\n")
        ]
    simple = {
        "hostname": envs.get("HOSTNAME", ""),
        "pwd": "/",
        "whoami": "root",
        "id": "uid=0(root) gid=0(root)",
    }
    if name == "printenv":
        return [("stdout", envs[key]) for key in words[1:] if key in envs]
    if name in simple and len(words) == 1:
        return [("stdout", simple[name])]
    if name == "seq" and len(words) > 1 and all(word.isdigit() for word in words[1:]):
        first, last = (
            (1, int(words[1])) if len(words) == 2 else (int(words[1]), int(words[-1]))
        )
        return [
            ("stdout", str(number))
            for number in range(first, min(last, first + 10_000) + 1)
        ]
    return []


def filtered(words: list[str], lines: list[Output]) -> list[Output]:
    """What comes out of a pipe."""
    name = base_name(words[0])
    if name == "sort":
        at = iter(lines)
        ordered = sorted((line.text for line in lines), reverse="-r" in words)
        return [replace(next(at), text=text) for text in ordered]
    if name in ("head", "tail"):
        numbers = [word.lstrip("-") for word in words[1:] if word.lstrip("-").isdigit()]
        count = int(numbers[0]) if numbers else 10
        return lines[:count] if name == "head" else lines[-count:]
    if name in ("grep", "egrep", "fgrep"):
        patterns = [word for word in words[1:] if not word.startswith("-")]
        inverted = "-v" in words
        if not patterns or parse_error(patterns[0]):
            return []
        expression = compile_regexp(
            patterns[0]
        )  # whoever writes pods must not stop everybody else's
        return [
            line for line in lines if bool(expression.search(line.text)) != inverted
        ]
    if name == "wc" and "-l" in words and lines:
        return [replace(lines[-1], text=str(len(lines)))]
    if name == "tee":
        return [
            *lines,
            *(
                replace(line, stream=f">>{word}")
                for word in words[1:]
                if word.startswith("/")
                for line in lines
            ),
        ]
    return lines if name in ("cat", "less", "more") else []
