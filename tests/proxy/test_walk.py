"""A packet's way through rules as text: the right chains, the right shares, and the same rules that a kernel counts."""

from __future__ import annotations

import asyncio
import random
import re
from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifecycle.agreements.proxy.iptables_rules import recorded_objects
from lifecycle.cluster.packet_laboratory import PODS, plug_in_pods, who_answers
from lifecycle.inspector import open_recording
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.rule_text import parse_saved
from lifecycle.proxy.iptables.runner import CommandRunner
from lifecycle.proxy.iptables.walk import DROP, REJECT, Node, Packet, Walk, outcomes, walk
from tests.proxy.flows import saved_rules
from tests.proxy.namespace import inside, network_namespace
from tests.proxy.shapes import NODE, endpoint, endpoint_slice, everything, service
from tests.proxy.test_real_iptables import _proxy

POD, STRANGER = "10.244.1.99", "203.0.113.7"


def node(services: list[Any], slices: list[Any]) -> Node:
    return Node(parse_saved(saved_rules(services, slices, ProxierConfig(), NODE)), {NODE.ip})


def ends(ways: list[Walk]) -> dict[str, float]:
    found: Counter[str] = Counter()
    for way in ways:
        found[way.destination] += float(way.probability)  # type: ignore[assignment]
    return dict(found)


EVERYTHING = node(*everything())


def test_a_pod_reaches_a_service_through_three_chains_of_its_own() -> None:
    way = walk(EVERYTHING, Packet(POD, "10.96.0.11", 80), random.Random(1).random)
    assert [chain[:8] for chain in way.chains[:4]] == ["PREROUTI", "KUBE-SER", "KUBE-SVC", "KUBE-SEP"]
    assert way.destination in ("10.244.1.5:8080", "10.244.2.6:8080")
    assert not way.masqueraded


def test_who_is_not_a_pod_gets_the_nodes_address() -> None:
    assert all(way.masqueraded for way in outcomes(EVERYTHING, Packet(STRANGER, "10.96.0.11", 80)))
    assert all(way.masqueraded for way in outcomes(EVERYTHING, Packet(NODE.ip, "10.96.0.11", 80), from_node=True))


def test_a_pod_that_reaches_itself_gets_the_nodes_address() -> None:
    by_end = {way.destination: way.masqueraded for way in outcomes(EVERYTHING, Packet("10.244.1.5", "10.96.0.11", 80))}
    assert by_end == {"10.244.1.5:8080": True, "10.244.2.6:8080": False}


@pytest.mark.parametrize(
    ("source", "to", "port", "found"),
    [
        (POD, "10.96.0.12", 80, {REJECT}),  # no endpoints
        (STRANGER, NODE.ip, 30012, {REJECT}),
        (STRANGER, NODE.ip, 30016, {DROP}),  # Local, and none here
        (POD, "10.96.0.16", 80, {"10.244.2.7:8080"}),  # which does not matter inside
        (POD, "10.96.0.17", 80, {"10.244.1.5:8080"}),  # internal traffic stays here
        (POD, "10.96.0.18", 80, {DROP}),
        (STRANGER, "203.0.113.9", 80, {DROP}),  # not from an allowed range
        ("198.51.100.9", "203.0.113.9", 80, {"10.244.1.5:8080", "10.244.2.6:8080"}),
        (STRANGER, NODE.ip, 22, {f"{NODE.ip}:22"}),  # no Service at all
    ],
)
def test_where_a_packet_ends(source: str, to: str, port: int, found: set[str]) -> None:
    objects = everything()
    # two balancers share an address here; the open one would answer first
    objects[0][:] = [obj for obj in objects[0] if obj["metadata"]["name"] not in ("balanced", "gone-balanced")]
    assert set(ends(outcomes(node(*objects), Packet(source, to, port)))) == found


def test_local_traffic_policy_keeps_the_clients_address() -> None:
    local = service("l", "10.96.0.30", type="NodePort", node_port=30030, externalTrafficPolicy="Local")
    here = node([local], [endpoint_slice("l", [endpoint("10.244.1.5", "here"), endpoint("10.244.2.6")])])
    [way] = outcomes(here, Packet(STRANGER, NODE.ip, 30030))
    assert (way.destination, way.masqueraded) == ("10.244.1.5:8080", False)


def test_a_sticky_client_stays_where_it_was() -> None:
    machine, dice = node(*everything()), random.Random(3).random
    for client in (POD, "10.244.1.98", "10.244.1.97"):
        first, *others = [walk(machine, Packet(client, "10.96.0.14", 80), dice).destination for _ in range(8)]
        assert set(others) == {first}


