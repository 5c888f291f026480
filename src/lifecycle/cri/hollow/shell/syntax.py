"""The syntax of small shell scripts: words, operators, and what they are put together
to.

Enough of it for what stands in a pod's `command`: lists, pipes, redirections, `if`,
`while`, `until`, `for`, groups, subshells, jobs in the background. What a real shell
would understand and this one does not (functions, `case`, here-documents) is
`UnsupportedSyntax`; what no shell would is a ValueError.

Ours, after POSIX' Shell Command Language (2.3 Token Recognition, 2.10 Grammar).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field


class UnsupportedSyntax(Exception):
    """A shell would understand it. The text names it."""


class UnexpectedEnd(ValueError):
    """More has to follow."""


@dataclass(slots=True, frozen=True)
class Part:
    """A piece of a word. `kind`: `text`, `variable` (a name, or what stands in braces),
    `command` (a script), `arithmetic` (an expression).
    """

    kind: str
    text: str
    quoted: bool = False


@dataclass(slots=True, frozen=True)
class Word:
    """A token that is no operator."""

    parts: tuple[Part, ...]

    @property
    def plain(self) -> str | None:
        """Its text, if nothing in it is quoted or to be expanded: only such a word can
        be a reserved one.
        """
        if len(self.parts) == 1:
            (part,) = self.parts
            if part.kind == "text" and not part.quoted:
                return part.text
        return None


class Operator(str):
    """A token that is no word. Redirections are a descriptor and a kind: `2>`, `1>>`,
    `2>&`.
    """

    __slots__ = ()


Token = Word | Operator


@dataclass(slots=True, frozen=True)
class Redirect:
    """`kind`: `<`, `>`, `>>`, or `>&` (then `target` is a descriptor)."""

    descriptor: int
    kind: str
    target: Word


@dataclass(slots=True)
class Simple:
    """One command."""

    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Pipe:
    """Commands of which each reads what the one before it says."""

    commands: list[Node]
    negated: bool = False


@dataclass(slots=True)
class Item:
    """One command of a list. `before`: `;`, `&&` or `||`."""

    before: str
    node: Node
    background: bool


@dataclass(slots=True)
class Sequence:
    """Commands in a row."""

    items: list[Item] = field(default_factory=list)


@dataclass(slots=True)
class Subshell:
    """A list in a shell of its own."""

    body: Sequence


@dataclass(slots=True)
class Redirected:
    """A compound command with redirections."""

    body: Node
    redirects: list[Redirect]


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
    """Once for each word; None: for each of the script's arguments."""

    name: str
    words: list[Word] | None
    body: Sequence


Node = Simple | Pipe | Sequence | Subshell | Redirected | If | Loop | For

_OPERATOR = re.compile(r"&&|\|\||;;|[;&|()\n]")
_REDIRECT = re.compile(r"(\d?)(<<|>>|>&|>|<)")
_NAME = re.compile(r"[A-Za-z_]\w*|[0-9?#@*$!-]")
_ENDS = {"then", "fi", "else", "elif", "do", "done", "}"}
MOST_NESTING = 50
"""Deeper is refused."""


def _closing(script: str, start: int, opening: str, closing: str) -> int:
    """The position behind the bracket that closes the one at `start`. Raises
    UnexpectedEnd.
    """
    depth, i = 0, start
    while i < len(script):
        char = script[i]
        if char == "\\":
            i += 1
        elif char == "'":
            i = script.find("'", i + 1)
            if i < 0:
                break
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return i + 1
        i += 1
    missing = {")": 'unexpected end of file (expecting ")")', "}": "missing '}'"}
    raise UnexpectedEnd(f"syntax error: {missing[closing]}")


