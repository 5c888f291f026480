"""Compiling and evaluating: expressions in, values out, and errors as cel-go words
them.

An environment declares variables and their types. Compiling checks an expression
against them, so most mistakes are found when a policy is written and not when it is
needed. What is left for evaluation: a key that is not there, a sum of a number and a
string that both came out of an object.

Upstream: `apiserver/pkg/cel/environment/base.go` (`MustBaseEnvSet`),
`admission/plugin/cel/compile.go` (`CompileCELExpression`), cel-go v0.26, v1.36. Left
out: the estimated cost of expressions (what they cost when they run: `cost.py`),
comprehensions over two variables, the `format` library.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from typing import Any

from lifecycle.api.extras import MissingExtraError
from lifecycle.apiserver.cel import (
    authorizer,
    lists,
    network,
    numbers,
    object_literals,
    strings,
)
from lifecycle.apiserver.cel.cost import CostError, charge_value
from lifecycle.apiserver.cel.library import cel, extensions, library_type
from lifecycle.apiserver.cel.types import PACKAGE, types

DYN = "DYN"
"""The type of a variable that may hold anything. What a program's `type` says declares
variables, too.
"""


class CompileError(ValueError):
    """An expression that cannot be compiled, or evaluates to a type that is not wanted.
    The text is the `detail` of upstream's error.
    """


class EvaluationError(ValueError):
    """An expression that compiled, and failed on the values it was given. The text is
    cel-go's.
    """


def message_type(name: str) -> Any:
    """The type of a variable that holds one of `types.MESSAGES`, by its full name."""
    return f"{PACKAGE}.{name}"


@cache
def _functions() -> list[Any]:
    rooms = (strings, lists, numbers, network, authorizer)
    return [declaration for room in rooms for declaration in room.functions()]


class Environment:
    """Variables and their types; `literals` allows `Object{…}` and `JSONPatch{…}`. A
    variable's name may have dots. `pool` knows types beside those of this room.
    """

    def __init__(
        self, variables: Mapping[str, Any], *, literals: bool = False, pool: Any = None
    ) -> None:
        self.variables = dict(variables)
        self._literals = literals
        self._pool = types().pool if pool is None else pool

    @cached_property
    def _env(self) -> Any:
        functions = _functions()
        if self._literals:
            functions = [*functions, *_escape()]
        return cel().NewEnv(
            self._pool,
            variables={
                name: library_type(kind) for name, kind in self.variables.items()
            },
            extensions=extensions(),
            functions=functions,
        )

    def extended(self, variables: Mapping[str, Any]) -> Environment:
        """The same with more variables."""
        return Environment(
            {**self.variables, **variables}, literals=self._literals, pool=self._pool
        )

    def compile(self, expression: str, returns: Sequence[str] = ()) -> Program:
        """A program whose result is of one of the named types (`bool`, `string`,
        `list(JSONPatch)` …; none: of any).

        Raises CompileError.
        """
        written, places = expression, list[int]()
        if self._literals:
            try:
                written, places = object_literals.rewritten(expression)
            except ValueError as error:
                raise CompileError(
                    f"compilation failed: ERROR: <input>:1:1: {error}"
                ) from None
        try:
            compiled = self._env.compile(written)
        except MissingExtraError as error:
            raise CompileError(str(error)) from None
        except RuntimeError as error:
            text = _compiler_message(str(error))
            if not written:  # cel-go says column 0 of a text without columns
                text = text.replace("<input>:1:1:", "<input>:1:0:", 1)
            if written != expression:
                text = _ERROR.sub(
                    lambda match: _as_written(match, written, places, expression), text
                )
            raise CompileError(f"compilation failed: {text}") from None
        program = Program(expression, compiled, self.variables)
        names = {program.type_name}
        if self._literals:
            names = _literal_names(program.type_name, expression) or names
        if returns and names.isdisjoint(returns):
            expected_types = (
                returns[0] if len(returns) == 1 else f"one of [{' '.join(returns)}]"
            )
            name = names.pop() if len(names) == 1 else program.type_name
            raise CompileError(f"must evaluate to {expected_types} but got {name}")
        return program


def _literal_names(type_name: str, expression: str) -> set[str]:
    """What a type may be called: every literal is one and the same map to the library
    (`object_literals.rewritten`).
    """
    types = object_literals.outer_types(expression)
    return {type_name.replace("map(string, dyn)", name) for name in types}


@cache
def _escape() -> list[Any]:
    from lifecycle.apiserver.cel.declare import T, function

    def escaped(key: str) -> str:
        return key.replace("~", "~0").replace("/", "~1")

    return [
        function("jsonpatch.escapeKey", escaped, (T.STRING, (T.STRING,)), member=False)
    ]


class Program:
    """A compiled expression. `type` is the library's type of the result, `type_name`
    what cel-go calls it.
    """

    def __init__(
        self, source: str, compiled: Any, variables: Mapping[str, Any]
    ) -> None:
        self.source = source
        self._compiled = compiled
        self._variables = variables
        try:
            self.type = compiled.return_type()
            self.type_name = type_name(self.type)
        except (
            RuntimeError
        ):  # a type the library can check, but not name: a map whose keys are optional
            self.type, self.type_name = None, "map"

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The result as Python knows it: JSON values, times, or one of our messages.
        Raises EvaluationError.
        """
        try:
            result = self._compiled.eval(
                data={name: values[name] for name in self._variables if name in values}
            )
            if str(result.type()) == "ERROR":
                raise EvaluationError(_runtime_message(str(result.value())))
            value = result.plain_value()
            charge_value(value)
            return value
        except CostError as error:
            raise EvaluationError(str(error)) from None
        except (RuntimeError, TypeError) as error:
            raise EvaluationError(_runtime_message(str(error))) from None


