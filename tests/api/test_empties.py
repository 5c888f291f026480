"""What the normal form leaves out, and where it is put back."""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema import decode
from lifecycle.api.schema.empties import is_empty, moved, restored, within


def decoded(spec: Any) -> tuple[dict[str, Any], Any]:
    obj, strict = decode({"metadata": {"name": "p"}, "spec": spec}, "networking.k8s.io/v1", "NetworkPolicy")
    return obj, strict.empties  # type: ignore[attr-defined]


def test_an_empty_list_is_noted_and_left_out() -> None:
    policy, empties = decoded({"podSelector": {}, "egress": [], "ingress": [{"ports": []}]})
    assert policy["spec"] == {"podSelector": {}, "ingress": [{}]}
    assert sorted((key, value) for _, key, value in empties) == [("egress", []), ("ports", [])]


def test_it_is_there_for_a_moment() -> None:
    policy, empties = decoded({"podSelector": {}, "egress": []})
    with restored(empties):
        assert policy["spec"]["egress"] == []
    assert "egress" not in policy["spec"]


def test_what_was_filled_in_since_stays() -> None:
    policy, empties = decoded({"podSelector": {}, "policyTypes": []})
    policy["spec"]["policyTypes"] = ["Ingress"]
    with restored(empties):
        assert policy["spec"]["policyTypes"] == ["Ingress"]
    assert policy["spec"]["policyTypes"] == ["Ingress"]


def test_selectors_are_printed_as_metav1_prints_them() -> None:
    policy, empties = decoded({"podSelector": {"matchLabels": {}}})
    with restored(empties):
        assert policy["spec"] == {"podSelector": {}}
    assert [key for _, key, _ in within(policy["spec"], empties)] == ["matchLabels"]


def test_empties_are_found_by_where_they_were() -> None:
    policy, empties = decoded({"podSelector": {}, "ingress": [{"ports": []}], "egress": []})
    assert [key for _, key, _ in within(policy["spec"]["ingress"], empties)] == ["ports"]
    assert within(policy["metadata"], empties) == []
    policy["spec"]["ingress"][0]["ports"] = [{"port": 1}]
    assert within(policy["spec"]["ingress"], empties) == []


def test_the_root_has_empties_too() -> None:
    config_map, strict = decode({"data": {}}, "v1", "ConfigMap")
    with restored(strict.empties):  # type: ignore[attr-defined]
        assert config_map["data"] == {}


def test_nothing_but_emptiness() -> None:
    assert all(map(is_empty, ([], {}, {"limits": {}, "claims": []})))
    assert not any(map(is_empty, ({"limits": {"cpu": 1}}, [{}], 0, None)))


def test_empties_move_with_a_copy() -> None:
    policy, empties = decoded({"podSelector": {"matchLabels": {}}, "egress": []})
    copy = {**policy, "spec": dict(policy["spec"])}
    again = moved(empties, (policy["spec"], copy["spec"]))
    assert [key for _, key, _ in within(copy["spec"], again)] == ["egress", "matchLabels"]
    with restored(again):
        assert copy["spec"] == {"podSelector": {}, "egress": []}
        assert "egress" not in policy["spec"]
