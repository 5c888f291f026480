"""Disagreements that are explained, each with a reason, each as narrow as its reason allows.

A freedom never looks at what kind of object or which field it is about, only at whether the difference is of its sort. What is not
chance but a weakness of ours says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Freedom:
    """`allows(real, ours, others)`: whether this is why two answers differ. `others`: what the real server said when it was asked
    the same again.
    """

    name: str
    reason: str
    allows: Callable[[Any, Any, Sequence[Any]], bool]


def _real_server_says_it_too(real: Any, ours: Any, others: Sequence[Any]) -> bool:
    return ours in others


def _only_causes_in_another_order(real: Any, ours: Any, others: Sequence[Any]) -> bool:
    """All the same causes, and the real server itself does not keep to one order."""
    if all(other == real for other in others):
        return False
    return _without_order(real) is not None and _without_order(real) == _without_order(ours)


def _without_order(answer: Any) -> Any:
    body = answer.get("body")
    if not isinstance(body, dict) or not isinstance(body.get("details"), dict):
        return None
    causes = body["details"].get("causes")
    if not causes or len(causes) < 2:
        return None
    ordered = sorted(json.dumps(cause, sort_keys=True) for cause in causes)
    return {**answer, "body": {**body, "message": "", "details": {**body["details"], "causes": ordered}}}


def _only_lists_in_another_order(real: Any, ours: Any, others: Sequence[Any]) -> bool:
    """All the same but for the order of lists whose order the real server itself was seen to change."""
    differ = _reordered(real, ours)
    if not differ:
        return False
    chance = set().union(*(_reordered(real, other) or () for other in others))
    return differ <= chance


def _reordered(one: Any, other: Any, path: str = "") -> set[str] | None:
    """Where lists have the same items in another order; None if there is another difference."""
    if one == other:
        return set()
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        parts = [_reordered(one[key], other[key], f"{path}.{key}") for key in one]
        return None if None in parts else set().union(*(part for part in parts if part))
    if isinstance(one, list) and isinstance(other, list):
        first, second = (sorted(json.dumps(item, sort_keys=True) for item in items) for items in (one, other))
        return {path} if first == second else None
    return None


_EMPTY = re.compile(r"(?<=[:+ ])(\[\]|\{\}|null)")


def _only_nothing_or_empty(real: Any, ours: Any, others: Sequence[Any]) -> bool:
    """Both refuse, with the same words but for an empty list or map that ours takes for none."""
    if not real.get("status") == ours.get("status") == 422:
        return False
    one, other = (_EMPTY.sub("NOTHING", json.dumps(answer, sort_keys=True)) for answer in (real, ours))
    return one == other


FREEDOMS = (
    Freedom(
        "the real server is of two minds",
        "Go walks a map in another order each time: which of several complaints of an apply comes first, or is seen at all, is chance."
        " Granted only where the real server, asked the same again, gave exactly our answer.",
        _real_server_says_it_too,
    ),
    Freedom(
        "causes in any order",
        "The same chance, where there are too many orders to meet ours by asking again: the causes are the same, and the real server"
        " was seen to change their order.",
        _only_causes_in_another_order,
    ),
    Freedom(
        "lists in any order",
        "The same chance where a list is made from a cache, which is a map: what somebody may do, rule by rule. Granted only for lists"
        " that the real server, asked the same again, gave in more than one order.",
        _only_lists_in_another_order,
    ),
    Freedom(
        "empty or nothing",
        "A weakness of ours: Go tells a list that is empty from none at all where it prints a refused value; ours puts the empty one"
        " back only where the rule finds the same fields at fault with it (`rest/sent_empties.py`).",
        _only_nothing_or_empty,
    ),
)


def explained(real: Any, ours: Any, others: Sequence[Any]) -> Freedom | None:
    """Why two answers may differ, or None."""
    return next((freedom for freedom in FREEDOMS if freedom.allows(real, ours, others)), None)
