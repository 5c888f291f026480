"""The syntax of small shell scripts: words, operators, and what they are put together
to.

Enough of it for what stands in a pod's `command`: lists, pipes, redirections, `if`,
`while`, `until`, `for`, groups, jobs in the background. A dollar in single quotes is
doubled, so that it is known for a literal one.

Ours, after POSIX' Shell Command Language (2.3 Token Recognition, 2.10 Grammar).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class Operator(str):
    """A token that is no word."""

    __slots__ = ()


@dataclass(slots=True)
class Simple:
    """One command. `redirects`: descriptor (0, 1 or 2), `<`, `>` or `>>`, and a path or
    `&1`.
    """

    words: list[str] = field(default_factory=list)
    redirects: list[tuple[int, str, str]] = field(default_factory=list)


@dataclass(slots=True)
class Pipe:
    """Commands of which each reads what the one before it says."""

    commands: list[Node]
    negated: bool = False


@dataclass(slots=True)
class Sequence:
    """Commands in a row, each with what stands before it: `;`, `&&`, `||`; and whether
    it runs in the background.
    """

    items: list[tuple[str, Node, bool]] = field(default_factory=list)


@dataclass(slots=True)
class If:
    """Conditions with what is done if they hold, and what is done if none does."""

    branches: list[tuple[Sequence, Sequence]]
    otherwise: Sequence | None = None


@dataclass(slots=True)
class Loop:
    """`while`, or `until`."""

    condition: Sequence
    body: Sequence
    until: bool = False


@dataclass(slots=True)
class For:
    """Once for each word."""

    name: str
    words: list[str]
    body: Sequence


Node = Simple | Pipe | Sequence | If | Loop | For

_OPERATOR = re.compile(r"&&|\|\||;;|[;&|()\n]")
_REDIRECT = re.compile(r"([012]?)(>>|>|<)(&[012-])?")
_ENDS = {"then", "fi", "else", "elif", "do", "done", "}", ")"}


def _closing(script: str, start: int) -> int:
    """Where the bracket that opens at `start` is closed: the position behind it."""
    depth = 0
    for i in range(start, len(script)):
        depth += (script[i] == "(") - (script[i] == ")")
        if not depth:
            return i + 1
    return len(script)


def _word(script: str, i: int) -> tuple[str, int]:
    """The word at this position, without its quotes, and where it ends."""
    word = ""
    while i < len(script):
        char = script[i]
        if char == "'":
            end = script.find("'", i + 1)
            end = len(script) if end < 0 else end
            word += script[i + 1 : end].replace("$", "$$")
            i = end + 1
        elif char == '"':
            i += 1
            while i < len(script) and script[i] != '"':
                if script[i] == "\\" and script[i + 1 : i + 2] in ('"', "\\", "`"):
                    i += 1
                elif script[i] == "\\" and script[i + 1 : i + 2] == "$":
                    word += "$"
                    i += 1
                word += script[i]
                i += 1
            i += 1
        elif char == "\\":
            word += script[i + 1 : i + 2].replace("$", "$$").replace("\n", "")
            i += 2
        elif char == "$" and script[i + 1 : i + 2] == "(":
            end = _closing(script, i + 1)
            word += script[i:end]
            i = end
        elif char.isspace() or char in ";&|()<>":
            break
        else:
            word += char
            i += 1
    return word, i


def tokens(script: str) -> list[str]:
    """Words, and `Operator`s. A line's end is a `;`; a redirection stands as `Operator`
    of descriptor and kind, and its target.
    """
    found: list[str] = []
    i = 0
    while i < len(script):
        if script[i] in " \t\r":
            i += 1
        elif script[i] == "#":
            end = script.find("\n", i)
            i = len(script) if end < 0 else end
        elif redirect := _REDIRECT.match(script, i):
            fd = redirect[1] or ("0" if redirect[2] == "<" else "1")
            found.append(Operator(f"{fd}{redirect[2]}"))
            i = redirect.end()
            if redirect[3]:
                found.append(redirect[3])
            else:
                while script[i : i + 1] in (" ", "\t"):
                    i += 1
                target, i = _word(script, i)
                found.append(target)
        elif operator := _OPERATOR.match(script, i):
            found.append(Operator(operator[0].replace("\n", ";")))
            i = operator.end()
        else:
            word, i = _word(script, i)
            found.append(word)
    return found


class Parser:
    """Reads tokens. Raises ValueError for what is no script."""

    def __init__(self, script: str) -> None:
        self._tokens = tokens(script)
        self._at = 0

    def script(self) -> Sequence:
        """All of it."""
        parsed = self._sequence()
        if self._peek() is not None:
            raise ValueError(f"syntax error: unexpected {self._peek()!r}")
        return parsed

    def _peek(self) -> str | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> str:
        token = self._peek()
        if token is None:
            raise ValueError("syntax error: unexpected end of file")
        self._at += 1
        return token

    def _expect(self, word: str) -> None:
        if (found := self._next()) != word:
            raise ValueError(f"syntax error: unexpected {found!r} (expecting {word!r})")

    def _is_operator(self, *kinds: str) -> bool:
        token = self._peek()
        return isinstance(token, Operator) and token in kinds

    def _sequence(self) -> Sequence:
        made, before = Sequence(), ";"
        while True:
            while self._is_operator(";"):
                self._next()
            token = self._peek()
            if token is None or token in _ENDS or token == ";;":
                return made
            node = self._pipe()
            background = self._is_operator("&")
            made.items.append((before, node, background))
            before = ";"
            if background:
                self._next()
            elif self._is_operator("&&", "||"):
                before = self._next()

    def _pipe(self) -> Node:
        negated = self._peek() == "!"
        if negated:
            self._next()
        commands = [self._command()]
        while self._is_operator("|"):
            self._next()
            commands.append(self._command())
        return (
            commands[0]
            if len(commands) == 1 and not negated
            else Pipe(commands, negated)
        )

    def _command(self) -> Node:
        word = self._peek()
        if word == "if":
            return self._if()
        if word in ("while", "until"):
            self._next()
            condition = self._sequence()
            return Loop(condition, self._do(), word == "until")
        if word == "for":
            return self._for()
        if word in ("{", "("):
            self._next()
            group = self._sequence()
            self._expect("}" if word == "{" else ")")
            return group
        return self._simple()

    def _do(self) -> Sequence:
        while self._is_operator(";"):
            self._next()
        self._expect("do")
        body = self._sequence()
        self._expect("done")
        return body

    def _if(self) -> If:
        branches = []
        otherwise = None
        while self._next() in ("if", "elif"):
            condition = self._sequence()
            self._expect("then")
            branches.append((condition, self._sequence()))
            if self._peek() == "else":
                self._next()
                otherwise = self._sequence()
        return If(branches, otherwise)

    def _for(self) -> For:
        self._next()
        name, words = self._next(), []
        if self._peek() == "in":
            self._next()
            while self._peek() is not None and not self._is_operator(";"):
                words.append(self._next())
        return For(name, words, self._do())

    def _simple(self) -> Simple:
        made = Simple()
        while (token := self._peek()) is not None:
            if not isinstance(token, Operator):
                made.words.append(self._next())
            elif token[1:] in ("<", ">", ">>"):
                self._next()
                made.redirects.append((int(token[0]), token[1:], self._next()))
            else:
                break
        if not made.words and not made.redirects:
            raise ValueError(f"syntax error: unexpected {self._peek()!r}")
        return made
