"""Hand-made Endpoints as slices: what is written if they change, and what is taken along."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.controllers.endpointslicemirroring.mirrored_slices import mirror

FOUR, FIVE, SIX = {"ip": "10.0.0.4"}, {"ip": "10.0.0.5"}, {"ip": "fd00::6"}
HTTP, DNS = {"name": "http", "port": 80, "protocol": "TCP"}, {"name": "dns", "port": 53, "protocol": "UDP"}
NAMED: dict[str, Any] = {"name": "e", "namespace": "shop", "uid": "u"}


def endpoints(*subsets: dict[str, Any], **meta: Any) -> dict[str, Any]:
    return {"metadata": {**NAMED, **meta}, "subsets": list(subsets)}


def subset(*addresses: dict[str, Any], ports: Any = (HTTP,), not_ready: Any = ()) -> dict[str, Any]:
    return {"addresses": list(addresses), "notReadyAddresses": list(not_ready), "ports": list(ports)}


def stored(number: int, made: dict[str, Any]) -> dict[str, Any]:
    meta = {key: value for key, value in made["metadata"].items() if key != "generateName"}
    return {**made, "metadata": {**meta, "name": f"e-{number}", "resourceVersion": "7", "uid": f"s{number}"}}


def slices_of(of: dict[str, Any]) -> list[dict[str, Any]]:
    return [stored(number, made) for number, made in enumerate(mirror(of, ()).create)]


def said(each: dict[str, Any]) -> tuple[str, list[tuple[str, bool]], list[int]]:
    ends = [(e["addresses"][0], e["conditions"]["ready"]) for e in each["endpoints"]]
    return each["addressType"], ends, [port["port"] for port in each["ports"] or ()]


@pytest.mark.parametrize(
    ("subsets", "slices"),
    [
        ([], []),
        ([subset(FOUR)], [("IPv4", [("10.0.0.4", True)], [80])]),
        ([subset(FOUR, FIVE)], [("IPv4", [("10.0.0.4", True), ("10.0.0.5", True)], [80])]),
        ([subset(FOUR, SIX)], [("IPv4", [("10.0.0.4", True)], [80]), ("IPv6", [("fd00::6", True)], [80])]),
        ([subset(FOUR, not_ready=[FIVE])], [("IPv4", [("10.0.0.4", True), ("10.0.0.5", False)], [80])]),
        ([subset(FOUR), subset(FIVE, ports=[DNS])], [("IPv4", [("10.0.0.4", True)], [80]), ("IPv4", [("10.0.0.5", True)], [53])]),
        ([subset(FOUR), subset(FIVE)], [("IPv4", [("10.0.0.4", True), ("10.0.0.5", True)], [80])]),
        ([subset(FOUR, ports=[])], [("IPv4", [("10.0.0.4", True)], [])]),
    ],
)  # fmt: skip
def test_one_slice_for_each_family_and_each_set_of_ports(subsets: list[dict[str, Any]], slices: list[Any]) -> None:
    """Upstream: `endpointslicemirroring/reconciler.go` (`reconcile`)."""
    changes = mirror(endpoints(*subsets), ())
    assert [said(each) for each in changes.create] == slices
    assert (changes.update, changes.delete, changes.invalid, changes.too_many) == ([], [], 0, 0)


def test_what_is_no_address_and_what_is_too_much_is_left_out_and_counted() -> None:
    many = [{"ip": f"10.1.{number // 250}.{number % 250}"} for number in range(1001)]
    changes = mirror(endpoints(subset({"ip": "nowhere"}, *many, not_ready=[FIVE])), ())
    [made] = changes.create
    assert (len(made["endpoints"]), changes.invalid, changes.too_many) == (1000, 1, 2)
    assert said(made)[1][-1] == ("10.1.3.249", True)


def test_a_slice_is_labelled_as_its_endpoints_are_and_says_whose_it_is() -> None:
    """But for notes that are about the Endpoints themselves. Upstream: `newEndpointSlice`."""
    notes = {
        "kubectl.kubernetes.io/last-applied-configuration": "{}",
        "endpoints.kubernetes.io/last-change-trigger-time": "now",
        "own": "note",
    }
    [made] = mirror(endpoints(subset(FOUR), labels={"a": "b"}, annotations=notes), ()).create
    assert made["metadata"] == {
        "generateName": "e-",
        "namespace": "shop",
        "labels": {
            "a": "b",
            "kubernetes.io/service-name": "e",
            "endpointslice.kubernetes.io/managed-by": "endpointslicemirroring-controller.k8s.io",
        },
        "annotations": {"own": "note"},
        "ownerReferences": [
            {
                "apiVersion": "v1",
                "kind": "Endpoints",
                "name": "e",
                "uid": "u",
                "controller": True,
                "blockOwnerDeletion": True,
            }
        ],
    }


BEFORE = endpoints(subset(FOUR), subset(FIVE, ports=[DNS]))
CHANGED: dict[str, tuple[dict[str, Any], list[str], list[str], int]] = {
    # what it is now; the slices that are updated and deleted; how many are made
    "the same": (BEFORE, [], [], 0),
    "in another order": (endpoints(subset(FIVE, ports=[DNS]), subset(FOUR)), [], [], 0),
    "one more address": (endpoints(subset(FOUR, {"ip": "10.0.0.9"}), subset(FIVE, ports=[DNS])), ["e-0"], [], 0),
    "another address": (endpoints(subset({"ip": "10.0.0.9"}), subset(FIVE, ports=[DNS])), ["e-0"], [], 0),
    "no longer ready": (endpoints(subset(not_ready=[FOUR]), subset(FIVE, ports=[DNS])), ["e-0"], [], 0),
    "another label": (endpoints(*BEFORE["subsets"], labels={"a": "b"}), ["e-0", "e-1"], [], 0),
    "another note": (endpoints(*BEFORE["subsets"], annotations={"a": "b"}), ["e-0", "e-1"], [], 0),
    "one set of ports less": (endpoints(subset(FOUR)), [], ["e-1"], 0),
    "one set of ports more": (
        endpoints(*BEFORE["subsets"], subset(FOUR, ports=[{"name": "x", "port": 7, "protocol": "TCP"}])), [], [], 1,
    ),
    "another set of ports": (
        endpoints(subset(FOUR), subset(FIVE, ports=[{"name": "x", "port": 7, "protocol": "TCP"}])), ["e-1"], [], 0,
    ),
    "nothing any more": (endpoints(), [], ["e-0", "e-1"], 0),
}  # fmt: skip


@pytest.mark.parametrize("case", CHANGED)
def test_what_says_the_same_is_left_alone_and_what_has_gone_is_used_again(case: str) -> None:
    """Upstream: `reconcileByPortMapping`, `recycleSlices`."""
    now, updated, deleted, created = CHANGED[case]
    changes = mirror(now, slices_of(BEFORE))
    names = [[each["metadata"]["name"] for each in some] for some in (changes.update, changes.delete)]
    assert ([sorted(each) for each in names], len(changes.create)) == ([updated, deleted], created)
    wanted = sorted(map(repr, map(said, mirror(now, ()).create)))
    kept = {each["metadata"]["name"]: each for each in [*slices_of(BEFORE), *changes.update]}
    left = [each for name, each in kept.items() if name not in names[1]]
    assert sorted(map(repr, map(said, [*left, *changes.create]))) == wanted


def test_of_two_slices_for_the_same_the_first_is_kept() -> None:
    [one] = slices_of(endpoints(subset(FOUR)))
    changes = mirror(endpoints(subset(FOUR)), [one, stored(7, one), stored(8, one)])
    assert [each["metadata"]["name"] for each in changes.delete] == ["e-7", "e-8"]
    assert (changes.create, changes.update) == ([], [])
