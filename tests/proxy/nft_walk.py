"""A packet's way through the text of the nftables mode: every outcome there is.

Only what stands in our own text is understood; anything else raises. The hooks are asked in the kernel's order, and the destination
that a hook sees is the one that an earlier hook left.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network

from lifecycle.proxy.iptables.walk import ACCEPT, DROP, REJECT, Packet

ADD = re.compile(r"add (rule|element|chain|set|map) (?:ip6?) kube-proxy (\S+)(?: (.*))?")
ELEMENT = re.compile(r'\{ (.*?)(?: comment "[^"]*")?(?: : (.*?))? \}')


@dataclass(frozen=True)
class State:
    """A packet on its way."""

    packet: Packet
    verdict: str = ACCEPT
    masqueraded: bool = False


class Table:
    """The text, taken apart. `addresses`: the node's own."""

    def __init__(self, text: str, addresses: frozenset[str]) -> None:
        self.addresses = addresses
        self.rules: dict[str, list[list[str]]] = {}
        self.elements: dict[str, dict[str, str]] = {}
        self.comments: dict[str, str] = {}
        for line in text.splitlines():
            found = ADD.fullmatch(line)
            if found is None:
                assert line.startswith(("add table ", "flush ", "delete ")), line
                continue
            kind, name, rest = found[1], found[2], found[3] or ""
            if kind == "chain":
                self.rules.setdefault(name, [])
            elif kind == "rule":
                self.rules[name].append(shlex.split(rest))
            elif kind == "element":
                key, verdict = ELEMENT.fullmatch(rest).groups()  # type: ignore[union-attr]
                self.elements.setdefault(name, {})[key] = verdict or ""
            else:
                self.elements.setdefault(name, {})

    def outcomes(self, packet: Packet, *, from_node: bool = False) -> list[State]:
        """All ways that the first packet of a connection may take."""
        first = (
            ("filter-output-pre-dnat", "nat-output") if from_node else ("filter-prerouting-pre-dnat", "nat-prerouting")
        )
        states = self._through(first, [State(packet)])
        ended: list[State] = []
        for state in states:
            where = "filter-input" if state.packet.destination in self.addresses else "filter-forward"
            ended += self._through(["filter-output" if from_node else where, "nat-postrouting"], [state])
        return ended

    def _through(self, chains: list[str] | tuple[str, ...], states: list[State]) -> list[State]:
        for chain in chains:
            states = [
                after
                for state in states
                for after in ([state] if state.verdict != ACCEPT else [end for end, _ in self._chain(chain, state)])
            ]
        return states

    def _chain(self, chain: str, state: State) -> Iterator[tuple[State, bool]]:
        """Each way out, and whether it came to a verdict (rather than the chain's end)."""
        going = [state]
        for rule in self.rules[chain]:
            still: list[State] = []
            for current in going:
                for after, how in self._rule(list(rule), current):
                    if how == "next":
                        still.append(after)
                    else:
                        yield after, how == "verdict"
            going = still
        for left in going:
            yield left, False

    def _rule(self, words: list[str], state: State) -> Iterator[tuple[State, str]]:
        """`next`: go on here; `return`: leave the chain; `verdict`: the end of this hook."""
        packet = state.packet
        while words:
            word = words.pop(0)
            if word in ("ip", "ip6") and words[:7] == ["daddr", ".", "meta", "l4proto", ".", "th", "dport"]:
                del words[:7]
                words = self._vmap(words, f"{packet.destination} . {packet.protocol} . {packet.port}")
            elif word in ("ip", "ip6"):
                if not self._address(words, packet):
                    words = ["nothing"]
            elif word == "meta" and words[:4] == ["l4proto", ".", "th", "dport"]:
                words = self._vmap(words[4:], f"{packet.protocol} . {packet.port}")
            elif word == "meta":
                words = words[2:] if words[1] == packet.protocol else ["nothing"]
            elif word == "fib":
                address = packet.source if words[0] == "saddr" else packet.destination
                words = words[3:] if address in self.addresses else ["nothing"]
            elif word == "ct":
                del words[:2]  # the first packet of a connection is new
            elif word == "mark":
                words, packet = _mark(words, packet)
                state = replace(state, packet=packet)
            elif word == "update":
                words = words[words.index("}") + 1 :]
            elif word == "comment":
                del words[0]
            elif word == "numgen":
                choices = " ".join(words[words.index("{") + 1 : words.index("}")]).split(" , ")
                assert int(words[2]) == len(choices)
                for choice in choices:
                    yield from self._rule(choice.split(" : ")[1].split(), state)
                return
            elif word in ("jump", "goto"):
                for end, verdict in self._chain(words[0], state):
                    yield end, "verdict" if verdict else "next" if word == "jump" else "return"
                return
            elif word == "dnat":
                host, _, port = words[1].rpartition(":")
                sent = replace(packet, destination=host.strip("[]"), port=int(port), rewritten=True)
                yield replace(state, packet=sent), "verdict"
                return
            elif word in ("drop", "reject"):
                yield replace(state, verdict=DROP if word == "drop" else REJECT), "verdict"
                return
            elif word == "masquerade":
                yield replace(state, masqueraded=True), "verdict"
                return
            elif word == "return":
                yield state, "return"
                return
            elif word == "nothing":
                break
            else:
                raise ValueError(f"{word} is not known here")
        yield state, "next"

    def _vmap(self, words: list[str], key: str) -> list[str]:
        assert words[0] == "vmap"
        return self.elements[words[1][1:]].get(key, "nothing").split()

    def _address(self, words: list[str], packet: Packet) -> bool:
        """Takes `daddr` or `saddr` with its operand off the words."""
        address = ip_address(packet.source if words.pop(0) == "saddr" else packet.destination)
        inverted = words[0] == "!="
        if inverted:
            del words[0]
        if words[0] == "{":
            end = words.index("}")
            operands = " ".join(words[1:end]).split(" , ")
            del words[: end + 1]
        else:
            operand = words.pop(0)
            operands = list(self.elements[operand[1:]]) if operand.startswith("@") else [operand]
        return any(address in ip_network(text) for text in operands) != inverted


def _mark(words: list[str], packet: Packet) -> tuple[list[str], Packet]:
    if words[0] == "and":  # mark and M == 0
        return (words[4:] if not packet.mark & int(words[1], 16) else ["nothing"]), packet
    assert words[:2] == ["set", "mark"]
    mask = int(words[3], 16)
    return words[4:], replace(packet, mark=packet.mark | mask if words[2] == "or" else packet.mark ^ mask)
