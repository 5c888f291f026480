"""Which toleration covers which taint, as `ToleratesTaint` has it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.pods.taints import tolerates, untolerated

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
    assert untolerated(taints, [], effects) == TAINT
    assert untolerated(taints, [{"key": "disk", "operator": "Exists"}], effects) == hard
    assert untolerated(taints, [{"operator": "Exists", "effect": "NoExecute"}, {"key": "b"}], effects) == TAINT
    assert untolerated(taints, [{"operator": "Exists"}], effects) is None
    assert untolerated([soft], [], effects) is None
    assert untolerated(taints, [], ["PreferNoSchedule"]) == soft
