"""What a resize may say of a pod: amounts and what they cost; and whether its node is able to."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.registry.core.pod.resize import _node_resizes, _resized, _validate_nothing_removed


def named(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, **more}


SMALL, LARGE = {"requests": {"cpu": "1"}}, {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}}
POLICY = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
OLD = [named("a", image="i", resources=SMALL, resizePolicy=POLICY), named("b", image="j")]


@pytest.mark.parametrize(
    ("after", "made"),
    [
        # amounts and policies are taken over, nothing else
        ([named("a", image="x", resources=LARGE), named("b")], [named("a", image="i", resources=LARGE), OLD[1]]),
        ([named("a", resizePolicy=POLICY), named("b")], [named("a", image="i", resizePolicy=POLICY), OLD[1]]),
        (
            [named("a", resources=SMALL, resizePolicy=POLICY), named("b", resources=LARGE, env=[])],
            [OLD[0], named("b", image="j", resources=LARGE)],
        ),
        ([named("a"), named("b")], [named("a", image="i"), OLD[1]]),
        # other names are somebody's mistake, and are told as they are
        ([named("b"), named("a")], [named("b"), named("a")]),
        ([named("a"), named("c")], [named("a"), named("c")]),
    ],
)
def test_of_each_container_only_its_amounts_are_taken_over(
    after: list[dict[str, Any]], made: list[dict[str, Any]]
) -> None:
    """Upstream: `podResizeStrategy.PrepareForUpdate` (`dropNonResizeUpdates`)."""
    before = [dict(each) for each in OLD]
    assert _resized(after, before) == made
    assert before == OLD, "what is stored is not touched"


RUNS, WAITS, ENDED = {"running": {}}, {"waiting": {}}, {"terminated": {}}


@pytest.mark.parametrize(
    ("statuses", "able"),
    [
        (None, True),
        ([], True),
        ([{"state": WAITS}], True),
        ([{"state": ENDED}], True),
        ([{}], True),
        ([{"state": RUNS, "resources": {}}], True),
        ([{"state": RUNS}], False),
        ([{"state": WAITS}, {"state": RUNS}], False),
        ([{"state": WAITS, "resources": {}}, {"state": RUNS}], False),
        ([{"state": RUNS, "resources": {}}, {"state": RUNS}], True),
        ([{"state": RUNS}, {"state": RUNS, "resources": {}}], False),
    ],
)
def test_a_node_is_able_to_if_it_tells_what_the_first_container_that_runs_has(
    statuses: list[dict[str, Any]] | None, able: bool
) -> None:
    """As long as none runs nobody knows better. Upstream: `validation.go` (`isPodResizeRequestSupported`)."""
    assert _node_resizes({"status": {} if statuses is None else {"containerStatuses": statuses}}) is able
    assert _node_resizes({}) is True


BOTH = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"cpu": "2"}}


@pytest.mark.parametrize(
    ("before", "after", "removed"),
    [
        (BOTH, BOTH, []),
        (BOTH, {**BOTH, "requests": {"cpu": "9", "memory": "9Gi"}}, []),
        (SMALL, BOTH, []),
        (None, BOTH, []),
        (BOTH, {**BOTH, "requests": {"cpu": "1"}}, ["requests"]),
        (BOTH, {"requests": BOTH["requests"]}, ["limits"]),
        (BOTH, {"limits": BOTH["limits"]}, ["requests"]),
        (BOTH, None, ["requests", "limits"]),
        (BOTH, {}, ["requests", "limits"]),
    ],
)
@pytest.mark.parametrize("group", ["containers", "initContainers"])
def test_what_has_an_amount_keeps_one(
    before: dict[str, Any] | None, after: dict[str, Any] | None, removed: list[str], group: str
) -> None:
    """Upstream: `ValidatePodResize`, "resource … cannot be removed"."""
    old, new = (
        [named("a"), named("b", **({"resources": each} if each is not None else {}))] for each in (before, after)
    )
    errors = _validate_nothing_removed({group: new}, {group: old})
    assert [(error.field, error.detail) for error in errors] == [
        (f"spec.{group}[1].resources.{key}", f"resource {key} cannot be removed") for key in removed
    ]
