"""portmap's rules as data: which chains, with which rules, entered from where.

| chain | holds | |---|---| | `CNI-HOSTPORT-DNAT` | for all containers: which ports lead
to which container's chain | | `CNI-DN-<hash>` | one container's: marks what must be
masqueraded, then rewrites the destination | | `CNI-HOSTPORT-SETMARK`,
`CNI-HOSTPORT-MASQ` | set the mark; masquerade what is marked |

Upstream: `containernetworking/plugins`, `plugins/meta/portmap/portmap_iptables.go`
(`fillDnatRules`, `genSetMarkChain`, …), `utils.go`, v1.9.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.go.net import join_host_port
from lifecycle.cni.addresses import Interface, parse_ip
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.chain_names import format_chain_name

TOP_LEVEL_DNAT_CHAIN = "CNI-HOSTPORT-DNAT"
SET_MARK_CHAIN = "CNI-HOSTPORT-SETMARK"
MARK_MASQ_CHAIN = "CNI-HOSTPORT-MASQ"
OLD_TOP_LEVEL_SNAT_CHAIN = "CNI-HOSTPORT-SNAT"
DEFAULT_MARK_BIT = 13
"""Kubernetes uses 14 and 15."""
MULTIPORT_LIMIT = 15


@dataclass(slots=True)
class Chain:
    """A chain of the `nat` table. `entry_rules` get `-j <name>` and are put into each
    of `entry_chains`.
    """

    name: str
    rules: list[list[str]] = field(default_factory=list)
    entry_chains: tuple[str, ...] = ()
    entry_rules: list[list[str]] = field(default_factory=list)
    prepend_entry: bool = False

    def entries(self) -> list[tuple[str, list[str]]]:
        """The rules that lead here, with the chain each stands in."""
        return [
            (chain, [*rule, "-j", self.name])
            for chain in self.entry_chains
            for rule in self.entry_rules
        ]


def toplevel_dnat_chain() -> Chain:
    """What is addressed to the host itself, from outside or from the host, is looked up
    here.
    """
    entry = ["-m", "addrtype", "--dst-type", "LOCAL"]
    return Chain(
        TOP_LEVEL_DNAT_CHAIN, entry_chains=("PREROUTING", "OUTPUT"), entry_rules=[entry]
    )


def set_mark_chain(bit: int) -> Chain:
    """Mark a packet: it must be masqueraded later."""
    mark = f"{1 << bit:#x}"
    rule = [
        "-m",
        "comment",
        "--comment",
        "CNI portfwd masquerade mark",
        "-j",
        "MARK",
        "--set-xmark",
        f"{mark}/{mark}",
    ]
    return Chain(SET_MARK_CHAIN, [rule])


def mark_masq_chain(bit: int) -> Chain:
    """Masquerade what is marked; first of all in POSTROUTING, before what bridge and
    ptp put there.
    """
    mark = f"{1 << bit:#x}"
    entry = ["-m", "comment", "--comment", "CNI portfwd requiring masquerade"]
    rule = ["-m", "mark", "--mark", f"{mark}/{mark}", "-j", "MASQUERADE"]
    return Chain(MARK_MASQ_CHAIN, [rule], ("POSTROUTING",), [entry], prepend_entry=True)


def dnat_chain(network: str, container_id: str) -> Chain:
    """A container's own chain, still empty."""
    return Chain(
        format_chain_name(network, container_id, "DN-"),
        entry_chains=(TOP_LEVEL_DNAT_CHAIN,),
    )


def filled_dnat_chain(
    conf: Mapping[str, Any], container_id: str, address: Interface
) -> Chain:
    """A container's own chain: a rule for each port, and before it what marks hairpin
    and localhost traffic.
    """
    chain = dnat_chain(conf["name"], container_id)
    mappings = conf["runtimeConfig"]["portMappings"]
    version = address.version
    comment = _trimmed(f'dnat name: "{conf["name"]}" id: "{container_id}"')
    for protocol, ports in sorted(_by_protocol(mappings).items()):
        for some in _split(ports):
            entry = [
                "-m",
                "comment",
                "--comment",
                comment,
                "-m",
                "multiport",
                "-p",
                protocol,
                "--destination-ports",
                some,
            ]
            chain.entry_rules.append(
                entry + list(conf.get(f"conditionsV{version}") or ())
            )
    set_mark = conf.get("externalSetMarkChain") or SET_MARK_CHAIN
    everywhere = "0.0.0.0/0" if version == 4 else "::/0"
    own = f"{address.ip}/{address.network.prefixlen}"
    for mapping in mappings:
        base = ["-p", mapping.get("protocol", ""), "--dport", str(mapping["hostPort"])]
        if mapping.get("hostIP"):
            host_version, unspecified = _host_ip(mapping["hostIP"])
            if host_version != version:
                continue
            base += [] if unspecified else ["-d", mapping["hostIP"]]
        if conf.get("snat", True):
            chain.rules.append(
                [
                    *base,
                    "-s",
                    everywhere if conf.get("masqAll") else own,
                    "-j",
                    set_mark,
                ]
            )
            if version == 4 and not conf.get("masqAll"):
                chain.rules.append([*base, "-s", "127.0.0.1", "-j", set_mark])
        chain.rules.append(
            [
                *base,
                "-j",
                "DNAT",
                "--to-destination",
                join_host_port(str(address.ip), mapping["containerPort"]),
            ]
        )
    return chain


def all_chains(
    conf: Mapping[str, Any], container_id: str, address: Interface
) -> list[Chain]:
    """All chains that forwarding to this container needs, in the order in which they
    are set up.
    """
    chains = []
    bit = conf.get("markMasqBit")
    bit = DEFAULT_MARK_BIT if bit is None else bit
    if conf.get("snat", True) and not conf.get("externalSetMarkChain"):
        chains = [set_mark_chain(bit), mark_masq_chain(bit)]
    return [
        *chains,
        toplevel_dnat_chain(),
        filled_dnat_chain(conf, container_id, address),
    ]


def _host_ip(text: str) -> tuple[int, bool]:
    """IP version, and whether it stands for all addresses. What is no address at all
    is, upstream, none of version 4.
    """
    try:
        address = parse_ip(text)
    except CNIError:
        return 6, False
    return address.version, address.is_unspecified


def _by_protocol(mappings: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    ports: dict[str, list[int]] = {}
    for mapping in mappings:
        ports.setdefault(mapping.get("protocol", ""), []).append(mapping["hostPort"])
    return ports


def _split(ports: Sequence[int]) -> list[str]:
    """The multiport match takes fifteen at most."""
    pieces = [
        ports[at : at + MULTIPORT_LIMIT] for at in range(0, len(ports), MULTIPORT_LIMIT)
    ]
    return [",".join(map(str, piece)) for piece in pieces]


def _trimmed(comment: str) -> str:
    return comment if len(comment) <= 255 else comment[:253] + "..."
