"""Claims and volumes: which volume a claim gets, and how the bond is written (`pv_helpers.go`)."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import (
    BETA_STORAGE_CLASS,
    BIND_COMPLETED,
    BOUND_BY_CONTROLLER,
    bound_to,
    find_matching_volume,
    fits_node,
    is_bound_to,
    is_fully_bound,
    storage_class_of,
)

META = {"namespace": "ns", "name": "data", "uid": "u1"}
KEPT = {"namespace": "ns", "name": "data"}


def claim(storage: str | None = "5Gi", **spec: Any) -> Object:
    resources = {"resources": {"requests": {"storage": storage}}} if storage else {}
    return {"metadata": dict(META), "spec": {"accessModes": ["ReadWriteOnce"], **resources, **spec}}


def volume(name: str, storage: str | None = "5Gi", phase: str = "Available", **spec: Any) -> Object:
    capacity = {"capacity": {"storage": storage}} if storage else {}
    return {
        "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce", "ReadOnlyMany"], **capacity, **spec},
        "status": {"phase": phase},
    }


def chosen(asks: Object, *volumes: Object, **options: Any) -> str | None:
    options = {"labels": None, "excluded": set()} | options
    best = find_matching_volume(asks, volumes, **options)
    return best and best["metadata"]["name"]


def test_the_smallest_volume_that_is_large_enough_is_chosen_and_the_first_of_equals() -> None:
    sizes = [volume("large", "20Gi"), volume("small", "4Gi"), volume("right", "6Gi"), volume("same", "6Gi")]
    assert chosen(claim(), *sizes) == "right"
    assert chosen(claim(), volume("exact"), volume("larger", "6Gi")) == "exact"
    assert chosen(claim("7Gi"), *sizes) == "large"
    assert chosen(claim("21Gi"), *sizes) is None
    assert chosen(claim(None), *sizes) == "small"
    assert chosen(claim(), volume("none", None)) is None
    assert chosen(claim(), *sizes, excluded={"right"}) == "same"


@pytest.mark.parametrize(
    ("asks", "offers"),
    [
        ({"volumeMode": "Block"}, {}),
        ({}, {"volumeMode": "Block"}),
        ({"volumeAttributesClassName": "gold"}, {}),
        ({}, {"volumeAttributesClassName": "gold"}),
        ({"storageClassName": "fast"}, {}),
        ({}, {"storageClassName": "fast"}),
        ({"accessModes": ["ReadWriteMany"]}, {}),
        ({"accessModes": ["ReadWriteOnce", "ReadWriteMany"]}, {}),
        ({"selector": {"matchLabels": {"tier": "gold"}}}, {}),
        ({}, {"claimRef": {"namespace": "ns", "name": "other"}}),
        ({}, {"claimRef": {"namespace": "other", "name": "data"}}),
        ({}, {"claimRef": {**KEPT, "uid": "u2"}}),
    ],
)  # fmt: skip
def test_a_volume_that_is_other_than_asked_for_is_left_alone(asks: Object, offers: Object) -> None:
    assert chosen(claim(**asks), volume("v", **offers)) is None


@pytest.mark.parametrize(
    ("asks", "offers"),
    [
        ({"volumeMode": "Block"}, {"volumeMode": "Block"}),
        ({"volumeMode": "Filesystem"}, {}),
        ({}, {"volumeMode": "Filesystem"}),
        ({"volumeAttributesClassName": "gold"}, {"volumeAttributesClassName": "gold"}),
        ({"storageClassName": "fast"}, {"storageClassName": "fast"}),
        ({"accessModes": ["ReadOnlyMany"]}, {}),
        ({"accessModes": None}, {}),
        ({"selector": {}}, {}),
    ],
)  # fmt: skip
def test_a_volume_that_has_what_is_asked_for_is_taken(asks: Object, offers: Object) -> None:
    assert chosen(claim(**asks), volume("v", **offers)) == "v"


def test_a_selector_looks_at_the_volumes_labels() -> None:
    gold = volume("gold", "9Gi")
    gold["metadata"]["labels"] = {"tier": "gold"}
    asks = claim(selector={"matchLabels": {"tier": "gold"}})
    assert chosen(asks, volume("plain"), gold) == "gold"


@pytest.mark.parametrize("phase", ["Bound", "Released", "Failed", "Pending"])
def test_only_an_available_volume_is_free(phase: str) -> None:
    assert chosen(claim(), volume("v", phase=phase)) is None
    assert chosen(claim(), volume("v", phase=phase, claimRef=KEPT)) == "v", "but one that is kept is"


def test_a_volume_kept_for_the_claim_comes_before_any_better_one() -> None:
    kept = volume("kept", "50Gi", claimRef=KEPT, storageClassName="other")
    assert chosen(claim(), volume("better"), kept) == "kept"
    assert chosen(claim(), volume("free"), only_kept=True) is None
    assert chosen(claim(), volume("free"), kept, only_kept=True) == "kept"
    assert chosen(claim("60Gi"), volume("better", "70Gi"), kept) == "better", "one that is too small is none"


def test_a_volume_that_is_going_is_not_chosen() -> None:
    for going in (volume("v"), volume("v", claimRef=KEPT)):
        going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
        assert chosen(claim(), going) is None


def on(zone: str) -> Object:
    expressions = [{"key": "zone", "operator": "In", "values": [zone]}]
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": expressions}]}}


def test_a_volume_must_be_within_reach_of_the_node_if_there_is_one() -> None:
    here, there = volume("here", nodeAffinity=on("a")), volume("there", "4Gi", nodeAffinity=on("b"))
    assert chosen(claim("1Gi"), there, here, labels={"zone": "a"}) == "here"
    assert chosen(claim("1Gi"), here, there, labels=None) == "there"
    kept = volume("kept", claimRef=KEPT, nodeAffinity=on("b"))
    assert chosen(claim(), kept, here, labels={"zone": "a"}) is None, "kept, out of reach: then none"


def test_a_volume_without_affinity_can_be_reached_from_everywhere_and_without_terms_from_nowhere() -> None:
    assert fits_node(volume("v"), {})
    assert fits_node(volume("v", nodeAffinity={}), {})
    assert not fits_node(volume("v", nodeAffinity={"required": {}}), {})
    assert fits_node(volume("v", nodeAffinity=on("a")), {"zone": "a"})
    assert not fits_node(volume("v", nodeAffinity=on("a")), {"zone": "b"})


@pytest.mark.parametrize(
    ("reference", "bound"),
    [
        (None, False), (KEPT, True), ({**KEPT, "uid": ""}, True), ({**KEPT, "uid": "u1"}, True),
        ({**KEPT, "uid": "u2"}, False), ({"namespace": "x", "name": "data"}, False),
        ({"namespace": "ns", "name": "x"}, False),
    ],
)  # fmt: skip
def test_a_volume_is_bound_to_the_claim_it_names_and_to_no_later_one_of_that_name(reference: Any, bound: bool) -> None:
    named = volume("v") if reference is None else volume("v", claimRef=reference)
    assert is_bound_to(named, claim()) is bound


def test_a_claim_is_bound_when_both_sides_know() -> None:
    both = claim(volumeName="v")
    assert not is_fully_bound(both)
    both["metadata"]["annotations"] = {BIND_COMPLETED: "yes"}
    assert is_fully_bound(both)
    both["spec"]["volumeName"] = ""
    assert not is_fully_bound(both)


def test_the_annotation_says_the_class_before_the_field_even_if_it_says_none() -> None:
    plain = claim(storageClassName="field")
    assert storage_class_of(plain) == "field"
    assert storage_class_of(claim()) == ""
    plain["metadata"]["annotations"] = {BETA_STORAGE_CLASS: "old"}
    assert storage_class_of(plain) == "old"
    plain["metadata"]["annotations"] = {BETA_STORAGE_CLASS: ""}
    assert storage_class_of(plain) == ""


def test_a_bond_names_the_claim_and_says_who_made_it() -> None:
    free, asks = volume("v"), claim()
    asks["metadata"]["resourceVersion"] = "7"
    free["metadata"]["annotations"] = {"a": "b"}
    bond = bound_to(free, asks)
    reference = {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "namespace": "ns", "name": "data", "uid": "u1"}
    assert bond["spec"]["claimRef"] == {**reference, "resourceVersion": "7"}
    assert bond["metadata"]["annotations"] == {"a": "b", BOUND_BY_CONTROLLER: "yes"}
    assert "claimRef" not in free["spec"]
    assert free["metadata"]["annotations"] == {"a": "b"}
    kept = bound_to(volume("v", claimRef=KEPT), claim())
    assert kept["spec"]["claimRef"] == reference, "and the uid is written where it was missing"
    assert kept["metadata"] == {"name": "v"}, "whoever kept it has bound it, not the controller"
