"""A uid may be any uid; but one object has one, until it is deleted and made again."""

from __future__ import annotations

from typing import Any

from lifecycle.compare import Normaliser, compare

FIRST, SECOND, THIRD = (f"{digit * 8}-1111-4222-8333-444444444444" for digit in "abc")


def answers(*uids: str) -> list[dict[str, Any]]:
    return [{"kind": "ConfigMap", "metadata": {"name": "note", "namespace": "default", "uid": uid}} for uid in uids]


def agree(ours: list[dict[str, Any]], theirs: list[dict[str, Any]]) -> bool:
    left, right = (Normaliser().learn(*side) for side in (ours, theirs))
    sides = [left.normalise(one) for one in ours], [right.normalise(one) for one in theirs]
    return all(compare(mine, yours).agrees for mine, yours in zip(*sides, strict=True))


def test_another_uid_all_along_is_the_same() -> None:
    assert agree(answers(FIRST, FIRST), answers(SECOND, SECOND))


def test_a_uid_that_changes_on_one_side_only_is_a_difference() -> None:
    assert not agree(answers(FIRST, THIRD), answers(SECOND, SECOND))
    assert not agree(answers(FIRST, THIRD, FIRST), answers(SECOND, SECOND, SECOND))


def test_an_object_made_again_on_both_sides_is_the_same() -> None:
    assert agree(answers(FIRST, SECOND), answers(SECOND, THIRD))
    assert not agree(answers(FIRST, SECOND, FIRST), answers(SECOND, THIRD, THIRD))
