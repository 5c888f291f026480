"""Endpoints in canonical form (`repack`): the same addresses and ports, however they came."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.controllers.endpoints.subsets import repack_subsets


def packed(*subsets: dict[str, Any]) -> Any:
    endpoints = {"subsets": list(subsets)}
    repack_subsets(endpoints)
    return endpoints["subsets"]


A, B = {"ip": "10.0.0.1"}, {"ip": "10.0.0.2"}
HTTP, DNS = {"name": "a", "port": 80}, {"name": "b", "port": 53}


def test_without_subsets_nothing_is_packed() -> None:
    for endpoints in ({}, {"subsets": None}, {"subsets": []}):
        before = dict(endpoints)
        repack_subsets(endpoints)
        assert endpoints == before


def test_subsets_of_the_same_ports_become_one_with_its_addresses_in_order() -> None:
    assert packed({"addresses": [B], "ports": [HTTP]}, {"addresses": [A], "ports": [HTTP]}) == [
        {"addresses": [A, B], "ports": [HTTP]}
    ]


def test_ports_of_the_same_addresses_come_together_in_order() -> None:
    assert packed({"addresses": [A], "ports": [DNS]}, {"addresses": [A], "ports": [HTTP]}) == [
        {"addresses": [A], "ports": [HTTP, DNS]}
    ]


def test_ports_come_in_the_order_of_the_hashes_of_their_printed_forms() -> None:
    """As a real controller wrote them: scenario *endpoints*, the old form of ports by name."""
    http = {"name": "a", "port": 8080, "protocol": "TCP", "appProtocol": "http"}
    dns = {"name": "b", "port": 5353, "protocol": "UDP"}
    assert packed({"addresses": [A], "ports": [http, dns]}) == [{"addresses": [A], "ports": [dns, http]}]


def test_other_addresses_stay_apart_from_each_other() -> None:
    apart = {"addresses": [B], "ports": [DNS]}, {"addresses": [A], "ports": [HTTP]}
    assert sorted(packed(*apart), key=str) == sorted(apart, key=str)


def test_whoever_is_ready_and_not_ready_is_not_ready_whichever_was_said_first() -> None:
    ready, not_ready = {"addresses": [A], "ports": [HTTP]}, {"notReadyAddresses": [A], "ports": [HTTP]}
    assert packed(ready, not_ready) == packed(not_ready, ready) == [{"notReadyAddresses": [A], "ports": [HTTP]}]
    assert packed({"notReadyAddresses": [B, A], "ports": [HTTP]}) == [{"notReadyAddresses": [A, B], "ports": [HTTP]}]
    assert packed({"addresses": [A], "notReadyAddresses": [B], "ports": [HTTP]}) == [
        {"addresses": [A], "notReadyAddresses": [B], "ports": [HTTP]}
    ]


def test_ready_on_one_port_only_is_another_subset() -> None:
    assert packed({"addresses": [A], "ports": [HTTP]}, {"notReadyAddresses": [A], "ports": [DNS]}) == [
        {"addresses": [A], "ports": [HTTP]},
        {"notReadyAddresses": [A], "ports": [DNS]},
    ]


def test_one_address_of_two_pods_stays_two_and_of_two_spellings_the_first_counts() -> None:
    one, two = {**A, "targetRef": {"uid": "1"}}, {**A, "targetRef": {"uid": "2"}}
    assert packed({"addresses": [two, one], "ports": [HTTP]}) == [{"addresses": [one, two], "ports": [HTTP]}]
    named = {**A, "nodeName": "n"}
    assert packed({"addresses": [named, A], "ports": [HTTP]}) == [{"addresses": [named], "ports": [HTTP]}]


def test_a_headless_service_without_ports_keeps_its_addresses() -> None:
    assert packed({"addresses": [B, A]}, {"addresses": [A], "ports": []}) == [{"addresses": [A, B]}]


addresses = st.lists(st.sampled_from([A, B, {"ip": "10.0.0.3"}]), max_size=3, unique_by=lambda each: each["ip"])
subsets = st.lists(
    st.fixed_dictionaries(
        {"addresses": addresses, "notReadyAddresses": addresses, "ports": st.lists(st.sampled_from([HTTP, DNS]))}
    ),
    max_size=4,
)


@given(subsets)
def test_packing_twice_changes_nothing_more_and_the_order_is_of_no_account(given: list[dict[str, Any]]) -> None:
    once = packed(*given)
    assert packed(*once) == once
    assert packed(*reversed(given)) == once
