"""What makes a new generation."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.apiserver.registry.rest.generation import Generation

OLD: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": {"x": 1}, "status": {"y": 1}, "data": 1}
CHANGES: dict[str, dict[str, Any]] = {
    "nothing": {},
    "spec": {"spec": {"x": 2}},
    "status": {"status": {"y": 2}},
    "data": {"data": 2},
    "labels": {"metadata": {"labels": {"a": "c"}}},
    "annotations": {"metadata": {**OLD["metadata"], "annotations": {"a": "b"}}},
}
COUNTED: dict[Generation, set[str]] = {
    Generation.UNCOUNTED: set(),
    Generation.ALWAYS_ONE: set(),
    Generation.SPEC: {"spec"},
    Generation.EXACT_SPEC: {"spec"},
    Generation.SPEC_AND_ANNOTATIONS: {"spec", "annotations"},
    Generation.CONTENT: {"spec", "data"},
    Generation.EXACT_CONTENT: {"spec", "data"},
    Generation.CONTENT_AND_LABELS: {"spec", "data", "labels"},
    Generation.WITHOUT_METADATA: {"spec", "status", "data"},
}


@pytest.mark.parametrize("rule", Generation)
def test_each_rule_counts_its_own_changes_and_no_others(rule: Generation) -> None:
    assert {name for name, change in CHANGES.items() if rule.counts({**OLD, **change}, OLD)} == COUNTED[rule]


@pytest.mark.parametrize("rule", Generation)
def test_to_exact_rules_empty_is_not_the_same_as_not_there(rule: Generation) -> None:
    exact = rule in (Generation.EXACT_SPEC, Generation.EXACT_CONTENT)
    assert rule.counts(OLD, OLD, [(OLD["spec"], "list", [])]) is exact
    assert rule.counts(OLD, OLD, [(OLD["metadata"], "finalizers", [])]) is False
