"""A loop over something long goes piece by piece, and means what it meant."""

from __future__ import annotations

import asyncio
import itertools
import threading
from typing import Any

import pytest

from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.policy_expressions import Evaluation, base_environment
from lifecycle.apiserver.cel import cost, pieces
from lifecycle.apiserver.cel.environment import DYN, Environment, EvaluationError, Program

ENVIRONMENT = Environment({"object": DYN})
LONG: dict[str, Any] = {"list": [f"x{i}" for i in range(2_000)], "map": {f"k{i}": "v" for i in range(2_000)}}


def evaluate(expression: str, obj: Any = LONG) -> Any:
    return ENVIRONMENT.compile(expression).evaluate({"object": obj})


@pytest.mark.parametrize(
    ("written", "run"),
    [
        ("a.map(x, x)", "a.__in_pieces().map(__piece, __piece.__in_time().map(x, x)).__together()"),
        ("a . filter (x, x > 1)", "a .__in_pieces().map(__piece, __piece.__in_time().filter (x, x > 1)).__together()"),
        ("f(a)[0].all(x, x)", "f(a)[0].__in_pieces().all(__piece, __piece.__in_time().all(x, x))"),
        (
            "!a.exists_one(x, x)",
            "!a.__in_pieces().map(__piece, __piece.__in_time().filter(x, x)).__together().__just_one()",
        ),
        (
            "a.exists(x, b.exists(y, y == x))",
            "a.__in_pieces().exists(__piece, __piece.__in_time().exists(x,"
            " b.__in_pieces().exists(__piece, __piece.__in_time().exists(y, y == x))))",
        ),
        ("a.map + map(x) + '.map(x, x)' // .all(x, x)", "a.map + map(x) + '.map(x, x)' // .all(x, x)"),
    ],
)
def test_every_loop_becomes_one_over_pieces_and_nothing_else_changes(written: str, run: str) -> None:
    assert pieces.rewritten(written) == run


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("object.list.map(x, x + '!')", [f"x{i}!" for i in range(2_000)]),
        ("object.list.map(x, x.endsWith('7'), x).size()", 200),
        ("object.map.filter(k, k == 'k7')", ["k7"]),
        ("object.list.all(x, x.startsWith('x')) && !object.list.all(x, x != 'x1999')", True),
        ("object.list.exists(x, x == 'x1999') && !object.map.exists(k, k == 'x')", True),
        ("object.list.exists_one(x, x == 'x3') && !object.list.exists_one(x, x != 'x3')", True),
        ("object.list.map(x, [x].map(y, y + y)[0])[1999]", "x1999x1999"),
        ("object.list.map(x, {'a': x}).filter(x, x.a == 'x8')[0].a", "x8"),
    ],
)
def test_what_is_long_is_worked_out_as_what_is_short(expression: str, value: Any) -> None:
    assert evaluate(expression) == value


@pytest.mark.parametrize("expression", ["object.list[0].map(x, x)", "object.list.map(x, x + 1)", "object.no.all(x, x)"])
def test_what_is_wrong_is_told_in_the_same_words(expression: str) -> None:
    with pytest.raises(EvaluationError) as of_short:
        evaluate(expression, {"list": ["x0"]})
    with pytest.raises(EvaluationError) as of_long:
        evaluate(expression)
    assert str(of_long.value) == str(of_short.value)


def test_no_list_that_grows_becomes_longer_than_the_number_of_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    in_time = pieces._in_time
    monkeypatch.setattr(pieces, "_in_time", lambda piece: sizes.append(len(piece)) or in_time(piece))
    environment = Environment({"object": DYN})
    monkeypatch.setattr("lifecycle.apiserver.cel.environment._functions", lambda: pieces.functions())
    assert environment.compile("object.list.map(x, x).size()").evaluate({"object": LONG}) == 2_000
    assert sizes == [pieces.PIECE] * (2_000 // pieces.PIECE)


def test_what_is_short_is_not_copied() -> None:
    program: Program = ENVIRONMENT.compile("object.list.map(x, x)")
    assert program.evaluate({"object": {"list": ["a"] * pieces.LONG}}) == ["a"] * pieces.LONG
    assert "_in_pieces" not in vars(program)
    program.evaluate({"object": {"list": ["a"] * (pieces.LONG + 1)}})
    assert "_in_pieces" in vars(program)


@pytest.mark.parametrize(
    ("value", "long"),
    [
        ([1] * pieces.LONG, False), ([1] * (pieces.LONG + 1), True), ({"a": ["x" * (pieces.MUCH + 1)]}, True),
        ({"a": ["x" * pieces.MUCH]}, False), ({"a": {"b": {f"k{i}": 1 for i in range(pieces.LONG + 1)}}}, True),
        ([[1] * 200] * 14, False), ([[1] * 200] * 15, True), ("x", False), (7, False), (None, False),
    ],
)  # fmt: skip
def test_long_is_what_has_many_elements_in_one_place_or_in_all(value: Any, long: bool) -> None:
    assert pieces.is_long([value]) is long


@pytest.mark.parametrize(
    ("expression", "may"),
    [
        ("object.a.split('').map(x, x)", True),
        ("object.a.findAll('[a-z]').map(x, x)", True),
        ("[object.a].flatten().map(x, x)", True),
        ("lists.range(5).map(x, x)", True),
        ("object.a.all(x, x)".ljust(pieces.MUCH + 1), True),
        ("object.a.all(x, x)".ljust(pieces.MUCH), False),
        ("object.a.splits.all(x, x)", False),
        ("object.arrange.all(x, x)", False),
    ],
)
def test_an_expression_that_may_make_something_long_itself_is_not_asked_for_its_values(
    expression: str, may: bool
) -> None:
    assert pieces.may_make_long(expression) is may


def test_a_loop_is_over_when_its_time_is(monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = itertools.count()
    monkeypatch.setattr(cost, "thread_time", lambda: next(ticks) * cost.SECONDS / 10)
    with pytest.raises(EvaluationError, match=r"operation cancelled: actual cost limit exceeded$"):
        evaluate("object.list.all(x, x != '')")
    assert next(ticks) < 200  # the loop goes on, and does nothing more


@pytest.mark.parametrize(("count", "who"), [(10, "MainThread"), (2_000, "worker")])
def test_a_loop_over_something_long_is_the_workers_from_the_start(
    monkeypatch: pytest.MonkeyPatch, count: int, who: str
) -> None:
    threads: list[str] = []
    evaluate_here = Program.evaluate

    def noted(program: Program, values: Any) -> Any:
        threads.append(threading.current_thread().name.partition("_")[0])
        return evaluate_here(program, values)

    monkeypatch.setattr(Program, "evaluate", noted)
    made = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "m"},
        "data": {f"k{i}": "" for i in range(count)},
    }

    async def scene() -> None:
        attributes = Attributes("CREATE", resource("configmaps"), "", "default", "m", made)
        evaluation = Evaluation(attributes, resource("configmaps"), namespace=None)
        program = base_environment(False, False).compile("object.data.all(k, k != '')", ("bool",))
        assert await evaluation.evaluate(program) is True

    asyncio.run(scene())
    assert threads == [who]
