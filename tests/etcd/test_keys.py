"""Keys are those of a real cluster: compared with all keys of the recorded etcd."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifecycle.api.resources import all_resources, resource
from lifecycle.etcd.codec import decode_value, encode_value
from lifecycle.etcd.keys import registry_key, resource_of, resource_prefix

RECORDED = Path(__file__).parents[2] / "recordings" / "kind-1.36.2" / "etcd" / "keys.txt"

NOT_OURS = {
    "/registry/masterleases/": "how several API servers find each other",
    "/registry/peerserverleases/": "the same, for versions that differ",
    "/registry/ranges/": "allocations of cluster IPs and node ports are kept in memory here",
}


def recorded_keys() -> list[str]:
    if not RECORDED.exists():
        pytest.skip("no recording of etcd's keys in this checkout")
    return [line.strip() for line in RECORDED.read_text().splitlines() if line.strip() and not line.startswith("$")]


def test_every_recorded_key_is_below_the_prefix_of_a_resource() -> None:
    prefixes = {resource_prefix(row): row for row in all_resources()}
    strangers = set()
    for key in recorded_keys():
        parts = key.split("/")
        below = ["/".join(parts[:depth]) + "/" for depth in (3, 4)]
        if not any(prefix in prefixes for prefix in below):
            strangers.add(key)
    explained = {start for start in NOT_OURS for key in strangers if key.startswith(start)}
    assert {key for key in strangers if not key.startswith(tuple(NOT_OURS))} == set()
    assert explained == set(NOT_OURS)


@pytest.mark.parametrize(
    ("name", "namespace", "key"),
    [
        ("pods", "default", "/registry/pods/default/x"),
        ("nodes", "", "/registry/minions/x"),
        ("services", "default", "/registry/services/specs/default/x"),
        ("endpoints", "default", "/registry/services/endpoints/default/x"),
        ("replicationcontrollers", "default", "/registry/controllers/default/x"),
        ("deployments.apps", "default", "/registry/deployments/default/x"),
        ("clusterroles.rbac.authorization.k8s.io", "", "/registry/clusterroles/x"),
        ("namespaces", "", "/registry/namespaces/x"),
    ],
)
def test_keys_of_well_known_resources(name: str, namespace: str, key: str) -> None:
    assert registry_key(resource(name), namespace, "x") == key


def test_a_key_says_whose_it_is() -> None:
    rows = all_resources()
    first = {}  # of those that share a prefix, whichever group comes first
    for row in sorted(rows, key=lambda row: row.group):
        first.setdefault(resource_prefix(row), (row.group, row.plural))
    for row in rows:
        for namespace in ("default", ""):
            assert resource_of(registry_key(row, namespace, "x")) == first[resource_prefix(row)]
    assert resource_of("/registry/events/default/x") == ("", "events")
    assert resource_of("/registry/services/specs/default/x") == ("", "services")
    assert resource_of("/registry/services/endpoints/default/x") == ("", "endpoints")


@pytest.mark.parametrize(
    ("key", "whose"),
    [
        ("/registry/example.com/crontabs/default/x", ("example.com", "crontabs")),
        ("/registry/example.com/crontabs/x", ("example.com", "crontabs")),
        ("/registry/example.com/", None),
        ("/registry/example.com", None),
        ("/registry/ranges/serviceips", None),
        ("/registry/masterleases/192.0.2.1", None),
        ("/registry/services/x", None),
        ("compact_rev_key", None),
    ],
)
def test_a_key_with_a_group_is_a_custom_one_and_what_is_no_object_is_nobodys(
    key: str, whose: tuple[str, str] | None
) -> None:
    assert resource_of(key) == whose


def test_a_value_carries_no_version_and_gets_one_when_read() -> None:
    obj = {
        "kind": "ConfigMap",
        "apiVersion": "v1",
        "metadata": {"name": "a", "resourceVersion": "5"},
        "data": {"ä": "ö"},
    }
    value = encode_value(obj)
    assert b"resourceVersion" not in value
    assert decode_value(value, 7)["metadata"] == {"name": "a", "resourceVersion": "7"}
    assert obj["metadata"]["resourceVersion"] == "5"