def _expansion(script: str, i: int, quoted: bool) -> tuple[Part, int]:
    """What a dollar or a backquote begins."""
    if script[i] == "`":
        end = script.find("`", i + 1)
        if end < 0:
            raise UnexpectedEnd("syntax error: EOF in backquote substitution")
        return Part("command", script[i + 1 : end], quoted), end + 1
    if script.startswith("$((", i):
        end = _closing(script, i + 1, "(", ")")
        if script[end - 2 : end] == "))":
            return Part("arithmetic", script[i + 3 : end - 2], quoted), end
    if script.startswith("$(", i):
        end = _closing(script, i + 1, "(", ")")
        return Part("command", script[i + 2 : end - 1], quoted), end
    if script.startswith("${", i):
        end = _closing(script, i + 1, "{", "}")
        return Part("variable", script[i + 2 : end - 1], quoted), end
    if name := _NAME.match(script, i + 1):
        return Part("variable", name[0], quoted), name.end()
    return Part("text", "$", quoted), i + 1


def _double_quoted(script: str, i: int) -> tuple[list[Part], int]:
    parts, text = [], ""
    while i < len(script) and script[i] != '"':
        if script[i] == "\\" and script[i + 1 : i + 2] in ('"', "\\", "`", "$", "\n"):
            text += script[i + 1].replace("\n", "")
            i += 2
        elif script[i] in "$`":
            part, i = _expansion(script, i, True)
            parts += [Part("text", text, True), part]
            text = ""
        else:
            text += script[i]
            i += 1
    if i >= len(script):
        raise UnexpectedEnd("syntax error: unterminated quoted string")
    return [*parts, Part("text", text, True)], i + 1


def _word(script: str, i: int) -> tuple[Word, int]:
    """The word at this position, and where it ends."""
    parts: list[Part] = []
    text = ""

    def flush() -> None:
        nonlocal text
        if text:
            parts.append(Part("text", text))
        text = ""

    while i < len(script):
        char = script[i]
        if char == "'":
            end = script.find("'", i + 1)
            if end < 0:
                raise UnexpectedEnd("syntax error: unterminated quoted string")
            flush()
            parts.append(Part("text", script[i + 1 : end], True))
            i = end + 1
        elif char == '"':
            flush()
            quoted, i = _double_quoted(script, i + 1)
            parts += quoted
        elif char == "\\":
            flush()
            if script[i + 1 : i + 2] != "\n":
                parts.append(Part("text", script[i + 1 : i + 2], True))
            i += 2
        elif char in "$`":
            flush()
            part, i = _expansion(script, i, False)
            parts.append(part)
        elif char.isspace() or char in ";&|()<>":
            break
        else:
            text += char
            i += 1
    flush()
    return Word(tuple(parts)), i


def tokens(script: str) -> list[Token]:
    """Words and operators. A line's end is a `;`; behind a redirection stands its
    target.
    """
    result: list[Token] = []
    i = 0
    while i < len(script):
        if script[i] in " \t\r":
            i += 1
        elif script.startswith("\\\n", i):
            i += 2
        elif script[i] == "#":
            end = script.find("\n", i)
            i = len(script) if end < 0 else end
        elif redirect := _REDIRECT.match(script, i):
            if redirect[2] == "<<":
                raise UnsupportedSyntax("a here-document (<<)")
            descriptor = redirect[1] or ("0" if redirect[2] == "<" else "1")
            result.append(Operator(f"{descriptor}{redirect[2]}"))
            i = redirect.end()
            while script[i : i + 1] in (" ", "\t"):
                i += 1
            target, i = _word(script, i)
            result.append(target)
        elif operator := _OPERATOR.match(script, i):
            result.append(Operator(operator[0].replace("\n", ";")))
            i = operator.end()
        else:
            word, i = _word(script, i)
            result.append(word)
    return result


