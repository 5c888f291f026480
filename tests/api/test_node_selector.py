"""Which nodes a selector means, as `nodeaffinity.go` and `labels.Requirement.Matches` read it."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.node_selector import required_node_affinity, term_matcher

NODE = {"zone": "a", "cpus": "16", "odd": "1_6"}


def expression(operator: str, *values: str, key: str = "zone") -> dict[str, Any]:
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


@pytest.mark.parametrize(
    ("term", "matches"),
    [
        (expression("In", "a", "b"), True),
        (expression("In", "b"), False),
        (expression("In", "a", key="none"), False),
        (expression("NotIn", "b"), True),
        (expression("NotIn", "a"), False),
        (expression("NotIn", "a", key="none"), True),
        (expression("Exists"), True),
        (expression("Exists", key="none"), False),
        (expression("DoesNotExist"), False),
        (expression("DoesNotExist", key="none"), True),
        (expression("Gt", "15", key="cpus"), True),
        (expression("Gt", "16", key="cpus"), False),
        (expression("Lt", "17", key="cpus"), True),
        (expression("Lt", "16", key="cpus"), False),
        (expression("Gt", "1", key="zone"), False),
        (expression("Lt", "1", key="none"), False),
        (expression("Gt", "x", key="cpus"), False),
        (expression("Gt", "-1", key="cpus"), True),
        (expression("Gt", "1", "2", key="cpus"), False),
        (expression("Gt", key="cpus"), False),
        (expression("Gt", "1", key="odd"), False),
        (expression("Lt", "1_000", key="cpus"), False),
        (expression("Lt", "9223372036854775807", key="cpus"), True),
        (expression("Lt", "9223372036854775808", key="cpus"), False),
        (expression("Gt", "-9223372036854775808", key="cpus"), True),
        (expression("Gt", "-9223372036854775809", key="cpus"), False),
        (expression("Like", "a"), False),
    ],
)
def test_a_requirement_is_met_as_its_operator_says_and_numbers_are_those_of_go(
    term: dict[str, Any], matches: bool
) -> None:
    assert term_matcher(term)("n1", NODE) is matches


def test_all_requirements_of_a_term_must_hold_and_fields_know_the_nodes_name() -> None:
    name = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    assert term_matcher({"matchFields": name})("n1", {})
    assert not term_matcher({"matchFields": name})("n2", {})
    both = {**expression("In", "a"), "matchFields": name}
    assert term_matcher(both)("n1", NODE)
    assert not term_matcher(both)("n2", NODE)
    assert not term_matcher(both)("n1", {"zone": "b"})
    two = {"matchExpressions": expression("Exists")["matchExpressions"] + expression("In", "b")["matchExpressions"]}
    assert not term_matcher(two)("n1", NODE)
    assert not term_matcher({})("n1", NODE), "an empty term means no node"


def required(*terms: dict[str, Any]) -> dict[str, Any]:
    selector = {"nodeSelectorTerms": list(terms)}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": selector}}}


def test_a_pod_that_asks_for_nothing_has_no_matcher() -> None:
    assert required_node_affinity({}) is None
    assert required_node_affinity({"nodeSelector": {}, "affinity": {"podAffinity": {}}}) is None


def test_terms_are_alternatives_and_the_selector_must_hold_beside_them() -> None:
    either = required_node_affinity(required(expression("In", "b"), expression("In", "a")))
    assert either is not None
    assert either("n1", NODE)
    assert not either("n1", {"zone": "c"})
    none = required_node_affinity(required())
    assert none is not None
    assert not none("n1", NODE), "no term means no node"
    selector = required_node_affinity({"nodeSelector": {"zone": "a", "cpus": "16"}})
    assert selector is not None
    assert selector("n1", NODE)
    assert not selector("n1", {"zone": "a"})
    both = required_node_affinity({"nodeSelector": {"cpus": "8"}, **required(expression("In", "a"))})
    assert both is not None
    assert both("n1", {"zone": "a", "cpus": "8"})
    assert not both("n1", NODE)
    assert not both("n1", {"zone": "b", "cpus": "8"})
