"""One packet's way through the rules, by hand: which chain it enters, which rule takes
it, and what comes out.

The kernel asks the tables at fixed places. A packet that arrives is first shown to `nat
PREROUTING`, where its destination may be rewritten; then the kernel decides whether it
is for this machine (`filter INPUT`) or another (`filter FORWARD`), and what leaves
passes `nat POSTROUTING`, where its source may be rewritten. A packet of the machine's
own begins at `nat OUTPUT`. The `nat` table is only asked for the first packet of a
connection; the rest follows the connection's entry in the kernel's table.

Where a rule throws dice, `walk` throws them; `outcomes` goes both ways instead, and
says how likely each end is, exactly.

Upstream: the Linux kernel's netfilter (`net/netfilter/`,
`net/ipv4/netfilter/ip_tables.c`, `ipt_do_table`). Left out: the tables `raw`, `mangle`
and `security`, in which kube-proxy has no rules, interfaces, and whatever `rule_text`
does not read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from fractions import Fraction
from ipaddress import ip_address, ip_network

from lifecycle.api.go.net import join_host_port
from lifecycle.proxy.iptables.rule_text import WITHOUT_EFFECT, Options, Rule, Ruleset

ACCEPT, DROP, REJECT = "ACCEPT", "DROP", "REJECT"
PROBABILITY_UNIT = 0x80000000
DEPTH = 32
"""Chains entered from chains; deeper than this there is a loop, which iptables would
have refused.
"""


@dataclass(slots=True, frozen=True)
class Packet:
    """The first packet of a connection, as far as rules look at it."""

    source: str
    destination: str
    port: int
    protocol: str = "tcp"
    mark: int = 0
    state: str = "NEW"
    rewritten: bool = False
    """Its destination is not the one it was sent to (`--ctstate DNAT`)."""


@dataclass(slots=True, frozen=True)
class Step:
    """A rule that matched, and the packet after it."""

    table: str
    hook: str
    depth: int
    rule: Rule
    packet: Packet


@dataclass(slots=True, frozen=True)
class Walk:
    """Where a packet ended. `verdict` is ACCEPT, DROP or REJECT; `masqueraded`: its
    source became the node's address.
    """

    packet: Packet
    verdict: str = ACCEPT
    masqueraded: bool = False
    steps: tuple[Step, ...] = ()
    probability: Fraction = Fraction(1)

    @property
    def chains(self) -> list[str]:
        """The chains it went through, in order, each once."""
        return list(dict.fromkeys(step.rule.chain for step in self.steps))

    @property
    def destination(self) -> str:
        """`ip:port` where it arrives, or the verdict if it does not."""
        if self.verdict != ACCEPT:
            return self.verdict
        return join_host_port(self.packet.destination, self.packet.port)


@dataclass(slots=True)
class Node:
    """The machine: its tables, its own addresses, and whom `recent` remembers (list →
    source addresses).
    """

    tables: Ruleset
    addresses: Collection[str] = ()
    seen: dict[str, set[str]] = field(default_factory=dict)

    def is_local(self, address: str) -> bool:
        """Whether an address is one of the machine's own."""
        return address in self.addresses or ip_address(address).is_loopback


def walk(
    node: Node, packet: Packet, dice: Callable[[], float], *, from_node: bool = False
) -> Walk:
    """The way of one packet. `dice` gives numbers from 0 to 1; `from_node`: a process
    of the machine itself sends it.
    """

    def decide(probability: Fraction) -> list[tuple[bool, Fraction]]:
        return [(dice() < probability, Fraction(1))]

    [way] = _Walker(node, decide, remember=True).run(packet, from_node)
    return way


def outcomes(node: Node, packet: Packet, *, from_node: bool = False) -> list[Walk]:
    """Every way that packet may take, with its probability; they sum up to 1. Nothing
    is remembered.
    """

    def both(probability: Fraction) -> list[tuple[bool, Fraction]]:
        return [(True, probability), (False, 1 - probability)]

    return _Walker(node, both, remember=False).run(packet, from_node)


Decide = Callable[[Fraction], list[tuple[bool, Fraction]]]
"""How likely a rule is to match → whether it does, and how likely that was; one answer
or both.
"""

RETURNED = "RETURN"


