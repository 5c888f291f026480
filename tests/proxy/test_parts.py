"""The parts that rules are made with: when a sync runs, which addresses answer, who may be chosen, what programs are asked."""

from __future__ import annotations

import asyncio
import errno
import socket
from fractions import Fraction
from typing import Any

import pytest

from lifecycle.api.clock import Clock, run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.cni.netlink.wire import nested
from lifecycle.proxy import kernel_conntrack
from lifecycle.proxy.bounded_frequency_runner import BoundedFrequencyRunner
from lifecycle.proxy.conntrack import Flow
from lifecycle.proxy.endpoints_map import Endpoint, EndpointsMap
from lifecycle.proxy.iptables.config import ProxierConfig
from lifecycle.proxy.iptables.owners import chain_owner, saved_lines
from lifecycle.proxy.iptables.proxier import Proxier
from lifecycle.proxy.iptables.rule_text import parse_rule, parse_saved
from lifecycle.proxy.iptables.runner import WAIT, CommandRunner, TextRunner
from lifecycle.proxy.iptables.sync_proxy_rules import NodeFacts
from lifecycle.proxy.iptables.tables import RestoreError, Tables
from lifecycle.proxy.iptables.walk import Node, Packet, outcomes, walk
from lifecycle.proxy.node_port_addresses import NodePortAddresses
from lifecycle.proxy.service_map import ServicePort, service_ports
from lifecycle.proxy.service_port_name import ServicePortName
from lifecycle.proxy.topology import categorize_endpoints
from tests.fake_api import FakeAPI
from tests.proxy.shapes import endpoint, endpoint_slice, service


@pytest.mark.parametrize(
    ("asked", "runs"),
    [
        ([], [90, 190]), ([0], [0, 100, 200]), ([0, 1, 2, 3], [0, 10, 110, 210]), ([50], [50, 150]),
        ([0, 5, 15], [0, 10, 20, 120, 220]), ([0, 60, 95], [0, 60, 95, 195]), ([99.5], [90, 100, 200]),
    ],
)  # fmt: skip
def test_work_runs_when_asked_but_not_too_often_and_now_and_then_unasked(asked: list[float], runs: list[float]) -> None:
    async def main() -> list[float]:
        loop, ran = asyncio.get_running_loop(), list[float]()
        begin = loop.time()

        async def work() -> None:
            ran.append(loop.time() - begin)

        runner = BoundedFrequencyRunner(work, min_interval=10, max_interval=100)
        for when in asked:
            loop.call_later(when, runner.run)
        task = asyncio.ensure_future(runner.loop())
        await asyncio.sleep(225)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return ran

    assert run_virtual(main()) == pytest.approx(runs)  # before the first it is as if the last was `min_interval` ago


@pytest.mark.parametrize(
    ("asks", "runs"),
    [
        ([(0, 30)], [30]), ([(0, 30), (10, 30)], [40]), ([(0, 30), (10, 5)], [15]), ([(0, 30), (10, None)], [10]),
        ([(0, 2)], [2]), ([(0, None), (0.5, 2)], [0, 10]),
    ],
)  # fmt: skip
def test_the_last_word_about_a_retry_counts_unless_a_run_comes_before(
    asks: list[tuple[float, float | None]], runs: list[float]
) -> None:
    async def main() -> list[float]:
        loop, ran = asyncio.get_running_loop(), list[float]()
        begin = loop.time()

        async def work() -> None:
            ran.append(loop.time() - begin)

        runner = BoundedFrequencyRunner(work, min_interval=10, max_interval=1000)
        for when, after in asks:
            if after is None:
                loop.call_later(when, runner.run)
            else:
                loop.call_later(when, runner.retry_after, after)
        task = asyncio.ensure_future(runner.loop())
        await asyncio.sleep(100)
        runner.retry_after(50)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await asyncio.sleep(100)
        assert not runner._run_requested.is_set()  # nothing rings after the end
        return ran

    assert run_virtual(main()) == pytest.approx(runs)


ADDRESSES = ("172.19.0.2", "10.0.0.9", "fd00::2", "127.0.0.5")


