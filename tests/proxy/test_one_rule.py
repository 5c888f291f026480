"""One rule: whose it is, what it matches, what becomes of a packet that it takes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from lifecycle.proxy.iptables.owners import chain_owner, saved_lines
from lifecycle.proxy.iptables.rule_text import parse_rule, parse_saved
from lifecycle.proxy.iptables.walk import Node, Packet, outcomes, walk


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
