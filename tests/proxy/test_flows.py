"""Who reaches what: the facts of upstream's own tests of both modes, restated for the rules of both modes.

Upstream: `pkg/proxy/iptables/proxier_test.go`, `pkg/proxy/nftables/proxier_test.go` (the tables of `packetFlowTest`), v1.36.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts
from tests.proxy.flows import (
    BLOCKED,
    CONFIG,
    LOOPBACK,
    MODES,
    NODE_IP,
    OTHER_NODE_IP,
    POD,
    STRANGER,
    End,
    end,
)
from tests.proxy.shapes import endpoint, endpoint_slice, service

CLUSTER_IP, BALANCER, EXTERNAL_IP = "172.30.0.41", "1.2.3.4", "192.168.99.11"
HERE, THERE = "10.180.0.1:80", "10.180.1.1:80"
REJECT, DROP = end("REJECT"), end("DROP")


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def balancer(*ips: str, **entry: Any) -> Object:
    return {"loadBalancer": {"ingress": [{"ip": ip, **entry} for ip in ips]}}


def everywhere(**spec: Any) -> Object:
    """A Service that can be reached in all four ways."""
    more = {"externalIPs": [EXTERNAL_IP], "status": balancer(BALANCER), **spec}
    return service("s", CLUSTER_IP, type="LoadBalancer", node_port=3001, healthCheckNodePort=30000, **more)


def here_and_there() -> Object:
    ends = [endpoint("10.180.0.1", "here"), endpoint("10.180.1.1", "there")]
    return endpoint_slice("s", ends, port=80)


WAYS = {
    "cluster IP": (CLUSTER_IP, 80),
    "node port": (NODE_IP, 3001),
    "balancer": (BALANCER, 80),
    "external IP": (EXTERNAL_IP, 80),
}
OUTSIDE = ("node port", "balancer", "external IP")
WHO = {"pod": POD, "node": NODE_IP, "stranger": STRANGER}
BOTH = frozenset((HERE, THERE))
LOCAL = frozenset((HERE,))


def expected(policies: dict[str, str], *, cidr: bool, masquerade_all: bool) -> dict[tuple[str, str], End]:
    """The table upstream tests against, made from its reasons.

    The cluster IP is under the internal policy, everything else under the external one. Who is not a pod is masqueraded on the way to a
    cluster IP. On the way to an outside address everybody is, unless the policy is `Local`: then strangers keep their address and
    get local endpoints, while pods and the node itself go where they please – pods only if one can tell who is one.
    """
    found: dict[tuple[str, str], End] = {}
    for who in WHO:
        inside = LOCAL if policies.get("internalTrafficPolicy") == "Local" else BOTH
        found[who, "cluster IP"] = End(inside, masquerade_all or (cidr and who != "pod"))
        for way in OUTSIDE:
            if policies.get("externalTrafficPolicy") != "Local" or who == "node":
                found[who, way] = End(BOTH, True)
            elif who == "pod" and cidr:
                found[who, way] = End(BOTH, False)
            else:
                found[who, way] = End(LOCAL, False)
    return found


@pytest.mark.parametrize("policies", [{}, {"externalTrafficPolicy": "Local"}, {"internalTrafficPolicy": "Local"}])
@pytest.mark.parametrize("cidr", [True, False])
@pytest.mark.parametrize("masquerade_all", [True, False])
def test_policies_and_masquerading(mode: str, policies: dict[str, str], cidr: bool, masquerade_all: bool) -> None:
    config = replace(CONFIG, masquerade_all=masquerade_all, cluster_cidr=CONFIG.cluster_cidr if cidr else "")
    ask = MODES[mode]([everywhere(**policies)], [here_and_there()], config)
    found = {(who, way): ask(ip, *WAYS[way]) for who, ip in WHO.items() for way in WAYS}
    assert found == expected(policies, cidr=cidr, masquerade_all=masquerade_all)


def test_without_endpoints_pods_and_strangers_are_refused_everywhere(mode: str) -> None:
    """The node itself is at the cluster IP; its way to the other addresses passes no chain that would refuse it."""
    ask = MODES[mode]([everywhere()], [])
    assert {ask(ip, *way) for ip in (POD, STRANGER) for way in WAYS.values()} == {REJECT}
    assert ask(NODE_IP, CLUSTER_IP, 80) == REJECT


def test_a_cluster_ip_by_protocol_and_port(mode: str) -> None:
    ports = [
        ("http", 80, "TCP", 80),
        ("https", 443, "TCP", 8443),
        ("udp", 53, "UDP", 53),
        ("tcp", 53, "TCP", 5353),
        ("sctp", 53, "SCTP", 53),
    ]
    many = service("s", CLUSTER_IP, ports=[{"name": n, "port": port, "protocol": p} for n, port, p, _ in ports])
    one = service("t", "172.30.0.42")
    slices = here_and_there(), endpoint_slice("t", [endpoint("10.180.0.1", "here")], port=80)
    slices[0]["ports"] = [{"name": n, "port": target, "protocol": p} for n, _, p, target in ports]
    ask = MODES[mode]([many, one], slices)
    for _, port, protocol, target in ports:
        assert ask(POD, CLUSTER_IP, port, protocol.lower()) == end(f"10.180.0.1:{target}", f"10.180.1.1:{target}")
    assert ask(POD, "172.30.0.42", 80) == end(HERE)
    assert ask("10.180.0.1", "172.30.0.42", 80) == end(HERE, masqueraded=True)  # to itself, by a detour
    # what no Service has: the iptables mode lets it go on, the nftables mode answers for the whole range
    strange = [ask(POD, CLUSTER_IP, 80, "udp"), ask(POD, "172.30.0.42", 443), ask(POD, "172.30.0.50", 80)]
    passed = [end("172.30.0.41:80"), end("172.30.0.42:443"), end("172.30.0.50:80")]
    assert strange == (passed if mode == "iptables" else [REJECT, REJECT, DROP])


def test_source_ranges_of_a_balancer(mode: str) -> None:
    other = "5.6.7.8"
    ranges = ["192.168.0.0/24", " 203.0.113.0/25"]
    fenced = service(
        "s",
        CLUSTER_IP,
        type="LoadBalancer",
        node_port=3001,
        loadBalancerSourceRanges=ranges,
        status=balancer(BALANCER, other),
    )
    ask = MODES[mode]([fenced], [endpoint_slice("s", [endpoint("10.180.0.1")], port=80)])
    inside, through = end(HERE), end(HERE, masqueraded=True)
    assert ask(POD, CLUSTER_IP, 80) == inside
    assert ask(STRANGER, NODE_IP, 3001) == ask(BLOCKED, NODE_IP, 3001) == through  # node ports have no fence
    for vip in (BALANCER, other):
        assert ask(STRANGER, vip, 80) == ask(NODE_IP, vip, 80) == through
        assert ask(BLOCKED, vip, 80) == ask(POD, vip, 80) == DROP
        assert ask(vip, vip, 80) == through  # the node itself, in whose range the node is


@pytest.mark.parametrize(("ip_mode", "taken"), [("Proxy", False), ("VIP", True), (None, True)])
def test_a_balancer_that_hands_on_nothing_of_its_own_address_is_not_caught(
    mode: str, ip_mode: str | None, taken: bool
) -> None:
    entry = {"ipMode": ip_mode} if ip_mode else {}
    balanced = service("s", CLUSTER_IP, type="LoadBalancer", node_port=3001, status=balancer(BALANCER, **entry))
    ask = MODES[mode]([balanced], [here_and_there()])
    assert ask(STRANGER, BALANCER, 80) == (End(BOTH, True) if taken else end(f"{BALANCER}:80"))


READY: dict[str, bool] = {"ready": True, "serving": True, "terminating": False}
GOING = {"ready": False, "serving": True, "terminating": True}
GONE = {"ready": False, "serving": False, "terminating": True}
STATES = {
    "ready ones": ([(1, "here", READY), (2, "here", READY), (3, "here", GOING), (4, "here", GONE), (5, "there", READY)], {1, 2, 5}, {1, 2}),
    "ready ones, but none here": ([(2, "here", GOING), (3, "here", GOING), (4, "here", GONE), (5, "there", READY)], {5}, {2, 3}),
    "only going ones": ([(2, "here", GOING), (3, "here", GOING), (4, "there", GONE), (5, "there", GOING)], {2, 3, 5}, {2, 3}),
    "a going one elsewhere": ([(5, "there", GOING)], {5}, set()),
    "only gone ones": ([(5, "here", GONE), (6, "there", GONE)], None, None),
}  # fmt: skip


@pytest.mark.parametrize("policy", ["Cluster", "Local"])
@pytest.mark.parametrize("state", STATES)
def test_endpoints_that_are_going_away(mode: str, policy: str, state: str) -> None:
    ends, everybodys, ours = STATES[state]
    slices = [endpoint_slice("s", [endpoint(f"10.0.1.{n}", node, **how) for n, node, how in ends], port=80)]
    ask = MODES[mode]([everywhere(externalTrafficPolicy=policy)], slices)

    def at(numbers: set[int] | None) -> set[str]:
        return {"REJECT"} if numbers is None else {f"10.0.1.{n}:80" for n in numbers} or {"DROP"}

    inside, outside = ask(POD, CLUSTER_IP, 80), ask(STRANGER, BALANCER, 80)
    assert inside == End(frozenset(at(everybodys)))
    assert outside.at == at(ours if policy == "Local" else everybodys)
    assert outside.masqueraded == (policy == "Cluster" and everybodys is not None)


@pytest.mark.parametrize(
    ("nodes", "local"), [(("here", "a", "b"), {1}), (("here", "here", "b"), {1, 2}), (("a", "b", "c"), set())]
)
def test_the_internal_policy(mode: str, nodes: tuple[str, ...], local: set[int]) -> None:
    slices = [endpoint_slice("s", [endpoint(f"10.0.1.{n}", node) for n, node in enumerate(nodes, 1)], port=80)]
    for policy, numbers in (("Cluster", {1, 2, 3}), ("Local", local)):
        ask = MODES[mode]([service("s", CLUSTER_IP, internalTrafficPolicy=policy)], slices)
        assert ask(POD, CLUSTER_IP, 80).at == ({f"10.0.1.{n}:80" for n in numbers} or {"DROP"})


@pytest.mark.parametrize("distribution", ["zone", "node"])
def test_hints_bind_all_but_local_traffic(mode: str, distribution: str) -> None:
    near: Object = {"forZones": [{"name": "a"}], "forNodes": [{"name": "here"}]}
    far: Object = {"forZones": [{"name": "b"}], "forNodes": [{"name": "there"}]}
    if distribution == "zone":
        del near["forNodes"], far["forNodes"]
    ends = [
        endpoint("10.0.1.1", "here", hints=near),
        endpoint("10.0.1.2", "here", hints=far),
        endpoint("10.0.1.3", hints=far),
    ]
    node = NodeFacts("here", NODE_IP, {"topology.kubernetes.io/zone": "a"})
    ask = MODES[mode]([everywhere(externalTrafficPolicy="Local")], [endpoint_slice("s", ends, port=80)], CONFIG, node)
    assert ask(POD, CLUSTER_IP, 80) == end("10.0.1.1:80")
    assert ask(STRANGER, BALANCER, 80) == end("10.0.1.1:80", "10.0.1.2:80")  # those of this node, whatever is hinted


V6 = NodeFacts("here", "2001:db8::1", other_addresses=("2001:db8:1::2",))
V4 = NodeFacts("here", NODE_IP, other_addresses=(OTHER_NODE_IP,))


@pytest.mark.parametrize("node", [V4, V6], ids=["IPv4", "IPv6"])
@pytest.mark.parametrize("localhost", [True, False])
@pytest.mark.parametrize(
    ("networks", "own", "other", "loopback"),
    [
        ((), True, None, None),
        (("192.168.0.0/24", "2001:db8::/64"), True, False, False),
        (("192.168.0.0/24", "192.168.1.0/24", "2001:db8::/64", "2001:db8:1::2/128"), True, True, False),
        (("192.168.1.0/24", "2001:db8:1::/64", "127.0.0.0/8"), False, True, None),
        (("0.0.0.0/0", "::/0"), True, True, None),
    ],
)
def test_node_ports_answer_on_the_named_addresses(
    mode: str,
    node: NodeFacts,
    localhost: bool,
    networks: tuple[str, ...],
    own: bool,
    other: bool | None,
    loopback: bool | None,
) -> None:
    """None: it depends on the mode. If none are named, iptables answers on all and nftables on the first address.
    Loopback answers in iptables only, and only where it is allowed and meant."""
    v6 = ":" in node.ip
    ends = ["fd00:10:180::1", "fd00:10:180::2:1"] if v6 else ["10.180.0.1", "10.180.2.1"]
    piece = endpoint_slice("s", [endpoint(ends[0]), endpoint(ends[1], "here")], port=80)
    piece["addressType"] = "IPv6" if v6 else "IPv4"
    config = replace(
        CONFIG,
        node_port_addresses=networks,
        localhost_node_ports=localhost,
        cluster_cidr="fd00:10::/64" if v6 else CONFIG.cluster_cidr,
    )
    port = service("s", "fd00:172:30::41" if v6 else CLUSTER_IP, type="NodePort", node_port=3001)
    ask = MODES[mode]([port], [piece], config, node)
    reached = End(frozenset(f"[{ip}]:80" if v6 else f"{ip}:80" for ip in ends), True)
    stranger = "2600:5200::1" if v6 else STRANGER

    def answers(address: str, source: str) -> bool:
        found = ask(source, address, 3001)
        assert found in (reached, end(f"[{address}]:3001" if v6 else f"{address}:3001"))
        return found == reached

    assert answers(node.ip, stranger) == answers(node.ip, node.ip) == own
    assert answers(node.other_addresses[0], stranger) == (mode == "iptables" if other is None else other)
    if not v6:
        meant = mode == "iptables" and localhost if loopback is None else loopback
        assert answers(LOOPBACK, LOOPBACK) == meant


def test_addresses_spelled_in_old_ways_are_rewritten(mode: str) -> None:
    """Stored before validation became strict."""
    odd = service(
        "s",
        "172.30.0.041",
        type="LoadBalancer",
        node_port=3001,
        externalIPs=["192.168.099.011", "::ffff:192.168.99.12"],
        loadBalancerSourceRanges=["203.0.113.000/025"],
        status=balancer("1.2.3.004"),
    )
    ask = MODES[mode]([odd], [endpoint_slice("s", [endpoint("10.180.00.001")], port=80)])
    assert ask(POD, CLUSTER_IP, 80) == end(HERE)
    for address in (EXTERNAL_IP, "192.168.99.12", BALANCER):
        assert ask(STRANGER, address, 80) == end(HERE, masqueraded=True)
    assert ask(BLOCKED, BALANCER, 80) == DROP


def test_an_external_ip_of_the_other_family_makes_a_service_external_all_the_same(mode: str) -> None:
    both = service("s", CLUSTER_IP, externalIPs=[EXTERNAL_IP], externalTrafficPolicy="Local")
    ask = MODES[mode]([both], [here_and_there()])
    assert ask(STRANGER, EXTERNAL_IP, 80) == end(HERE)
