"""A parsed Go template, filled in with an object.

Upstream: Go's `text/template/exec.go` (`state.walk`, `evalPipeline`, `evalField`,
`evalCall`, `validateType`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lifecycle.api.go.format import go_quote, go_value
from lifecycle.kubectl.printing.go_fmt import sprint
from lifecycle.kubectl.printing.go_template import nodes
from lifecycle.kubectl.printing.go_template.functions import FUNCTIONS, Function
from lifecycle.kubectl.printing.go_template.parser import NAME, Template
from lifecycle.kubectl.printing.go_template.values import (
    INVALID,
    Boxed,
    GoInt,
    TemplateError,
    truth,
    type_of,
    unboxed,
)

MAX_DEPTH = 150
"""How deep templates may call each other. Go allows 100,000; nobody comes near either
but by mistake.
"""


class ExecutionError(Exception):
    """A template that could not be filled in to its end. `str()` is what Go says of
    it.
    """


class _Jumped(Exception):
    """`{{break}}` or `{{continue}}`."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


class _Missing:
    """No value comes from the pipeline."""


_MISSING = _Missing()


def execute(
    template: Template,
    data: Any,
    write: Callable[[str], object],
    *,
    strict: bool = False,
) -> None:
    """Write what the template says of `data`. Raises ExecutionError; what was written
    by then stays written.
    """
    root = template.blocks[NAME]
    if not root.nodes:  # Go parses it into nothing, and says so
        return
    _Execution(template, NAME, write, strict, data, 0).walk(data, root)