def type_name(kind: Any) -> str:
    """A type as cel-go writes it: `map(string, dyn)`."""
    text = str(kind)
    return re.sub(r"\b[A-Z]+\b(?!\.)", lambda match: {"NULL": "null_type"}.get(match[0],
    match[0].lower()), text).replace(
        "<", "("
    ).replace(">", ")")  # fmt: skip


_STATUS = re.compile(r"^(?!ERROR: )[A-Z_]+: |\s*\[[A-Z_]+\]$")
_UNDECLARED = re.compile(
    r"ERROR: <input>:(\d+):(\d+): undeclared reference to '([\w.]+)' (\(in container"
    r" '.*?'\))\n( \| .*)\n \| (\.*)\^"
)
_UNDEFINED = re.compile(
    r"undefined field '(\w+)' not found in (?:struct|type|message) '[\w.]+'"
)
_WELL_KNOWN = re.compile(r"\bgoogle\.protobuf\.(Timestamp|Duration)\b")

_ERROR = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*)\n \| .*\n \| \.*\^")


def _as_written(
    match: re.Match[str], written: str, places: list[int], expression: str
) -> str:
    """An error about a rewritten expression, at the place in the one that was
    written.
    """
    starts = [0, *(index + 1 for index, char in enumerate(written) if char == "\n")]
    offset = places[min(starts[int(match[1]) - 1] + int(match[2]) - 1, len(places) - 1)]
    before, line = expression[:offset], expression[:offset].count("\n") + 1
    column = offset - (before.rfind("\n") + 1)
    return (
        f"ERROR: <input>:{line}:{column + 1}: {match[3]}\n |"
        f" {expression.splitlines()[line - 1]}\n | {'.' * column}^"
    )


def _compiler_message(text: str) -> str:
    """The compiler's complaint, with the places and words of cel-go's."""
    text = _STATUS.sub("", text).strip("\n")

    def moved(match: re.Match[str]) -> str:
        line, column, name, container, source, dots = match.groups()
        root, _, _ = name.partition(".")
        if root == name:
            return match[0]
        if root == "variables":
            return (
                f"ERROR: <input>:{line}:{column}: undefined field"
                f" '{name.partition('.')[2]}'\n{source}\n | {dots}^"
            )
        start = max(0, source[3:].find(name, max(0, int(column) - len(name) - 1)))
        return (
            f"ERROR: <input>:{line}:{start + 1}: undeclared reference to '{root}'"
            f" {container}\n{source}\n | {'.' * start}^"
        )

    text = _WELL_KNOWN.sub(lambda match: match[1].lower(), text)
    return _UNDEFINED.sub(r"undefined field '\1'", _UNDECLARED.sub(moved, text))


_RUNTIME = (
    (re.compile(r"Key not found in map : \"?(.*?)\"?$"), r"no such key: \1"),
    (re.compile(r"Index error: index=(-?\d+) size=\d+$"), r"index out of bounds: \1"),
    (
        re.compile(
            r"No matching overloads found.*|Applying SELECT to non-message type",
            re.DOTALL,
        ),
        "no such overload",
    ),
    (re.compile(r"(?:divide|modulus) by zero$"), "division by zero"),
    (
        re.compile(r"No value with name \"?(.*?)\"? found in Activation.*"),
        r"no such attribute(s): \1",
    ),
)


def _runtime_message(text: str) -> str:
    text = _STATUS.sub("", text)
    for pattern, words in _RUNTIME:
        match = pattern.search(text)
        if match:
            return match.expand(words)
    return text
