"""Whether a container that ended is started again."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.pods.restart_policy import (
    all_containers_could_restart,
    container_should_restart,
    matching_rule,
    should_restart,
)


@pytest.mark.parametrize(
    ("policy", "after_success", "after_failure"),
    [("Always", True, True), ("OnFailure", False, True), ("Never", False, False)],
)
def test_a_policy_looks_at_the_exit_code(policy: str, after_success: bool, after_failure: bool) -> None:
    assert should_restart(policy, 0) is after_success
    assert should_restart(policy, 1) is should_restart(policy, -1) is after_failure


def rule(operator: str, *values: int, action: str = "Restart") -> dict[str, Any]:
    return {"action": action, "exitCodes": {"operator": operator, "values": list(values)}}


def test_the_first_rule_that_speaks_of_the_exit_code_counts() -> None:
    some, others, all_of_them = rule("In", 42, 43), rule("NotIn", 42, 1), rule("NotIn")
    container = {"restartPolicyRules": [some, others, all_of_them]}
    assert matching_rule(container, 42) == matching_rule(container, 43) == some
    assert matching_rule(container, 5) == others
    assert matching_rule(container, 1) == all_of_them
    assert matching_rule({"restartPolicyRules": [some]}, 1) is None
    assert matching_rule({}, 42) is None


def test_a_rule_without_exit_codes_speaks_of_none() -> None:
    for strange in ({"action": "Restart"}, {"action": "Restart", "exitCodes": {"operator": "Like", "values": [1]}}):
        assert matching_rule({"restartPolicyRules": [strange]}, 1) is None
        assert matching_rule({"restartPolicyRules": [strange]}, 0) is None


@pytest.mark.parametrize("action", ["Restart", "RestartAllContainers"])
def test_a_rule_comes_before_the_policies(action: str) -> None:
    container = {"restartPolicy": "Never", "restartPolicyRules": [rule("In", 42, action=action)]}
    assert container_should_restart({"restartPolicy": "Never"}, container, 42)
    assert not container_should_restart({"restartPolicy": "Always"}, container, 1)


def test_without_a_matching_rule_the_containers_own_policy_counts_then_the_pods_then_always() -> None:
    assert not container_should_restart({"restartPolicy": "Always"}, {"restartPolicy": "Never"}, 1)
    assert container_should_restart({"restartPolicy": "Never"}, {"restartPolicy": "OnFailure"}, 1)
    assert not container_should_restart({"restartPolicy": "OnFailure"}, {}, 0)
    assert container_should_restart({}, {}, 0)
    unknown = {"restartPolicyRules": [rule("In", 1, action="Sleep")]}
    assert not container_should_restart({"restartPolicy": "Never"}, unknown, 1)


@pytest.mark.parametrize("group", ["containers", "initContainers"])
def test_all_containers_may_restart_if_any_rule_of_any_of_them_says_so(group: str) -> None:
    rules = [rule("In", 1), rule("In", 2, action="RestartAllContainers")]
    assert all_containers_could_restart({group: [{}, {"restartPolicyRules": rules}]})
    assert not all_containers_could_restart({group: [{}, {"restartPolicyRules": rules[:1]}]})
    assert not all_containers_could_restart({})