@given(st.integers(1, 40))
def test_each_endpoint_gets_the_same_share_exactly(count: int) -> None:
    addresses = [f"10.244.2.{n}" for n in range(1, count + 1)]
    machine = node([service("s", "10.96.0.40")], [endpoint_slice("s", [endpoint(ip) for ip in addresses])])
    ways = outcomes(machine, Packet(POD, "10.96.0.40", 80))
    assert sum(way.probability for way in ways) == 1
    assert {way.destination for way in ways} == {f"{ip}:8080" for ip in addresses}
    # a probability is a multiple of 2^-31, so a share is right to within the number of throws of that
    assert all(abs(way.probability - Fraction(1, count)) <= Fraction(count, 2**31) for way in ways)


def test_the_recorded_nodes_lead_where_the_recorded_slices_say() -> None:
    """kube-proxy's own rules, walked by us, end at the ready endpoints of each Service, each with its share."""
    recording = open_recording()
    services, slices = recorded_objects(recording, "services")
    machine = Node(parse_saved(recording.node("lifecycle-worker").run("iptables-save", moment="services")))
    walked = 0
    for obj in services:
        spec, meta = obj["spec"], obj["metadata"]
        if spec.get("clusterIP") in (None, "None") or spec.get("internalTrafficPolicy") == "Local":
            continue
        for port in spec["ports"]:
            expected = set()
            for piece in slices:
                if piece["metadata"]["labels"].get("kubernetes.io/service-name") != meta["name"]:
                    continue
                numbers = [p["port"] for p in piece.get("ports") or () if p["name"] == port.get("name", "")]
                for end in piece.get("endpoints") or ():
                    if end["conditions"].get("ready", True):
                        expected |= {f"{end['addresses'][0]}:{number}" for number in numbers}
            found = ends(outcomes(machine, Packet(POD, spec["clusterIP"], port["port"], port["protocol"].lower())))
            assert set(found) == (expected or {REJECT}), meta["name"]
            assert max(found.values()) - min(found.values()) < 1e-8
            walked += 1
    assert walked > 12


def test_what_is_not_understood_is_not_passed_over() -> None:
    strange = "*nat\n:PREROUTING ACCEPT [0:0]\n-A PREROUTING -m u32 --u32 0 -j ACCEPT\nCOMMIT\n"
    with pytest.raises(ValueError, match=r"-m u32 is not known here: -A PREROUTING -m u32 --u32 0 -j ACCEPT$"):
        walk(Node(parse_saved(strange)), Packet(POD, "10.96.0.1", 443), random.random)
    with pytest.raises(ValueError, match=r"not understood: -A NOWHERE -j ACCEPT$"):
        parse_saved("*nat\n-A NOWHERE -j ACCEPT\n")
    circle = "*nat\n:PREROUTING ACCEPT [0:0]\n:A - [0:0]\n-A PREROUTING -j A\n-A A -j A\nCOMMIT\n"
    with pytest.raises(ValueError, match=r"A leads back to itself$"):
        walk(Node(parse_saved(circle)), Packet(POD, "10.96.0.1", 443), random.random)


@pytest.mark.real
def test_the_kernel_counts_the_rules_that_we_walk() -> None:
    """One connection through real rules: those whose counters rose are those that our walk to the same end passes."""
    with network_namespace("walk") as namespace:
        plug_in_pods(namespace)
        asyncio.run(_proxy(CommandRunner(namespace)))
        before = _counted(inside(namespace, "iptables-save", "-c", "-t", "nat"))
        calls = [("web", "10.96.0.50", 80, 1)]
        [reached] = who_answers(namespace, calls)["web"]
        after = _counted(inside(namespace, "iptables-save", "-c", "-t", "nat"))
        text = inside(namespace, "iptables-save")
    hit = {rule for rule, count in after.items() if count > before.get(rule, 0)}
    machine = Node(parse_saved(text), set(PODS))
    ways = outcomes(machine, Packet(PODS[0], "10.96.0.50", 80), from_node=True)
    [ours] = [way for way in ways if way.destination == f"{reached}:8080"]
    walked = {step.rule.text for step in ours.steps if step.table == "nat"}
    assert walked == hit


def _counted(text: str) -> dict[str, int]:
    found = re.findall(r"^\[(\d+):\d+\] (-A .*)$", text, re.MULTILINE)
    return {rule: int(count) for count, rule in found}
