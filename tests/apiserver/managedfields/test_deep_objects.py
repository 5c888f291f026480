"""However deep a value lies, it is looked at a few times and not at each level."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.managedfields.compare import compare
from lifecycle.apiserver.managedfields.typed import DEDUCED
from lifecycle.apiserver.registry.shared_parts import DEPTH, with_parts_of

VALUES = 200
looks = 0


class Noted(int):
    """A number that notes when it is compared."""

    def __eq__(self, other: object) -> bool:
        global looks
        looks += 1
        return int(self) == other

    __hash__ = int.__hash__


def nested(depth: int, last: Any) -> Any:
    """Many values and one last, all at a depth."""
    inside: Any = {**{f"k{number:03}": Noted(number) for number in range(VALUES)}, "last": last}
    for _ in range(depth):
        inside = {"a": inside}
    return inside


@pytest.mark.parametrize("depth", [1, 40])
def test_who_changed_what_is_seen_in_one_walk(depth: int) -> None:
    global looks
    old, new = nested(depth, 1), nested(depth, True)
    looks = 0
    changed, gone = compare(DEDUCED, old, new)
    assert looks <= 2 * VALUES
    for _ in range(depth):
        changed = changed["f:a"]
    assert (changed, gone) == ({"f:last": {}}, {})


def test_what_two_versions_share_is_not_looked_for_at_every_depth() -> None:
    global looks
    old, new = {"spec": nested(40, "old")}, {"spec": nested(40, "new")}
    looks = 0
    shared = with_parts_of(old, new)
    assert looks <= 2 * (DEPTH + 1) * VALUES
    assert shared["spec"] == nested(40, "new")
