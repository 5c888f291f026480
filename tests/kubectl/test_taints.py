"""What `taint` makes of a node's taints, and what it calls that: tainted, untainted, modified. The words are held against the
real kubectl by the tests beside it; these need no cluster."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.taint import parse_taints, update_taints
from lifecycle.kubectl.failures import CommandError

A = {"key": "a", "value": "b", "effect": "NoSchedule"}
HARD = {"key": "a", "value": "b", "effect": "NoExecute"}
OTHER = {"key": "o", "effect": "NoSchedule"}


def changed(old: list[Any] | None, specs: str, *, overwrite: bool = False) -> tuple[str, list[Any]]:
    node: dict[str, Any] = {"metadata": {"name": "n"}, "spec": {"taints": old} if old is not None else {}}
    word, taints = update_taints(node, *parse_taints(specs.split()), overwrite=overwrite)
    assert node["spec"].get("taints") == old, "the node itself stays as it is"
    return word, taints


@pytest.mark.parametrize(
    ("old", "specs", "word", "taints"),
    [
        (None, "a=b:NoSchedule", "tainted", [A]),
        ([OTHER], "a=b:NoSchedule", "tainted", [A, OTHER]),
        ([A], "a=b:NoExecute", "tainted", [HARD, A]),
        ([A], "a-", "untainted", []),
        ([A, OTHER], "a:NoSchedule-", "untainted", [OTHER]),
        ([A, HARD, OTHER], "a-", "untainted", [OTHER]),
        ([A, HARD], "a:NoExecute-", "untainted", [A]),
        ([A], "o:NoSchedule a-", "modified", [OTHER]),
        ([OTHER], "x:NoExecute o-", "modified", [{"key": "x", "effect": "NoExecute"}]),
    ],
)
def test_taints_come_first_and_go(old: Any, specs: str, word: str, taints: Any) -> None:
    assert changed(old, specs) == (word, taints)


@pytest.mark.parametrize("old", [[A], [OTHER], None])
def test_whoever_may_overwrite_modifies(old: Any) -> None:
    rest = [OTHER] if old == [OTHER] else []
    assert changed(old, "a=c:NoSchedule", overwrite=True) == ("modified", [{**A, "value": "c"}, *rest])


@pytest.mark.parametrize(
    ("old", "specs", "why"),
    [
        ([A], "a=c:NoSchedule", "node n already has a taint(s) with same effect(s) and --overwrite is false"),
        (
            [A, OTHER],
            "a=c:NoSchedule o:NoSchedule",
            "node n already has a,o taint(s) with same effect(s) and --overwrite is false",
        ),
        ([A], "x-", 'taint "x" not found'),
        ([A], "a:NoExecute-", 'taint "a:NoExecute" not found'),
        (None, "x-", 'taint "x" not found'),
        (
            None,
            "a=b:NoSchedule a=c:NoSchedule",
            "duplicated taints with the same key and effect: {a c NoSchedule <nil>}",
        ),
        (None, "a=b", "invalid taint spec: a=b, "),
        (None, "a", "invalid taint spec: a"),
        (None, "a=b:Never", "invalid taint effect: Never, unsupported taint effect"),
        (None, "a=b:NoSchedule:x", "invalid taint spec: a=b:NoSchedule:x"),
        (None, "a=b=c:NoSchedule", "invalid taint spec: a=b=c:NoSchedule"),
    ],
)
def test_what_cannot_be_done_is_said(old: Any, specs: str, why: str) -> None:
    with pytest.raises((CommandError, StatusError)) as caught:
        changed(old, specs)
    assert str(caught.value).startswith(why)
    assert why.endswith(", ") or str(caught.value) == why
