"""Compiling and evaluating: expressions in, values out, and errors as cel-go words
them.

An environment declares variables and their types. Compiling checks an expression
against them, so most mistakes are found when a policy is written and not when it is
needed. What is left for evaluation: a key that is not there, a sum of a number and a
string that both came out of an object.

Upstream: `apiserver/pkg/cel/environment/base.go` (`MustBaseEnvSet`),
`admission/plugin/cel/compile.go` (`CompileCELExpression`), cel-go v0.26, v1.36. Left
out: comprehensions over two variables, the `format` library.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from typing import Any

from lifecycle.api.extras import MissingExtraError
from lifecycle.apiserver.cel import (
    authorizer,
    lists,
    network,
    numbers,
    object_literals,
    pieces,
    strings,
)
from lifecycle.apiserver.cel.checked_expression import checked_expression
from lifecycle.apiserver.cel.complaints import (
    IN_THE_WAY,
    as_written,
    compiler_message,
    error_at,
    runtime_message,
)
from lifecycle.apiserver.cel.cost import CostError, begin_call, charge_value
from lifecycle.apiserver.cel.library import cel, extensions, library_type
from lifecycle.apiserver.cel.literal_errors import literal_errors
from lifecycle.apiserver.cel.syntax import CheckedExpression
from lifecycle.apiserver.cel.types import PACKAGE, types

_LITERALS = re.compile(r"[\[{]|\b(?:duration|timestamp|matches)\b")
"""What is looked at once more when it has been compiled."""

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
    rooms = (strings, lists, numbers, network, authorizer, pieces)
    return [declaration for room in rooms for declaration in room.functions()]


class Environment:
    """Variables and their types; `literals` allows `Object{…}` and `JSONPatch{…}`. A
    variable's name may have dots. `pool` knows types beside those of this room.
    `bindings`: expressions may have `cel.bind`.
    """

    def __init__(
        self,
        variables: Mapping[str, Any],
        *,
        literals: bool = False,
        pool: Any = None,
        bindings: bool = False,
    ) -> None:
        self.variables = dict(variables)
        self._literals = literals
        self._bindings = bindings
        self._pool = types().pool if pool is None else pool

    @cached_property
    def _env(self) -> Any:
        functions = _functions()
        if self._literals:
            functions = [*functions, *_of_patches()]
        return cel().NewEnv(
            self._pool,
            variables={
                name: library_type(kind) for name, kind in self.variables.items()
            },
            extensions=extensions(self._bindings),
            functions=functions,
        )

    def extended(self, variables: Mapping[str, Any]) -> Environment:
        """The same with more variables."""
        return Environment(
            {**self.variables, **variables},
            literals=self._literals,
            pool=self._pool,
            bindings=self._bindings,
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
            except object_literals.QuotedField as error:
                text = error_at(error.place, str(error), expression)
                raise CompileError(f"compilation failed: {text}") from None
        try:
            compiled = self._env.compile(written)
        except MissingExtraError as error:
            raise CompileError(str(error)) from None
        except RuntimeError as error:
            complaint = str(error)
            if self._literals and IN_THE_WAY.search(complaint):
                written, places = object_literals.rewritten(expression, checks=False)
                complaint = self._complaint(written) or complaint
            text = compiler_message(complaint)
            if not written:  # cel-go says column 0 of a text without columns
                text = text.replace("<input>:1:1:", "<input>:1:0:", 1)
            if written != expression:
                text = as_written(text, written, places, expression)
            raise CompileError(f"compilation failed: {text}") from None
        program = Program(
            expression, compiled, self.variables, self._in_pieces(written)
        )
        if _LITERALS.search(expression):
            self._check_literals(program.checked, expression, places)
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

    def _check_literals(
        self, checked: CheckedExpression, expression: str, places: list[int]
    ) -> None:
        texts = []
        for offset, message in literal_errors(checked, self._evaluates):
            place = places[offset] if places else offset
            texts.append(error_at(place, message, expression))
        if texts:
            raise CompileError(f"compilation failed: {chr(10).join(texts)}")

    def _evaluates(self, call: str) -> bool:
        """Whether something without variables has a value."""
        return str(self._env.compile(call).eval(data={}).type()) != "ERROR"

    def _in_pieces(self, written: str) -> Callable[[], Any] | None:
        """How to compile the expression for what is long; None if it has no loop."""
        otherwise = pieces.rewritten(written)
        if otherwise == written:
            return None
        return partial(self._env.compile, otherwise)

    def _complaint(self, written: str) -> str:
        try:
            self._env.compile(written)
        except RuntimeError as error:
            return str(error)
        return ""


def _literal_names(type_name: str, expression: str) -> set[str]:
    """What a type may be called: every literal is one and the same map to the library
    (`object_literals.rewritten`).
    """
    types = object_literals.outer_types(expression)
    return {type_name.replace("map(string, dyn)", name) for name in types}


@cache
def _of_patches() -> list[Any]:
    from lifecycle.apiserver.cel.declare import T, function

    def escaped(key: str) -> str:
        return key.replace("~", "~0").replace("/", "~1")

    return [
        function("jsonpatch.escapeKey", escaped, (T.STRING, (T.STRING,)), member=False),
        function(
            object_literals.TEXT_FIELD, str, (T.STRING, (T.STRING,)), member=False
        ),
        function(
            object_literals.NO_FIELD,
            lambda value: value,
            (T.DYN, (types().type("DRADevice"),)),  # no policy has a device
            member=False,
        ),
    ]


class Program:
    """A compiled expression. `type` is the library's type of the result, `type_name`
    what cel-go calls it.
    """

    def __init__(
        self,
        source: str,
        compiled: Any,
        variables: Mapping[str, Any],
        in_pieces: Callable[[], Any] | None = None,
    ) -> None:
        self.source = source
        self._compile_in_pieces = in_pieces
        self._may_make_long = pieces.may_make_long(source)
        self._compiled = compiled
        self._variables = variables
        try:
            self.type = compiled.return_type()
            self.type_name = type_name(self.type)
        except (
            RuntimeError
        ):  # a type the library can check, but not name: a map whose keys are optional
            self.type, self.type_name = None, "map"

    @property
    def checked(self) -> CheckedExpression:
        """What the compiler has found out about it."""
        return checked_expression(self._compiled.serialize())

    def evaluate(self, values: Mapping[str, Any]) -> Any:
        """The result as Python knows it: JSON values, times, or one of our messages.
        Raises EvaluationError.
        """
        data = {name: values[name] for name in self._variables if name in values}
        compiled = self._compiled
        if self.takes_long(data.values()):
            compiled = self._in_pieces
            begin_call()
        try:
            result = compiled.eval(data=data)
            if str(result.type()) == "ERROR":
                raise EvaluationError(runtime_message(str(result.value())))
            value = result.plain_value()
            charge_value(value)
            return value
        except CostError as error:
            raise EvaluationError(str(error)) from None
        except (RuntimeError, TypeError) as error:
            raise EvaluationError(runtime_message(str(error))) from None

    def takes_long(self, values: Iterable[Any]) -> bool:
        """Whether it loops, and these values are long or it might make some that are:
        work for the worker.
        """
        return self._compile_in_pieces is not None and (
            self._may_make_long or pieces.is_long(values)
        )

    @cached_property
    def _in_pieces(self) -> Any:
        assert self._compile_in_pieces is not None
        return self._compile_in_pieces()


def type_name(kind: Any) -> str:
    """A type as cel-go writes it: `map(string, dyn)`."""
    text = str(kind)
    return re.sub(r"\b[A-Z]+\b(?!\.)", lambda match: {"NULL": "null_type"}.get(match[0],
    match[0].lower()), text).replace(
        "<", "("
    ).replace(">", ")")  # fmt: skip