@pytest.mark.parametrize(
    ("networks", "family", "match_all", "loopback", "addresses"),
    [
        ([], "IPv4", True, True, []), ([], "IPv6", True, True, []),
        (["0.0.0.0/0"], "IPv4", True, True, ["10.0.0.9", "127.0.0.1", "127.0.0.5", "172.19.0.2"]),
        (["::/0"], "IPv4", True, True, []), (["::/0"], "IPv6", True, True, ["::1", "fd00::2"]),
        (["172.19.0.0/16"], "IPv4", False, False, ["172.19.0.2"]),
        (["172.19.0.2/32", "10.0.0.0/8"], "IPv4", False, False, ["10.0.0.9", "172.19.0.2"]),
        (["127.0.0.0/8"], "IPv4", False, True, ["127.0.0.1", "127.0.0.5"]), (["::1/128"], "IPv6", False, True, ["::1"]),
        (["192.0.2.0/24"], "IPv4", False, False, []), (["172.19.0.0/16", "fd00::/8"], "IPv6", False, False, ["fd00::2"]),
        (["10.0.0.0/8", "0.0.0.0/0"], "IPv4", True, True, ["10.0.0.9", "127.0.0.1", "127.0.0.5", "172.19.0.2"]),
        (["172.19.0.7/16"], "IPv4", False, False, ["172.19.0.2"]),
    ],
)  # fmt: skip
def test_which_addresses_answer_on_node_ports(
    networks: list[str], family: str, match_all: bool, loopback: bool, addresses: list[str]
) -> None:
    found = NodePortAddresses(networks, family)
    assert (found.match_all, found.has_loopback, found.of(ADDRESSES)) == (match_all, loopback, addresses)


def port(**spec: Any) -> ServicePort:
    return next(service_ports(service("s", "10.96.0.1", **spec)))


def end(number: int, zones: str = "", nodes: str = "", **state: bool) -> Endpoint:
    hints = {"zone_hints": frozenset(zones.split()), "node_hints": frozenset(nodes.split())}
    return Endpoint(f"10.0.0.{number}", 80, **hints, **state)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("ends", "zone", "chosen"),
    [
        ([end(1, "a"), end(2, "b")], "a", [1]), ([end(1, "a"), end(2, "b")], "c", [1, 2]),
        ([end(1, "a b"), end(2, "b")], "b", [1, 2]), ([end(1, "a"), end(2)], "a", [1, 2]),
        ([end(1, "a"), end(2)], "", [1, 2]), ([end(1, nodes="here"), end(2, nodes="there")], "a", [1]),
        ([end(1, nodes="here"), end(2)], "a", [1, 2]), ([end(1, nodes="there"), end(2, nodes="there")], "a", [1, 2]),
        ([end(1, "a", "there"), end(2, "b", "here")], "a", [2]), ([end(1, "a", "x"), end(2, "b", "y")], "a", [1]),
        ([end(1, "a", "here"), end(2, "a")], "a", [1, 2]), ([end(1, "b", "here"), end(2, "a")], "a", [2]),
        ([end(1, "a"), end(2, ready=False, serving=False)], "a", [1]),
        ([end(1, "b"), end(2, "a", ready=False, terminating=True)], "a", [1]),
        ([end(1, ready=False, terminating=True), end(2, ready=False)], "a", [1]),
        ([end(1, ready=False, serving=False, terminating=True)], "a", []), ([], "a", []),
    ],
)  # fmt: skip
def test_which_endpoints_cluster_traffic_may_go_to(ends: list[Endpoint], zone: str, chosen: list[int]) -> None:
    labels = {"topology.kubernetes.io/zone": zone} if zone else {}
    found = categorize_endpoints(ends, port(), "here", labels)
    assert [int(e.ip.rpartition(".")[2]) for e in found.cluster] == chosen
    assert (found.local, found.reachable, found.has_any) == ((), found.cluster, bool(chosen))


LOCAL, GOING, DEAD = {"is_local": True}, {"ready": False, "terminating": True}, {"ready": False, "serving": False}