class _Walker:
    def __init__(self, node: Node, decide: Decide, *, remember: bool) -> None:
        self.node = node
        self.decide = decide
        self.remember = remember

    def run(self, packet: Packet, from_node: bool) -> list[Walk]:
        ways = self._hook(
            [Walk(packet)], "nat", "OUTPUT" if from_node else "PREROUTING"
        )
        if from_node:
            return self._hook(
                self._hook(ways, "filter", "OUTPUT"), "nat", "POSTROUTING"
            )
        arrived = [way for way in ways if self.node.is_local(way.packet.destination)]
        passing = [way for way in ways if way not in arrived]
        passing = self._hook(
            self._hook(passing, "filter", "FORWARD"), "nat", "POSTROUTING"
        )
        return self._hook(arrived, "filter", "INPUT") + passing

    def _hook(self, ways: list[Walk], table: str, hook: str) -> list[Walk]:
        """Show packets to one of the kernel's chains; those that were refused before do
        not get there.
        """
        out: list[Walk] = []
        for way in ways:
            if way.verdict != ACCEPT or hook not in self.node.tables.get(table, {}):
                out.append(way)
                continue
            for end, verdict in self._chain(way, table, hook, hook, 0):
                out.append(
                    replace(end, verdict=ACCEPT if verdict == RETURNED else verdict)
                )  # the chain's policy
        return out

    def _chain(
        self, way: Walk, table: str, hook: str, chain: str, depth: int
    ) -> list[tuple[Walk, str]]:
        """The ways out of a chain, each with a verdict, or RETURNED if it came to the
        chain's end.
        """
        if depth > DEPTH:
            raise ValueError(f"{chain} leads back to itself")
        going, ended = [way], list[tuple[Walk, str]]()
        for rule in self.node.tables[table][chain]:
            still: list[Walk] = []
            for current in going:
                for hit, likelihood in self._matches(rule, current.packet):
                    branch = replace(
                        current, probability=current.probability * likelihood
                    )
                    if not hit:
                        still.append(branch)
                        continue
                    for after, verdict in self._apply(rule, branch, table, hook, depth):
                        if verdict:
                            ended.append((after, verdict))
                        else:
                            still.append(after)
            going = still
            if not going:
                break
        return ended + [(end, RETURNED) for end in going]

    def _apply(
        self, rule: Rule, way: Walk, table: str, hook: str, depth: int
    ) -> list[tuple[Walk, str]]:
        """What a rule that matched does; an empty verdict: go on with the next rule."""
        packet, target = way.packet, rule.target
        masqueraded = way.masqueraded
        verdict = ""
        if target == "MARK":
            value, mask = (
                int(number, 16)
                for number in rule.target_options["--set-xmark"][1].split("/")
            )
            packet = replace(packet, mark=(packet.mark & ~mask & 0xFFFFFFFF) ^ value)
        elif target == "DNAT":
            host, _, port = rule.target_options["--to-destination"][1].rpartition(":")
            packet = replace(
                packet, destination=host.strip("[]"), port=int(port), rewritten=True
            )
            verdict = ACCEPT
        elif target in ("MASQUERADE", "SNAT"):
            masqueraded, verdict = True, ACCEPT
        elif target in (ACCEPT, DROP, REJECT, RETURNED):
            verdict = target
        step = Step(table, hook, depth, rule, packet)
        after = replace(
            way, packet=packet, masqueraded=masqueraded, steps=(*way.steps, step)
        )
        if target in self.node.tables[table]:
            inner = self._chain(after, table, hook, target, depth + 1)
            return [
                (end, "" if outcome == RETURNED else outcome) for end, outcome in inner
            ]
        return [(after, verdict)]

    # -- does it match? ----------------------------------------------------------------

    def _matches(self, rule: Rule, packet: Packet) -> list[tuple[bool, Fraction]]:
        """Whether a rule matches; where it throws dice, with what probability."""
        certain = [(False, Fraction(1))]
        for option, (inverted, value) in rule.head.items():
            if option == "-p":
                hit = packet.protocol == value
            elif option in ("-s", "-d"):
                address = packet.source if option == "-s" else packet.destination
                hit = ip_address(address) in ip_network(value)
            else:
                raise ValueError(f"{option} is not known here: {rule.text}")
            if hit == inverted:
                return certain
        chance: Fraction | None = None
        for module, options in rule.matches:
            if module == "statistic":
                fraction = Fraction(options["--probability"][1])
                # what is printed is rounded; what the kernel keeps is a multiple of
                # 2⁻³¹
                chance = Fraction(round(fraction * PROBABILITY_UNIT), PROBABILITY_UNIT)
            elif not self._module_matches(module, options, packet, rule):
                return certain
        if chance is None:
            return [(True, Fraction(1))]
        return self.decide(chance)

    def _module_matches(
        self, module: str, options: Options, packet: Packet, rule: Rule
    ) -> bool:
        if module in WITHOUT_EFFECT:
            return True
        if module in ("tcp", "udp", "sctp", "multiport"):
            return all(
                _port_matches(option, value, packet, rule) != no
                for option, (no, value) in options.items()
            )
        if module == "mark":
            inverted, text = options["--mark"]
            value, mask = (int(number, 16) for number in text.split("/"))
            return (packet.mark & mask == value) != inverted
        if module == "addrtype":
            pairs = {"--dst-type": packet.destination, "--src-type": packet.source}
            return all(
                (value == "LOCAL" and self.node.is_local(pairs[option])) != no
                for option, (no, value) in options.items()
            )
        if module == "conntrack":
            inverted, text = options["--ctstate"]
            states = {packet.state, *(["DNAT"] if packet.rewritten else [])}
            return bool(states & set(text.split(","))) != inverted
        if module == "recent":
            return self._recent(options, packet)
        raise ValueError(f"-m {module} is not known here: {rule.text}")

    def _recent(self, options: Options, packet: Packet) -> bool:
        """`--rcheck`: was the sender seen here? `--set`: it was now. Time stands still
        here.
        """
        seen = self.node.seen.setdefault(options["--name"][1], set())
        if "--set" in options:
            if self.remember:
                seen.add(packet.source)
            return True
        return packet.source in seen


def _port_matches(option: str, value: str, packet: Packet, rule: Rule) -> bool:
    """A port, a range `low:high`, or (multiport) several of these."""
    if option not in ("--dport", "--dports"):
        raise ValueError(f"{option} is not known here: {rule.text}")
    ranges = [part.partition(":") for part in value.split(",")]
    return any(int(low) <= packet.port <= int(high or low) for low, _, high in ranges)
