"""Nodes: an older and a newer field for the same network, and a status from the start."""

from __future__ import annotations

from typing import Any

from lifecycle.api.schema import decode
from lifecycle.apiserver.registry.core.node import STRATEGY
from lifecycle.apiserver.registry.rest.create import before_create


def node(**more: Any) -> dict[str, Any]:
    obj, _ = decode({"metadata": {"name": "n"}, **more}, "v1", "Node")
    STRATEGY.set_defaults(obj)
    return obj


def test_the_older_pod_network_of_a_node_has_the_last_word() -> None:
    assert node(spec={"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.1.0.0/24"]})["spec"]["podCIDRs"] == ["10.0.0.0/24"]


def test_a_node_may_be_created_with_a_status() -> None:
    obj = node(status={"capacity": {"cpu": "1"}})
    before_create(STRATEGY, obj)
    assert obj["status"]["allocatable"] == {"cpu": "1"}


def test_fields_that_no_longer_do_anything_are_warned_of() -> None:
    obj = node(spec={"externalID": "x", "configSource": {}})
    assert [text.partition(":")[0] for text in STRATEGY.warnings_on_create(obj)] == [
        "spec.configSource",
        "spec.externalID",
    ]