@pytest.mark.parametrize(
    ("spec", "ends", "cluster", "local", "reachable", "has_any"),
    [
        ({"internalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL)], [], [2], [2], True),
        ({"internalTrafficPolicy": "Local"}, [end(1)], [], [], [], True),
        ({"internalTrafficPolicy": "Local"}, [end(1, **GOING)], [], [], [], True),
        ({"internalTrafficPolicy": "Local"}, [end(1, **DEAD)], [], [], [], False),
        ({"internalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL, **GOING)], [], [2], [2], True),
        ({"type": "NodePort", "node_port": 30000, "externalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL, **GOING)],
         [1], [2], [1, 2], True),
        ({"type": "NodePort", "node_port": 30000, "externalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL)],
         [1, 2], [2], [1, 2], True),
        ({"type": "NodePort", "externalTrafficPolicy": "Local"}, [end(1), end(2, **LOCAL)], [1, 2], [], [1, 2], True),
        ({"type": "NodePort", "node_port": 30000}, [end(1), end(2, **LOCAL)], [1, 2], [], [1, 2], True),
    ],
)  # fmt: skip
def test_which_endpoints_each_policy_may_use(
    spec: dict[str, Any],
    ends: list[Endpoint],
    cluster: list[int],
    local: list[int],
    reachable: list[int],
    has_any: bool,
) -> None:
    found = categorize_endpoints(ends, port(**spec), "here", {})
    numbers = [[int(e.ip.rpartition(".")[2]) for e in some] for some in found[:3]]
    assert (numbers, found.has_any) == ([cluster, local, reachable], has_any)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ({"addresses": ["10.0.0.1"]}, Endpoint("10.0.0.1", 80)),
        ({"addresses": ["10.0.0.1", "10.0.0.2"], "nodeName": "here"}, Endpoint("10.0.0.1", 80, is_local=True)),
        ({"addresses": ["10.0.0.1"], "conditions": None, "hints": None}, Endpoint("10.0.0.1", 80)),
        (
            {"addresses": ["10.0.0.1"], "conditions": {"ready": False, "serving": False, "terminating": True}},
            Endpoint("10.0.0.1", 80, ready=False, serving=False, terminating=True),
        ),
        (
            {"addresses": ["10.0.0.1"], "hints": {"forZones": [{"name": "a"}, {"name": "b"}], "forNodes": [{"name": "n"}]}},
            Endpoint("10.0.0.1", 80, zone_hints=frozenset("ab"), node_hints=frozenset("n")),
        ),
        ({"addresses": []}, None), ({"addresses": ["nonsense"]}, None), ({}, None),
    ],
)  # fmt: skip
def test_what_an_entry_of_a_slice_says(entry: dict[str, Any], expected: Endpoint | None) -> None:
    endpoints = EndpointsMap("here")
    assert endpoints.update(endpoint_slice("s", [entry], port=80))
    assert endpoints[ServicePortName("ns", "s", "", "TCP")] == ((expected,) if expected else ())


def test_slices_of_another_family_or_without_a_port_are_nothing_to_make_rules_for() -> None:
    endpoints = EndpointsMap("here")
    six = endpoint_slice("s", [endpoint("fd00::1")]) | {"addressType": "IPv6"}
    assert not endpoints.update(six)
    assert not endpoints.remove(six)
    assert EndpointsMap("here", "IPv6").update(six)
    for ports in (None, [], [{"name": "", "port": None, "protocol": "TCP"}]):
        assert not endpoints.update(endpoint_slice("s", [endpoint("10.0.0.1")]) | {"ports": ports})
    named = endpoint_slice("s", [endpoint("10.0.0.1")]) | {
        "ports": [{"port": 1}, {"name": "u", "port": 2, "protocol": "UDP"}]
    }
    assert endpoints.update(named)
    assert [endpoints[ServicePortName("ns", "s", *name)] for name in (("", "TCP"), ("u", "UDP"), ("u", "TCP"))] == [
        (Endpoint("10.0.0.1", 1),), (Endpoint("10.0.0.1", 2),), (),
    ]  # fmt: skip
    assert str(Endpoint("fd00::1", 80)) == "[fd00::1]:80"
    assert [str(ServicePortName("ns", "s", name, "TCP")) for name in ("", "http")] == ["ns/s", "ns/s:http"]


def test_what_is_decided_if_nobody_decides() -> None:
    """A kind cluster's configuration, and the defaults of `KubeProxyConfiguration`."""
    assert ProxierConfig() == ProxierConfig("10.244.0.0/16", False, 14, True, (), False, 1.0, 30.0, 3600.0, 1000)
    assert [ProxierConfig(masquerade_bit=bit).masquerade_mark for bit in (14, 0, 31)] == [
        "0x004000", "0x000001", "0x80000000",
    ]  # fmt: skip
    node = NodeFacts("n", "10.0.0.1", other_addresses=("10.0.0.2",))
    assert node.addresses == ("10.0.0.1", "10.0.0.2")
    assert node.counters == {"ct_state_invalid_dropped_pkts", "localhost_nps_accepted_pkts"}


@pytest.mark.parametrize(
    ("table", "chain", "owner"),
    [
        ("nat", "KUBE-SERVICES", "kube-proxy"), ("mangle", "KUBE-SERVICES", "unknown"), ("filter", "KUBE-FORWARD", "kube-proxy"),
        ("nat", "KUBE-FORWARD", "unknown"), ("filter", "KUBE-FIREWALL", "kube-proxy"), ("nat", "KUBE-MARK-MASQ", "kube-proxy"),
        *[("nat", f"KUBE-{kind}-X", "kube-proxy") for kind in ("SVC", "SVL", "SEP", "FW", "EXT")],
        ("filter", "KUBE-SVC-X", "unknown"), ("mangle", "KUBE-IPTABLES-HINT", "kubelet"),
        ("mangle", "KUBE-KUBELET-CANARY", "kubelet"), ("nat", "KIND-MASQ-AGENT", "kindnet"), ("nat", "CNI-HOSTPORT-DNAT", "portmap"),
        ("nat", "DOCKER_OUTPUT", "Docker"), ("nat", "MINE", "unknown"),
        *[(table, "KUBE-PROXY-CANARY", "kube-proxy") for table in ("mangle", "nat", "filter")],
    ],
)  # fmt: skip
def test_whose_a_chain_is(table: str, chain: str, owner: str) -> None:
    assert chain_owner(table, chain) == owner
    declared, jump, own, kernel = saved_lines(
        f"# a remark\n*{table}\n:{chain} - [3:4]\n-A INPUT -p tcp -j {chain} -x\n-A {chain} -j DROP\n:INPUT ACCEPT [0:0]\nCOMMIT\n"
    )
    assert [line.owner for line in (declared, jump, own, kernel)] == [owner, owner, owner, "kernel"]
    assert (declared.text, declared.rule, own.rule, own.chain) == (f":{chain} -", "", "-j DROP", chain)


PACKET = Packet("10.0.0.1", "10.0.0.2", 80)


@pytest.mark.parametrize(
    ("rule", "packet", "hit"),
    [
        ("-s 10.0.0.0/24", PACKET, True), ("! -s 10.0.0.0/24", PACKET, False), ("-s 10.0.0.2/32", PACKET, False),
        ("-d 10.0.0.2/32", PACKET, True), ("! -d 10.0.0.1/32", PACKET, True), ("-p tcp", PACKET, True),
        ("-p udp", PACKET, False), ("! -p udp", PACKET, True), ("-p tcp -m tcp --dport 80", PACKET, True),
        ("-p tcp -m tcp ! --dport 80", PACKET, False), ("-p tcp -m tcp --dport 81", PACKET, False),
        ("-p tcp -m tcp --dport 80:90", PACKET, True), ("-p tcp -m tcp --dport 70:80", PACKET, True),
        ("-p tcp -m tcp --dport 81:90", PACKET, False), ("-p tcp -m tcp --dport 70:79", PACKET, False),
        ("-m multiport --dports 1,2:3,80", PACKET, True), ("-m multiport --dports 1,2:3", PACKET, False),
        ("-m mark --mark 0x4000/0x4000", PACKET, False),
        ("-m mark --mark 0x4000/0x4000", Packet("1.1.1.1", "2.2.2.2", 1, mark=0xC000), True),
        ("-m mark ! --mark 0x4000/0x4000", PACKET, True), ("-m mark --mark 0x0/0x4000", PACKET, True),
        ("-m addrtype --dst-type LOCAL", PACKET, True), ("-m addrtype ! --dst-type LOCAL", PACKET, False),
        ("-m addrtype --src-type LOCAL", PACKET, False), ("-m addrtype --dst-type UNICAST", PACKET, False),
        ("-m addrtype --src-type LOCAL", Packet("127.0.0.9", "10.0.0.2", 1), True),
        ("-m conntrack --ctstate NEW", PACKET, True), ("-m conntrack --ctstate RELATED,ESTABLISHED", PACKET, False),
        ("-m conntrack ! --ctstate NEW", PACKET, False), ("-m conntrack --ctstate DNAT", PACKET, False),
        ("-m conntrack --ctstate DNAT", Packet("1.1.1.1", "10.0.0.2", 1, rewritten=True), True),
        ("-m conntrack --ctstate RELATED,ESTABLISHED", Packet("1.1.1.1", "10.0.0.2", 1, state="RELATED"), True),
        ('-m comment --comment "a b"', PACKET, True), ("-m nfacct --nfacct-name x", PACKET, True),
        ("-m recent --rcheck --seconds 60 --reap --name L --mask 255.255.255.255 --rsource", PACKET, False),
        ("-m recent --set --name L --mask 255.255.255.255 --rsource", PACKET, True),
    ],
)  # fmt: skip
def test_what_a_rule_matches(rule: str, packet: Packet, hit: bool) -> None:
    """Shown to `INPUT` of a machine that has 10.0.0.2, so that the destination is always local there."""
    text = f"*filter\n:INPUT ACCEPT [0:0]\n-A INPUT {rule} -j DROP\nCOMMIT\n"
    here = Node(parse_saved(text), {"10.0.0.2", "2.2.2.2"})
    assert [way.verdict for way in outcomes(here, packet)] == ["DROP" if hit else "ACCEPT"]
    assert len(outcomes(here, packet)[0].steps) == hit


def test_who_was_seen_is_remembered_by_a_walk_and_by_nobody_who_only_asks() -> None:
    recent = "-m recent --{} --name L --mask 255.255.255.255 --rsource"
    text = f"*filter\n:INPUT ACCEPT [0:0]\n-A INPUT {recent.format('rcheck')} -j DROP\n-A INPUT {recent.format('set')} -j ACCEPT\n"
    here = Node(parse_saved(text), {"10.0.0.2"})
    other = Packet("10.0.0.3", "10.0.0.2", 80)
    assert [way.verdict for _ in range(2) for way in outcomes(here, PACKET)] == ["ACCEPT", "ACCEPT"]
    assert [walk(here, packet, lambda: 0.5).verdict for packet in (PACKET, PACKET, other)] == [
        "ACCEPT",
        "DROP",
        "ACCEPT",
    ]


def test_a_verdict_ends_a_return_goes_back_and_a_mark_goes_on() -> None:
    text = """*nat
:PREROUTING ACCEPT [0:0]
:POSTROUTING ACCEPT [0:0]
:A - [0:0]
:B - [0:0]
-A PREROUTING -j A
-A PREROUTING -j MARK --set-xmark 0x8/0x8
-A PREROUTING -j DNAT --to-destination 10.9.9.9:99
-A PREROUTING -j MARK --set-xmark 0x100/0x0
-A A -j MARK --set-xmark 0x4/0x6
-A A -m statistic --mode random --probability 0.25000000000 -j B
-A A -j RETURN
-A A -j MARK --set-xmark 0x10/0x10
-A B -j MARK --set-xmark 0x20/0x20
-A POSTROUTING -m mark --mark 0x20/0x20 -j MASQUERADE
"""
    ways = outcomes(Node(parse_saved(text)), Packet("10.0.0.1", "10.0.0.2", 80, mark=0x3))
    assert [(way.probability, way.packet.mark, way.masqueraded, way.destination) for way in ways] == [
        (Fraction(1, 4), 0x1 | 0x4 | 0x20 | 0x8, True, "10.9.9.9:99"), (Fraction(3, 4), 0x1 | 0x4 | 0x8, False, "10.9.9.9:99"),
    ]  # fmt: skip
    assert ways[0].chains == ["PREROUTING", "A", "B", "POSTROUTING"]
    assert [step.depth for step in ways[0].steps] == [0, 1, 1, 2, 1, 0, 0, 0]
    assert {(step.table, step.hook) for step in ways[0].steps} == {("nat", "PREROUTING"), ("nat", "POSTROUTING")}
    assert all(way.packet.rewritten for way in ways)
    dice = [0.2, 0.3]
    here = Node(parse_saved(text))
    assert [walk(here, PACKET, lambda: dice.pop(0)).masqueraded for _ in range(2)] == [True, False]
    six = outcomes(Node(parse_saved("*nat\n:OUTPUT ACCEPT [0:0]\n-A OUTPUT -j DNAT --to-destination [fd00::1]:99\n")),
                   Packet("fd00::2", "fd00::3", 80), from_node=True)  # fmt: skip
    assert six[0].destination == "[fd00::1]:99"


def test_a_chain_that_leads_to_itself_is_an_error_and_so_is_what_is_not_known() -> None:
    loop = "*filter\n:INPUT ACCEPT [0:0]\n:A - [0:0]\n-A INPUT -j A\n-A A -j A\n"
    with pytest.raises(ValueError, match=r"^A leads back to itself$"):
        outcomes(Node(parse_saved(loop), {"10.0.0.2"}), PACKET)
    for rule, words in (
        ("-i eth0", "-i is not known here: -A INPUT -i eth0 -j DROP"),
        ("-p tcp -m tcp --sport 1", "--sport is not known here: -A INPUT -p tcp -m tcp --sport 1 -j DROP"),
        ("-m limit --limit 1", "-m limit is not known here: -A INPUT -m limit --limit 1 -j DROP"),
    ):
        here = Node(parse_saved(f"*filter\n:INPUT ACCEPT [0:0]\n-A INPUT {rule} -j DROP\n"), {"10.0.0.2"})
        with pytest.raises(ValueError, match=f"^{words}$"):
            outcomes(here, PACKET)
    for line in ("-A NOWHERE -j DROP", "-A INPUT -p", "-A INPUT --odd 1"):
        with pytest.raises(ValueError, match=f"^not understood: {line}$"):
            parse_saved(f"*filter\n:INPUT ACCEPT [0:0]\n{line}\n")


def test_a_rule_is_read_part_by_part() -> None:
    rule = parse_rule(
        '-A C ! -s 10.0.0.0/8 -p tcp -m comment --comment "a b" -m tcp ! --dport 80 -g T --random-fully --x y'
    )
    assert (rule.chain, rule.target, rule.comment) == ("C", "T", "a b")
    assert rule.head == {"-s": (True, "10.0.0.0/8"), "-p": (False, "tcp")}
    assert rule.matches == (("comment", {"--comment": (False, "a b")}), ("tcp", {"--dport": (True, "80")}))
    assert rule.target_options == {"--random-fully": (False, ""), "--x": (False, "y")}
    assert parse_rule("-A C -j T").comment == ""


class Programs(CommandRunner):
    """Writes down what would be run; `answers` by the words of a command that decide."""

    def __init__(self, *answers: tuple[int, str, str]) -> None:
        super().__init__("netns")
        self.answers, self.ran = list(answers), list[tuple[tuple[str, ...], str]]()

    async def _run(self, *command: str, stdin: str = "") -> tuple[int, str, str]:
        self.ran.append((command, stdin))
        return self.answers.pop(0)


@pytest.mark.parametrize(
    ("call", "answers", "commands", "result"),
    [
        (lambda r: r.ensure_chain("nat", "C"), [(0, "", "")], [("iptables", *WAIT, "-t", "nat", "-N", "C")], False),
        (lambda r: r.ensure_chain("nat", "C"), [(1, "", "")], [("iptables", *WAIT, "-t", "nat", "-N", "C")], True),
        (lambda r: r.ensure_chain("nat", "C"), [(4, "", "lock")], [("iptables", *WAIT, "-t", "nat", "-N", "C")], RestoreError),
        (lambda r: r.chain_exists("nat", "C"), [(0, "", "")], [("iptables", *WAIT, "-t", "nat", "-S", "C", "1")], True),
        (lambda r: r.chain_exists("nat", "C"), [(1, "", "")], [("iptables", *WAIT, "-t", "nat", "-S", "C", "1")], False),
        (
            lambda r: r.ensure_rule("nat", "C", '-m comment --comment "a b" -j D'), [(0, "", "")],
            [("iptables", *WAIT, "-t", "nat", "-C", "C", "-m", "comment", "--comment", "a b", "-j", "D")], True,
        ),
        (
            lambda r: r.ensure_rule("nat", "C", "-j D"), [(1, "", ""), (0, "", "")],
            [("iptables", *WAIT, "-t", "nat", how, "C", "-j", "D") for how in ("-C", "-I")], False,
        ),
        (
            lambda r: r.ensure_rule("nat", "C", "-j D"), [(1, "", ""), (2, "", " no \n")],
            [("iptables", *WAIT, "-t", "nat", how, "C", "-j", "D") for how in ("-C", "-I")], RestoreError,
        ),
        (lambda r: r.chains("nat"), [(0, "*nat\n:A - [0:0]\n:B ACCEPT [1:2]\n-A A -j B\n", "")],
         [("iptables-save", "-t", "nat")], ["A", "B"]),
        (lambda r: r.restore_all("text"), [(0, "", "")], [("iptables-restore", *WAIT, "--noflush", "--counters")], None),
        (lambda r: r.restore_all("text"), [(1, "", "no")], [("iptables-restore", *WAIT, "--noflush", "--counters")], RestoreError),
    ],
)  # fmt: skip
def test_which_programs_are_asked(call: Any, answers: list[Any], commands: list[tuple[str, ...]], result: Any) -> None:
    runner = Programs(*answers)
    if result is RestoreError:
        with pytest.raises(RestoreError) as caught:
            asyncio.run(call(runner))
        words = str(caught.value)
        assert words == answers[-1][2] or words.endswith(f": exit code {answers[-1][0]}: {answers[-1][2].strip()}")
    else:
        assert asyncio.run(call(runner)) == result
    assert [command for command, _ in runner.ran] == commands
    assert {stdin for command, stdin in runner.ran} == ({"text"} if commands[0][0] == "iptables-restore" else {""})
    assert WAIT == ("-w", "5", "-W", "100000")


@pytest.mark.parametrize(
    ("there", "answer", "counted"),
    [
        (False, None, False), (True, (0, "", ""), True), (True, (1, "", "nfacct: object already exists"), True),
        (True, (1, "", "Device or resource Busy"), True), (True, (1, "", "not permitted"), False),
    ],
)  # fmt: skip
def test_a_counter_is_there_if_it_could_be_made_or_was(
    there: bool, answer: Any, counted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/sbin/{name}" if there else None)
    runner = Programs(answer)
    assert asyncio.run(runner.ensure_counter("c")) is counted
    assert runner.ran == ([(("nfacct", "add", "c"), "")] if there else [])


def test_the_machines_own_rules_are_not_ours() -> None:
    with pytest.raises(
        ValueError, match="a network namespace is needed: the machine's own rules are not ours to change"
    ):
        CommandRunner("")


def test_a_picture_of_the_kernel_remembers_what_was_restored() -> None:
    async def main() -> None:
        runner = TextRunner(keep=2)
        for number in range(3):
            await runner.restore_all(f"*nat\n:C{number} - [0:0]\nCOMMIT\n")
        assert [text.split()[1] for text in runner.restored] == [":C1", ":C2"]
        assert await runner.chains("nat") == ["PREROUTING", "INPUT", "OUTPUT", "POSTROUTING", "C0", "C1", "C2"]
        assert [await runner.chain_exists("nat", chain) for chain in ("C0", "X")] == [True, False]
        assert [await runner.ensure_chain("nat", chain) for chain in ("C0", "X", "X")] == [True, False, True]
        assert [await runner.ensure_rule("nat", "X", rule) for rule in ("-j C0", "-j C1", "-j C0")] == [
            False,
            False,
            True,
        ]
        assert runner.tables.rules("nat", "X") == ["-j C1", "-j C0"]
        assert await runner.ensure_counter("x")
        assert not await TextRunner(counters=False).ensure_counter("x")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("*nat\n-A X -j DROP\nCOMMIT\n", "line 2 failed: -A X -j DROP: 'X'"), ("*odd\n", "line 1 failed: *odd: 'odd'"),
        ("*nat\n:X - [0:0]\n-A X -j Y\nCOMMIT\n", "line 4 failed: COMMIT: no chain Y"),
        ("*nat\n:X - [0:0]\n-A X -j DROP\n-X X\nCOMMIT\n", "line 4 failed: -X X: X is not empty"),
        ("*nat\n\n# remark\n-F X\n", "line 4 failed: -F X: -F is not known here"),
        ("*nat\n-A INPUT --odd 1\n", "line 2 failed: -A INPUT --odd 1: --odd belongs to no match"),
    ],
)  # fmt: skip
def test_a_table_changes_as_a_whole_or_not_at_all(text: str, words: str) -> None:
    tables = Tables()
    tables.restore("*nat\n:KEPT - [0:0]\n-A KEPT -j DROP\n-I KEPT -j ACCEPT\nCOMMIT\n")
    before = tables.save()
    assert before.endswith("-A KEPT -j ACCEPT\n-A KEPT -j DROP\nCOMMIT\n")
    with pytest.raises(RestoreError) as caught:
        tables.restore(text)
    assert str(caught.value) == words
    assert tables.save() == before
    assert (tables.save("filter"), tables.save("nat")) == ("", before)


class FakeSocket:
    """Answers a dump with given entries."""

    def __init__(self, entries: list[bytes]) -> None:
        self.entries, self.asked, self.error, self.closed = entries, list[tuple[int, int, bytes]](), 0, False

    def request(self, kind: int, flags: int, body: bytes) -> list[tuple[int, bytes]]:
        self.asked.append((kind, flags, body))
        if self.error:
            raise OSError(self.error, "no")
        return [(0, body[:4] + entry) for entry in self.entries]

    def close(self) -> None:
        self.closed = True


def _side(kind: int, source: str, destination: str, protocol: int, ports: tuple[int, int]) -> bytes:
    family = socket.AF_INET6 if ":" in source else socket.AF_INET
    numbers = (3, 4) if family == socket.AF_INET6 else (1, 2)
    ip = b"".join(
        nested(number, socket.inet_pton(family, text)) for number, text in zip(numbers, (source, destination))
    )
    proto = nested(1, bytes([protocol])) + b"".join(
        nested(number, value.to_bytes(2, "big")) for number, value in zip((2, 3), ports)
    )
    return nested(kind, nested(1, ip) + nested(2, proto))


@pytest.mark.parametrize(
    ("family", "client", "to", "pod"),
    [("IPv4", "10.0.0.9", "10.96.0.10", "10.244.1.2"), ("IPv6", "fd00::9", "fd00::a", "fd00::2")],
)
def test_flows_are_read_out_of_the_kernels_messages(
    family: str, client: str, to: str, pod: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    udp = _side(1, client, to, socket.IPPROTO_UDP, (4053, 53)) + _side(2, pod, client, socket.IPPROTO_UDP, (5353, 4053))
    tcp = _side(1, client, to, socket.IPPROTO_TCP, (4053, 53)) + _side(2, pod, client, socket.IPPROTO_TCP, (5353, 4053))
    made: list[int] = []
    fake = FakeSocket([udp, tcp])

    def open_socket(protocol: int) -> FakeSocket:
        made.append(protocol)
        return fake

    monkeypatch.setattr(kernel_conntrack, "NetlinkSocket", open_socket)
    conntrack = kernel_conntrack.KernelConntrack("/proc/self/ns/net", family)
    (flow,) = conntrack.udp_flows()
    assert made == [12]
    assert (flow.to, flow.answered_by) == ((to, 53), (pod, 5353))
    header = bytes([socket.AF_INET6 if family == "IPv6" else socket.AF_INET, 0, 0, 0])
    assert fake.asked == [(0x101, 0x300, header)]
    fake.asked.clear()
    conntrack.forget([flow, flow])
    assert fake.asked == [(0x102, 0, header + nested(1, flow.key))] * 2
    for code, raised in ((errno.ENOENT, False), (errno.EPERM, True)):
        fake.error = code
        if raised:
            with pytest.raises(OSError, match="no"):
                conntrack.forget([flow])
        else:
            conntrack.forget([flow])
    conntrack.close()
    assert fake.closed


def test_where_there_is_no_netfilter_there_are_no_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(protocol: int) -> FakeSocket:
        raise OSError("no such protocol")

    monkeypatch.setattr(kernel_conntrack, "NetlinkSocket", refused)
    assert kernel_conntrack.KernelConntrack.where_possible("/proc/self/ns/net") is None
    monkeypatch.setattr(kernel_conntrack, "NetlinkSocket", lambda protocol: FakeSocket([]))
    assert kernel_conntrack.KernelConntrack.where_possible("/proc/self/ns/net") is not None


class Noted(TextRunner):
    """Counts what it is asked, and when."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.times: list[float] = []

    async def chains(self, table: str) -> list[str]:
        self.asked.append(f"chains {table}")
        return await super().chains(table)

    async def ensure_rule(self, table: str, chain: str, rule: str) -> bool:
        self.asked.append("ensure")
        return await super().ensure_rule(table, chain, rule)

    async def restore_all(self, text: str) -> None:
        self.times.append(asyncio.get_running_loop().time())
        await super().restore_all(text)


def _proxier(sink: TextRunner, node_ip: str = "172.19.0.2", conntrack: Any = None, **config: Any) -> Proxier:
    client = Client(FakeAPI(), "kube-proxy")
    return Proxier(
        client, SharedInformerFactory(client), node_name="here", node_ip=node_ip, clock=Clock(), sink=sink,
        config=ProxierConfig(**config), conntrack=conntrack,
    )  # fmt: skip


def test_once_an_hour_everything_is_written_and_the_jumps_are_looked_at() -> None:
    async def main() -> None:
        sink = Noted()
        proxier = _proxier(sink)
        task = asyncio.create_task(proxier.run())
        await asyncio.sleep(3601 * 2)
        assert [after - sink.times[0] for after in sink.times] == pytest.approx([0, 3600, 7200])
        assert sink.asked.count("ensure") == 3 * 14
        assert proxier.syncs == 3
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    run_virtual(main())


@pytest.mark.parametrize(("count", "listed"), [(3, 4), (4, 2)])
def test_in_a_large_cluster_stale_chains_are_looked_for_only_now_and_then(count: int, listed: int) -> None:
    async def main() -> None:
        sink = Noted()
        proxier = _proxier(sink, large_cluster_endpoints=3)
        proxier.on_service(service("s", "10.96.0.1"))
        proxier.on_endpoint_slice(endpoint_slice("s", [endpoint(f"10.0.0.{n}") for n in range(count)]))
        for pause in (0, 10, 20, 0.5):
            await asyncio.sleep(pause)
            await proxier.sync()
        assert sink.asked.count("chains nat") == listed

    run_virtual(main())


def test_a_proxy_of_the_other_family_makes_rules_of_its_own_addresses() -> None:
    async def main() -> None:
        sink = TextRunner()
        proxier = _proxier(sink, "fd00::2", cluster_cidr="fd00:1::/64")
        six = service("s", "10.96.0.1", clusterIPs=["10.96.0.1", "fd00::1"])
        proxier.on_service(six)
        proxier.on_endpoint_slice(endpoint_slice("s", [endpoint("fd00:1::5")]) | {"addressType": "IPv6"})
        await proxier.sync()
        assert "[fd00:1::5]:8080" in sink.restored[-1]
        assert "10.96.0.1" not in sink.restored[-1]
        proxier.on_service_deleted(six)
        proxier.on_endpoint_slice_deleted(endpoint_slice("s", []) | {"addressType": "IPv6"})
        await proxier.sync()
        assert "fd00:1::5" not in sink.restored[-1]
        assert proxier.last_rule_counts == (3, 5)  # no guard of loopback there

    run_virtual(main())


def test_flows_that_cannot_be_read_are_a_line_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    class Away:
        def udp_flows(self) -> list[Flow]:
            raise OSError("not permitted")

        def forget(self, flows: Any) -> None:
            raise AssertionError

    async def main() -> None:
        proxier = _proxier(TextRunner(), conntrack=Away())
        proxier.on_service(service("s", "10.96.0.1", protocol="UDP"))
        await proxier.sync()
        assert proxier.syncs == 1

    run_virtual(main())
    assert [r.getMessage() for r in caplog.records] == ["stale flows of here are not forgotten: not permitted"]