class Parser:
    """Reads tokens. Raises ValueError for what is no script, UnsupportedSyntax for what
    is one, but not here.
    """

    def __init__(self, script: str) -> None:
        self._tokens = tokens(script)
        self._at = 0
        self._depth = 0

    def script(self) -> Sequence:
        """All of it."""
        parsed = self._sequence()
        if self._peek() is not None:
            raise ValueError(f"syntax error: unexpected {self._describe()}")
        return parsed

    def _peek(self) -> Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _describe(self) -> str:
        token = self._peek()
        if token is None:
            return "end of file"
        text = token if isinstance(token, Operator) else token.plain
        return f'"{text or "word"}"'

    def _reserved(self) -> str:
        """The next word, if it can be a reserved one."""
        token = self._peek()
        return (token.plain or "") if isinstance(token, Word) else ""

    def _next(self) -> Token:
        token = self._peek()
        if token is None:
            raise UnexpectedEnd("syntax error: unexpected end of file")
        self._at += 1
        return token

    def _expect(self, word: str) -> None:
        if self._peek() is None:
            self._next()
        if self._reserved() != word and not self._is_operator(word):
            raise ValueError(
                f'syntax error: unexpected {self._describe()} (expecting "{word}")'
            )
        self._next()

    def _is_operator(self, *kinds: str) -> bool:
        token = self._peek()
        return isinstance(token, Operator) and token in kinds

    def _skip(self) -> None:
        while self._is_operator(";"):
            self._next()

    def _sequence(self) -> Sequence:
        self._depth += 1
        if self._depth > MOST_NESTING:
            raise UnsupportedSyntax(f"more than {MOST_NESTING} levels of nesting")
        sequence, before = Sequence(), ";"
        while True:
            self._skip()
            if (
                self._peek() is None
                or self._reserved() in _ENDS
                or self._is_operator(")", ";;")
            ):
                break
            node = self._pipe()
            background = self._is_operator("&")
            sequence.items.append(Item(before, node, background))
            before = ";"
            if background:
                self._next()
            elif self._is_operator("&&", "||"):
                before = str(self._next())
                self._skip()
                if self._peek() is None:
                    self._next()
        self._depth -= 1
        return sequence

    def _pipe(self) -> Node:
        negated = self._reserved() == "!"
        if negated:
            self._next()
        commands = [self._command()]
        while self._is_operator("|"):
            self._next()
            self._skip()
            commands.append(self._command())
        return (
            commands[0]
            if len(commands) == 1 and not negated
            else Pipe(commands, negated)
        )

    def _command(self) -> Node:
        word = self._reserved()
        node: Node
        if word == "if":
            node = self._if()
        elif word in ("while", "until"):
            self._next()
            condition = self._sequence()
            node = Loop(condition, self._do(), word == "until")
        elif word == "for":
            node = self._for()
        elif word == "{":
            self._next()
            node = self._sequence()
            self._expect("}")
        elif self._is_operator("("):
            self._next()
            node = Subshell(self._sequence())
            self._expect(")")
        elif word in ("case", "function", "select"):
            raise UnsupportedSyntax(f"the shell's {word}")
        else:
            return self._simple()
        redirects = self._redirects()
        return Redirected(node, redirects) if redirects else node

    def _redirects(self) -> list[Redirect]:
        redirects = []
        while isinstance(token := self._peek(), Operator) and token[:1].isdigit():
            self._next()
            target = self._next()
            if isinstance(target, Operator) or not target.parts:
                raise ValueError("syntax error: unexpected newline")
            redirects.append(Redirect(int(token[0]), token[1:], target))
        return redirects

    def _do(self) -> Sequence:
        self._skip()
        self._expect("do")
        body = self._sequence()
        self._expect("done")
        return body

    def _if(self) -> If:
        branches = []
        otherwise = None
        while self._reserved() in ("if", "elif"):
            self._next()
            condition = self._sequence()
            self._expect("then")
            branches.append((condition, self._sequence()))
            if self._reserved() == "else":
                self._next()
                otherwise = self._sequence()
        self._expect("fi")
        return If(branches, otherwise)

    def _for(self) -> For:
        self._next()
        name = self._reserved()
        if not _NAME.fullmatch(name):
            raise ValueError("syntax error: bad for loop variable")
        self._next()
        words: list[Word] | None = None
        self._skip()
        if self._reserved() == "in":
            self._next()
            words = []
            while isinstance(token := self._peek(), Word):
                words.append(token)
                self._next()
        return For(name, words, self._do())

    def _simple(self) -> Simple:
        command = Simple()
        while (token := self._peek()) is not None:
            if redirects := self._redirects():
                command.redirects += redirects
            elif isinstance(token, Word):
                command.words.append(token)
                self._next()
            elif token == "(" and len(command.words) == 1:
                raise UnsupportedSyntax("a function of the shell")
            else:
                break
        if not command.words and not command.redirects:
            if self._peek() is None:
                self._next()
            raise ValueError(f"syntax error: unexpected {self._describe()}")
        return command
