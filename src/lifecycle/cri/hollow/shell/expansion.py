"""What a shell makes of words before it runs a command: variables, output of commands,
sums; then fields are split, and patterns become file names.

Ours, after POSIX' Shell Command Language (2.6 Word Expansions). Left out: tilde, IFS,
patterns in directories, and what `${name}` can do beyond defaults and lengths.
"""

from __future__ import annotations

import ast
import fnmatch
import glob
import posixpath
import re
from collections.abc import Awaitable, Callable
from typing import Protocol

from lifecycle.cri.hollow.process.filesystem import FileError
from lifecycle.cri.hollow.process.not_modelled import NotModelled
from lifecycle.cri.hollow.process.volumes import UnknownFile
from lifecycle.cri.hollow.shell.syntax import Part, Word

MOST_CHARACTERS = 1024 * 1024
"""How long a word may get."""

_BRACES = re.compile(r"([A-Za-z_]\w*|[0-9?#@*$!])(?:(:?[-+=?])(.*))?", re.DOTALL)
_NAME = re.compile(r"[A-Za-z_]\w*")


class Variables(Protocol):
    """Where names are looked up."""

    arguments: list[str]

    def get(self, name: str) -> str | None:
        """None: it is not set."""
        ...

    def put(self, name: str, value: str) -> None:
        """Set it."""
        ...


class Expander:
    """One shell's. `output` runs a script and gives what it wrote; `names` lists a
    directory.
    """

    def __init__(
        self,
        variables: Variables,
        output: Callable[[str], Awaitable[str]],
        names: Callable[[str], Awaitable[list[str]]],
    ) -> None:
        self._variables = variables
        self._output = output
        self._names = names

    async def fields(self, words: list[Word]) -> list[str]:
        """What the words of a command become: each none, one or more."""
        result = []
        for word in words:
            result += await self._fields(word)
        return result

    async def unsplit(self, word: Word) -> str:
        """One string, neither split nor taken for a pattern."""
        texts = [await self._value(part) for part in word.parts]
        return self._bounded("".join(texts))

    def _bounded(self, text: str) -> str:
        if len(text) > MOST_CHARACTERS:
            raise NotModelled(f"a word of more than {MOST_CHARACTERS} characters")
        return text

    async def _fields(self, word: Word) -> list[str]:
        fields: list[tuple[str, str]] = []  # text, and the same as a pattern
        text: str | None = None
        pattern = ""

        def add(piece: str, quoted: bool) -> None:
            nonlocal text, pattern
            text = self._bounded((text or "") + piece)
            pattern += glob.escape(piece) if quoted else piece

        def end() -> None:
            nonlocal text, pattern
            if text is not None:
                fields.append((text, pattern))
            text, pattern = None, ""

        for part in word.parts:
            if part.kind == "variable" and part.text == "@" and part.quoted:
                for i, argument in enumerate(self._variables.arguments):
                    if i:
                        end()
                    add(argument, True)
                continue
            value = await self._value(part)
            if part.quoted or part.kind == "text":
                add(value, part.quoted)
                continue
            pieces = re.split(r"[ \t\n]+", value)
            for i, piece in enumerate(pieces):
                if i:
                    end()
                if piece:
                    add(piece, False)
        end()
        result = []
        for field, as_pattern in fields:
            result += await self._matches(field, as_pattern)
        return result

    async def _matches(self, text: str, pattern: str) -> list[str]:
        """The files that a pattern stands for; without any, what was written."""
        if not re.search(r"[*?]|\[[^\]]+\]", re.sub(r"\[.\]", "", pattern)):
            return [text]
        directory, name = posixpath.split(pattern)
        if re.search(r"[*?\[]", directory):
            raise NotModelled(f"a pattern for directories ({text})")
        try:
            names = await self._names(posixpath.dirname(text) or ".")
        except (FileError, UnknownFile):
            return [text]
        fitting = [
            posixpath.join(posixpath.dirname(text), each)
            for each in names
            if fnmatch.fnmatchcase(each, name) and not each.startswith(".")
        ]
        return fitting or [text]

    async def _value(self, part: Part) -> str:
        if part.kind == "text":
            return part.text
        if part.kind == "command":
            return (await self._output(part.text)).rstrip("\n")
        if part.kind == "arithmetic":
            return str(arithmetic(part.text, self._variables.get))
        return self._variable(part.text)

    def _variable(self, text: str) -> str:
        if text.startswith("#") and _NAME.fullmatch(text[1:]):
            return str(len(self._variables.get(text[1:]) or ""))
        match = _BRACES.fullmatch(text)
        if match is None:
            raise NotModelled(f"the shell's ${{{text}}}")
        name, operator, word = match.groups(default="")
        if operator and re.search(r"[$`'\"\\]", word):
            raise NotModelled(f"the shell's ${{{text}}}")
        value = self._variables.get(name)
        empty = value is None or (operator.startswith(":") and not value)
        if operator.endswith("+"):
            return "" if empty else word
        if operator.endswith("?") and empty:
            raise ValueError(f"{name}: {word or 'parameter not set'}")
        if operator and empty:
            if operator.endswith("="):
                self._variables.put(name, word)
            return word
        return value or ""


_OPERATORS: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    ast.Mod: lambda a, b: (abs(a) % abs(b)) * (-1 if a < 0 else 1),
    ast.Lt: lambda a, b: int(a < b),
    ast.LtE: lambda a, b: int(a <= b),
    ast.Gt: lambda a, b: int(a > b),
    ast.GtE: lambda a, b: int(a >= b),
    ast.Eq: lambda a, b: int(a == b),
    ast.NotEq: lambda a, b: int(a != b),
    ast.And: lambda a, b: int(bool(a) and bool(b)),
    ast.Or: lambda a, b: int(bool(a) or bool(b)),
}


def arithmetic(expression: str, get: Callable[[str], str | None]) -> int:
    """A sum of whole numbers and variables, in 64 bits. Raises ValueError."""

    def number(text: str) -> int:
        return int(text) if re.fullmatch(r"\s*-?\d+\s*", text) else 0

    def value(node: ast.expr) -> int:
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return node.value
        if isinstance(node, ast.Name):
            return number(get(node.id) or "0")
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
            sign = -1 if isinstance(node.op, ast.USub) else 1
            return sign * value(node.operand)
        if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
            result = _OPERATORS[type(node.op)](value(node.left), value(node.right))
            return (result + 2**63) % 2**64 - 2**63
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            operator = _OPERATORS.get(type(node.ops[0]))
            if operator is not None:
                return operator(value(node.left), value(node.comparators[0]))
        if isinstance(node, ast.BoolOp):
            result = value(node.values[0])
            for other in node.values[1:]:
                result = _OPERATORS[type(node.op)](result, value(other))
            return result
        raise NotModelled(f"the shell's $(({expression}))")

    text = re.sub(r"\$\{?(\w+)\}?", r"\1", expression.strip() or "0")
    text = text.replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"\b0+(?=\d)", "", text)
    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, RecursionError):
        raise ValueError("arithmetic syntax error") from None
    except ZeroDivisionError:
        raise ValueError("divide by zero") from None
