"""Which toleration covers which taint, as `ToleratesTaint` has it."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from lifecycle.api.pods.taints import FEW, Tolerations, tolerates, untolerated

TAINT = {"key": "disk", "value": "slow", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "covered"),
    [
        ({"key": "disk", "value": "slow", "effect": "NoSchedule"}, True),
        ({"key": "disk", "value": "slow"}, True),
        ({"key": "disk", "operator": "Equal", "value": "slow", "effect": ""}, True),
        ({"key": "disk", "value": "fast"}, False),
        ({"key": "disk"}, False),
        ({"key": "disk", "operator": "Exists"}, True),
        ({"key": "disk", "operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "other", "operator": "Exists"}, False),
        ({"key": "other", "value": "slow"}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoSchedule"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "disk", "operator": "Lt", "value": "slow"}, False),
    ],
)
def test_a_toleration_covers_a_taint_of_its_key_value_and_effect(toleration: dict[str, Any], covered: bool) -> None:
    assert tolerates(toleration, TAINT) is covered


def test_a_taint_without_a_value_has_an_empty_one() -> None:
    bare = {"key": "gone", "effect": "NoExecute"}
    assert tolerates({"key": "gone"}, bare)
    assert tolerates({"key": "gone", "value": ""}, bare)
    assert not tolerates({"key": "gone", "value": "x"}, bare)


def test_the_first_taint_that_nobody_covers_is_named_and_other_effects_do_not_count() -> None:
    soft, hard = {"key": "a", "effect": "PreferNoSchedule"}, {"key": "b", "effect": "NoExecute"}
    taints, effects = [soft, TAINT, hard], ["NoSchedule", "NoExecute"]
    nothing, everything = Tolerations([]), Tolerations([{"operator": "Exists"}])
    by_effect = Tolerations([{"operator": "Exists", "effect": "NoExecute"}, {"key": "b"}])
    assert untolerated(taints, nothing, effects) == TAINT
    assert untolerated(taints, Tolerations([{"key": "disk", "operator": "Exists"}]), effects) == hard
    assert untolerated(taints, by_effect, effects) == TAINT
    assert untolerated(taints, everything, effects) is None
    assert untolerated([soft], nothing, effects) is None
    assert untolerated(taints, nothing, ["PreferNoSchedule"]) == soft


def test_of_many_tolerations_the_same_one_is_found_as_of_few() -> None:
    keys, values, effects = ("", "a", "b"), ("", "x", "y"), ("", "NoSchedule", "NoExecute")
    said = [
        {"key": key, "value": value, "effect": effect, "operator": operator}
        for key, value, effect in itertools.product(keys, values, effects)
        for operator in ("", "Equal", "Exists", "Lt")
    ]
    shapes = itertools.product(("a", "b", "c"), values, effects[1:])
    taints = [{"key": key, "value": value, "effect": effect} for key, value, effect in shapes]
    for seed in range(50):
        some = random.Random(seed).sample(said, FEW + 1 + seed % 20)
        many = Tolerations(some)
        for taint in taints:
            assert many.first_for(taint) is next((t for t in some if tolerates(t, taint)), None)


class Asked(dict[str, Any]):
    """Counts how often anything is read of it."""

    times = 0

    def get(self, key: str, default: Any = None) -> Any:
        Asked.times += 1
        return super().get(key, default)


def test_many_tolerations_are_read_once_however_many_taints_there_are() -> None:
    tolerations = Tolerations([Asked(key=f"k{i}", operator="Exists") for i in range(300)])
    taints = [{"key": f"k{i}", "effect": "NoSchedule"} for i in range(300)]
    assert untolerated(taints, tolerations, ["NoSchedule"]) is None
    assert Asked.times <= 4 * 300
