"""NetworkPolicies: what a policy is about if it does not say so."""

from __future__ import annotations

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.networking.network_policy import STRATEGY


def test_a_network_policy_with_egress_rules_is_about_egress_too() -> None:
    policy, _ = decode({"spec": {"egress": [{}]}}, "networking.k8s.io/v1", "NetworkPolicy")
    STRATEGY.set_defaults(policy)
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
