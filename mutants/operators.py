"""Ways to break a line that cosmic-ray has not: leave a call out, answer nothing, change a text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import parso
from cosmic_ray.operators.operator import Example, Operator

Position = tuple[tuple[int, int], tuple[int, int]]


def _parsed(code: str) -> Any:
    """One statement, as parso has it, without the file around it."""
    return parso.parse(code).children[0]


class LeaveOutCall(Operator):
    """`queue.add(pod)` as a statement becomes `pass`."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if _is_call_statement(node):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        statement = _parsed("pass\n").children[0]
        statement.prefix = node.children[0].get_first_leaf().prefix
        node.children[0] = statement
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("queue.add(pod)\n", "pass\n"),)


def _is_call_statement(node: Any) -> bool:
    if node.type != "simple_stmt":
        return False
    expression = node.children[0]
    if expression.type not in ("atom_expr", "power"):
        return False
    last = expression.children[-1]
    return bool(last.type == "trailer" and last.children[0].value == "(")


class AnswerNothing(Operator):
    """`return pods` becomes `return None`."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "return_stmt" and node.children[1].get_code().strip() != "None":
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        nothing = _parsed("return None\n").children[0]
        nothing.children[0].prefix = node.children[0].prefix
        return nothing

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example("return pods\n", "return None\n"),)


class OtherText(Operator):
    """A text in an expression gets an `x` at its end; docstrings stay."""

    def mutation_positions(self, node: Any) -> Iterator[Position]:
        if node.type == "string" and node.parent.type != "simple_stmt" and node.value[-3:] not in ('"""', "'''"):
            yield node.start_pos, node.end_pos

    def mutate(self, node: Any, index: int) -> Any:
        node.value = f"{node.value[:-1]}x{node.value[-1]}"
        return node

    @classmethod
    def examples(cls) -> tuple[Example, ...]:
        return (Example('kind = "Pod"\n', 'kind = "Podx"\n'),)