class _Execution:
    """One block being filled in, with its variables: the newest with a name is the one
    meant.
    """

    def __init__(
        self,
        template: Template,
        name: str,
        write: Callable[[str], object],
        strict: bool,
        data: Any,
        depth: int,
    ) -> None:
        self._template, self._name, self._write, self._strict, self._depth = (
            template,
            name,
            write,
            strict,
            depth,
        )
        self._variables: list[tuple[str, Any]] = [("$", data)]
        self._node: nodes.Node | None = None

    def _wrong(self, message: str) -> ExecutionError:
        assert self._node is not None
        before = self._template.text[: self._node.at]
        column = len(before.rpartition("\n")[2].encode(errors="surrogateescape"))
        where = f"{NAME}:{before.count(chr(10)) + 1}:{column}"
        return ExecutionError(
            f"template: {where}: executing {go_quote(self._name)} at <{self._node}>:"
            f" {message}"
        )

    # -- statements --------------------------------------------------------------------

    def walk(self, dot: Any, node: nodes.Node) -> None:
        """Fill in one node."""
        self._node = node
        match node:
            case nodes.Text():
                self._write(node.text)
            case nodes.Action():
                value = self._pipeline(dot, node.pipe)
                if not node.pipe.declared:
                    self._print(node, value)
            case nodes.Block():
                for each in node.nodes:
                    self.walk(dot, each)
            case nodes.Branch(word="range"):
                self._range(dot, node)
            case nodes.Branch():
                self._if_or_with(dot, node)
            case nodes.Call():
                self._template_call(dot, node)
            case nodes.Jump():
                raise _Jumped(node.word)

    def _print(self, node: nodes.Node, value: Any) -> None:
        self._node = node
        value = value.value if isinstance(value, Boxed) else value
        self._write("<no value>" if value is INVALID else sprint([value], type_of))

    def _if_or_with(self, dot: Any, node: nodes.Branch) -> None:
        mark = len(self._variables)
        value = self._pipeline(dot, node.pipe)
        if truth(value):
            self.walk(value if node.word == "with" else dot, node.then)
        elif node.otherwise is not None:
            self.walk(dot, node.otherwise)
        del self._variables[mark:]

    def _range(self, dot: Any, node: nodes.Branch) -> None:
        mark = len(self._variables)
        value = unboxed(self._pipeline(dot, node.pipe))
        inside = len(self._variables)
        if (
            len(node.pipe.declared) > 1
            and isinstance(value, int)
            and not isinstance(value, bool)
        ):
            raise self._wrong(
                f"can't use {value} to iterate over more than one variable"
            )
        pairs = self._pairs(value)
        try:
            for index, item in pairs:
                declared = node.pipe.declared
                if declared:
                    self._variables[-1] = (self._variables[-1][0], item)
                if len(declared) > 1:
                    self._variables[-2] = (self._variables[-2][0], index)
                try:
                    self.walk(item, node.then)
                except _Jumped as jumped:
                    if jumped.word == "break":
                        break
                finally:
                    del self._variables[inside:]
            if not pairs and node.otherwise is not None:
                self.walk(dot, node.otherwise)
        finally:
            del self._variables[mark:]

    def _pairs(self, value: Any) -> list[tuple[Any, Any]]:
        """(key, item) of everything in a value, maps in the order of their keys."""
        if value is INVALID:
            return []
        if isinstance(value, dict):
            return [(key, Boxed(value[key])) for key in sorted(value)]
        if isinstance(value, list):
            return [(GoInt(i), Boxed(item)) for i, item in enumerate(value)]
        if isinstance(value, int) and not isinstance(value, bool):
            return [(type(value)(i), type(value)(i)) for i in range(value)]
        raise self._wrong(f"range can't iterate over {go_value(value)}")

    def _template_call(self, dot: Any, node: nodes.Call) -> None:
        block = self._template.blocks.get(node.name)
        if block is None:
            raise self._wrong(f"template {go_quote(node.name)} not defined")
        if self._depth == MAX_DEPTH:
            raise self._wrong(f"exceeded maximum template depth ({MAX_DEPTH})")
        data = self._pipeline(dot, node.pipe) if node.pipe is not None else INVALID
        inner = _Execution(
            self._template, node.name, self._write, self._strict, data, self._depth + 1
        )
        inner.walk(data, block)

    # -- values ------------------------------------------------------------------------

    def _pipeline(self, dot: Any, pipe: nodes.Pipe) -> Any:
        self._node = pipe
        value: Any = _MISSING
        for command in pipe.commands:
            value = self._command(dot, command, value)
            value = unboxed(value) if isinstance(value, Boxed) else value
        for variable in pipe.declared:
            name = variable.names[0]
            if pipe.assigns:
                latest_first = [known for known, _ in reversed(self._variables)]
                if name not in latest_first:
                    raise self._wrong(f"undefined variable: {name}")
                at = latest_first.index(name)
                self._variables[-1 - at] = (name, value)
            else:
                self._variables.append((name, value))
        return value

    def _command(self, dot: Any, command: nodes.Command, final: Any) -> Any:
        first, arguments = command.arguments[0], command.arguments
        match first:
            case nodes.Field() | nodes.Chain() | nodes.Variable():
                return self._operand(dot, first, arguments, final)
            case nodes.Identifier():
                self._node = first
                return self._function(dot, first, command, arguments[1:], final)
            case nodes.Pipe():
                self._no_arguments(arguments, final)
                return self._pipeline(dot, first)
        self._node = first
        self._no_arguments(arguments, final)
        if isinstance(first, nodes.Nil):
            raise self._wrong("nil is not a command")
        return self._literal(dot, first)

    def _no_arguments(self, arguments: Sequence[nodes.Node], final: Any) -> None:
        if len(arguments) > 1 or final is not _MISSING:
            raise self._wrong(f"can't give argument to non-function {arguments[0]}")

    def _literal(self, dot: Any, node: nodes.Node) -> Any:
        self._node = node
        match node:
            case nodes.Dot():
                return dot
            case nodes.Bool():
                return node.value
            case nodes.String():
                return node.text
            case nodes.Number():
                if isinstance(node.value, int):
                    if node.value >= 2**63:
                        raise self._wrong(f"{node.text} overflows int")
                    return GoInt(node.value)
                return node.value
        raise self._wrong(f"can't evaluate command {go_quote(str(node))}")

    def _operand(
        self, dot: Any, node: nodes.Node, arguments: Sequence[nodes.Node], final: Any
    ) -> Any:
        """The value of a variable or of fields; only the last field could take
        arguments, and none does.
        """
        self._node = node
        match node:
            case nodes.Field():
                receiver, names = dot, node.names
            case nodes.Chain():
                if isinstance(node.of, nodes.Nil):
                    raise self._wrong(f"indirection through explicit nil in {node}")
                receiver, names = self._argument(dot, "", node.of), node.names
            case nodes.Variable():
                receiver = next(
                    value
                    for name, value in reversed(self._variables)
                    if name == node.names[0]
                )
                names = node.names[1:]
                if not names:
                    self._no_arguments(arguments or [node], final)
                    return receiver
            case _:
                raise AssertionError(node)
        for i, name in enumerate(names, 1):
            given = i == len(names) and (len(arguments) > 1 or final is not _MISSING)
            receiver = self._field(name, receiver, given)
        return receiver

    def _field(self, name: str, receiver: Any, given: bool) -> Any:
        if receiver is INVALID:
            if self._strict:
                raise self._wrong(f"nil data; no entry for key {go_quote(name)}")
            return INVALID
        kind = type_of(receiver)
        value = unboxed(receiver)
        if value is INVALID:
            raise self._wrong(f"nil pointer evaluating {kind}.{name}")
        if not isinstance(value, dict):
            raise self._wrong(f"can't evaluate field {name} in type {kind}")
        if given:
            raise self._wrong(f"{name} is not a method but has arguments")
        if name not in value:
            if self._strict:
                raise self._wrong(f"map has no entry for key {go_quote(name)}")
            return INVALID
        return Boxed(value[name])

    # -- functions ---------------------------------------------------------------------

    def _function(
        self,
        dot: Any,
        node: nodes.Identifier,
        at: nodes.Node,
        arguments: Sequence[nodes.Node],
        final: Any,
    ) -> Any:
        function = FUNCTIONS[node.name]
        self._check_count(node.name, function, len(arguments), final)
        if function.run is None:
            if node.name == "call":
                raise self._not_callable(dot, at, arguments, final)
            return self._short_circuit(node.name, dot, arguments, final)
        values = [
            self._argument(dot, self._parameter(function, i), each)
            for i, each in enumerate(arguments)
        ]
        if final is not _MISSING:
            values.append(self._fitting(final, self._parameter(function, len(values))))
        try:
            return function.run(*values)
        except TemplateError as error:
            self._node = at
            raise self._wrong(f"error calling {node.name}: {error}") from None

    def _check_count(
        self, name: str, function: Function, num_args: int, final: Any
    ) -> None:
        count, num_params = num_args + (final is not _MISSING), len(function.parameters)
        if function.variadic:
            if count < num_params - 1:
                raise self._wrong(
                    f"wrong number of args for {name}: want at least {num_params - 1}"
                    f" got {num_args}"
                )
        elif count != num_params:
            raise self._wrong(
                f"wrong number of args for {name}: want {num_params} got {count}"
            )

    @staticmethod
    def _parameter(function: Function, i: int) -> str:
        return function.parameters[min(i, len(function.parameters) - 1)]

    def _short_circuit(
        self, name: str, dot: Any, arguments: Sequence[nodes.Node], final: Any
    ) -> Any:
        value: Any = INVALID
        for each in arguments:
            value = self._argument(dot, "value", each)
            if truth(value) == (name == "or"):
                return value
        return value if final is _MISSING else self._fitting(final, "value")

    def _not_callable(
        self, dot: Any, at: nodes.Node, arguments: Sequence[nodes.Node], final: Any
    ) -> ExecutionError:
        value = unboxed(
            self._argument(dot, "value", arguments[0]) if arguments else final
        )
        self._node = at
        if value is INVALID:
            return self._wrong("error calling call: call of nil")
        name = arguments[0] if arguments else "call"
        return self._wrong(
            f"error calling call: non-function {name} of type {type_of(value)}"
        )

    def _argument(self, dot: Any, kind: str, node: nodes.Node) -> Any:
        """The value of an argument, as a parameter of a type takes it; no type takes
        anything.
        """
        self._node = node
        match node:
            case nodes.Dot():
                return self._fitting(dot, kind)
            case nodes.Nil():
                if kind == "string":
                    raise self._wrong("cannot assign nil to string")
                return None if kind == "any" else INVALID
            case nodes.Field() | nodes.Chain() | nodes.Variable():
                return self._fitting(self._operand(dot, node, (), _MISSING), kind)
            case nodes.Pipe():
                return self._fitting(self._pipeline(dot, node), kind)
            case nodes.Identifier():
                return self._fitting(
                    self._function(dot, node, node, (), _MISSING), kind
                )
        if kind == "string" and not isinstance(node, nodes.String):
            raise self._wrong(f"expected string; found {node}")
        return self._literal(dot, node)

    def _fitting(self, value: Any, kind: str) -> Any:
        if kind in ("", "value"):
            return value
        if kind == "any":
            return (
                None
                if value is INVALID
                else value.value
                if isinstance(value, Boxed)
                else value
            )
        if value is INVALID:
            raise self._wrong(f"invalid value; expected {kind}")
        inner = (
            value.value
            if isinstance(value, Boxed) and value.value is not None
            else value
        )
        if not isinstance(inner, str):
            raise self._wrong(
                f"wrong type for value; expected {kind}; got {type_of(inner)}"
            )
        return inner
