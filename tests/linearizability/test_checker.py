"""The checker itself: what it lets pass and what not, and that it says the same as trying out every order."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.linearizability.checker import UndecidedError, unexplained
from tests.linearizability.operations import NEVER, History, Listing, Operation, Outcome, State
from tests.linearizability.register import Register
from tests.linearizability.verdict import problems

DONE, REFUSED, UNKNOWN = Outcome.DONE, Outcome.REFUSED, Outcome.UNKNOWN


def create(called: int, returned: int, value: str, revision: int) -> Operation:
    return Operation(0, "create", "k", called, returned, value, 0, DONE if revision else REFUSED, revision)


def update(called: int, returned: int, value: str, expected: int, revision: int) -> Operation:
    return Operation(1, "update", "k", called, returned, value, expected, DONE if revision else REFUSED, revision)


def lost(called: int, value: str, expected: int) -> Operation:
    return Operation(2, "update" if expected else "create", "k", called, NEVER, value, expected)


def delete(called: int, returned: int, outcome: Outcome = DONE, expected: int = 0) -> Operation:
    return Operation(3, "delete", "k", called, returned, "", expected, outcome)


def get(called: int, returned: int, state: State) -> Operation:
    return Operation(4, "get", "k", called, returned, outcome=DONE, state=state)


RIGHT = {
    "a read beside a write may see it or not": [create(0, 3, "a", 5), get(1, 2, None), get(4, 5, ("a", 5))],
    "and see it before the writer knows": [create(0, 5, "a", 5), get(1, 2, ("a", 5)), get(3, 4, ("a", 5))],
    "of two changes of one revision, one is refused": [
        create(0, 1, "a", 5), update(2, 5, "b", 5, 6), update(3, 4, "c", 5, 0), get(6, 7, ("b", 6)),
    ],
    "what nobody was told of may be done much later": [
        create(0, 1, "a", 5), lost(2, "b", 5), get(3, 4, ("a", 5)), get(5, 6, ("b", 6)),
    ],
    "or never": [create(0, 1, "a", 5), lost(2, "b", 5), update(3, 4, "c", 5, 6), get(5, 6, ("c", 6))],
    "what is deleted can be created again": [
        create(0, 1, "a", 5), delete(2, 3), get(4, 5, None), create(6, 7, "b", 7), delete(8, 9, REFUSED, 5),
    ],
    "a creation without an answer stands in the way of another": [lost(0, "a", 0), create(1, 2, "b", 0)],
}  # fmt: skip
WRONG = {
    "a stale read": [create(0, 1, "a", 5), update(2, 3, "b", 5, 6), get(4, 5, ("a", 5))],
    "a lost update": [create(0, 1, "a", 5), update(2, 3, "b", 5, 6), update(4, 5, "c", 5, 7)],
    "a write that was acknowledged and is not there": [create(0, 1, "a", 5), get(2, 3, None)],
    "time that goes backwards between two readers": [
        create(0, 1, "a", 5), update(2, 9, "b", 5, 6), get(3, 4, ("b", 6)), get(5, 6, ("a", 5)),
    ],
    "what was deleted is back": [create(0, 1, "a", 5), delete(2, 3), get(4, 5, ("a", 5))],
    "a value that nobody wrote": [create(0, 1, "a", 5), get(2, 3, ("b", 6))],
    "a refusal without a reason": [create(0, 1, "a", 5), update(2, 3, "b", 5, 0), get(4, 5, ("a", 5))],
    "a write that was done twice": [
        create(0, 1, "a", 5), lost(2, "b", 5), get(3, 4, ("b", 6)), delete(5, 6), get(7, 8, ("b", 6)),
    ],
    "a write seen before it was asked for": [get(0, 1, ("a", 5)), create(2, 3, "a", 5)],
}  # fmt: skip


def is_linearizable(history: list[Operation]) -> bool:
    return unexplained(history, Register(history).step) is None


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str) -> None:
    assert is_linearizable(RIGHT[name])


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str) -> None:
    assert not is_linearizable(WRONG[name])


def tried_out(history: list[Operation]) -> bool:
    """By every order of all operations that were answered and any of the others."""
    step = Register(history).step
    known = [each for each in history if each.returned < NEVER]
    others = [each for each in history if each.returned == NEVER]
    for left_out in range(1 << len(others)):
        chosen = known + [each for place, each in enumerate(others) if left_out >> place & 1]
        for order in permutations(chosen):
            if any(later.returned < earlier.called for place, earlier in enumerate(order) for later in order[place:]):
                continue
            state: State = None
            for operation in order:
                legal, state = step(state, operation)
                if not legal:
                    break
            else:
                return True
    return False


@st.composite
def histories(draw: st.DrawFn) -> list[Operation]:
    """Of up to five operations on one key, most of which somebody could believe."""
    count = draw(st.integers(1, 5))
    places = draw(st.permutations(range(2 * count)))
    operations = []
    for number in range(count):
        called, returned = sorted(places[2 * number : 2 * number + 2])
        state = draw(st.sampled_from([None, *((f"v{each}", each + 1) for each in range(count))]))
        expected = draw(st.integers(1, count + 1))
        made = draw(st.sampled_from([number + 1, number + 1, 0]))
        value = f"v{number}"
        outcome, based_on = DONE if made else REFUSED, draw(st.sampled_from([0, expected]))
        likely = [
            create(called, returned, value, made),
            update(called, returned, value, expected, made),
            get(called, returned, state),
        ]
        others = [lost(called, value, expected), lost(called, value, 0), delete(called, returned, outcome, based_on)]
        operations.append(draw(st.sampled_from([*likely, *likely, *others])))
    return operations


@given(histories())
def test_it_says_what_trying_out_every_order_says(history: list[Operation]) -> None:
    assert is_linearizable(history) == tried_out(history)


def test_it_gives_up_rather_than_search_for_ever() -> None:
    history = [lost(number, f"v{number}", 0) for number in range(6)] + [delete(n, 90 + n) for n in range(6, 12)]
    with pytest.raises(UndecidedError):
        unexplained([*history, get(100, 101, ("w", 1))], Register(history).step, most=100)


def _listed(revision: int, **items: tuple[str, int]) -> list[str]:
    history = History([create(0, 1, "a", 5), update(2, 3, "b", 5, 7)])
    history.listings.append(Listing(9, 4, 5, revision, items))
    return [problem.partition("\n")[0] for problem in problems(history)]


def test_a_list_is_one_picture_at_its_revision() -> None:
    assert _listed(7, k=("b", 7)) == []
    assert _listed(9, k=("b", 7)) == []
    assert len(_listed(7, k=("a", 5))) == 2  # and no order of the key explains it
    assert "which is later" in _listed(7, k=("c", 8))[0]
    assert "is missing" in _listed(7)[0]
    assert "a list called at 4 has revision 6, though 7 was told before" in _listed(6, k=("a", 5))


def test_later_writes_have_higher_revisions() -> None:
    history = History([create(0, 1, "a", 5), Operation(0, "create", "other", 2, 3, "x", 0, DONE, 5)])
    assert problems(history) == ["a write called at 2 has revision 5, though 5 was told before"]
