"""Masquerading of what a pod sends out of its network: a chain for each container.

Upstream: `containernetworking/plugins`, `pkg/ip/ipmasq_iptables_linux.go`
(`SetupIPMasq`, `TeardownIPMasq`), v1.9. Left out: the nftables backend.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.cni.addresses import Interface
from lifecycle.cni.errors import CNIError
from lifecycle.cni.plugins.chain_names import format_chain_name, format_comment
from lifecycle.cni.plugins.iptables import IPTables

MULTICAST = {4: "224.0.0.0/4", 6: "ff00::/8"}

Rule = tuple[str, Sequence[str]]
"""A chain and what is appended to it."""


def masquerade_rules(address: Interface, network: str, container_id: str) -> list[Rule]:
    """Within the network nothing is changed, nor for multicast; all else leaves under
    the host's address.
    """
    chain = format_chain_name(network, container_id)
    comment = ["-m", "comment", "--comment", format_comment(network, container_id)]
    inside = f"{address.ip}/{address.network.prefixlen}"
    return [
        (chain, ["-d", inside, "-j", "ACCEPT", *comment]),
        (chain, ["!", "-d", MULTICAST[address.version], "-j", "MASQUERADE", *comment]),
        ("POSTROUTING", ["-s", str(address.ip), "-j", chain, *comment]),
    ]


def setup_ip_masq(
    addresses: Iterable[Interface],
    network: str,
    container_id: str,
    backend: str | None = None,
) -> None:
    """Raises CNIError."""
    if backend not in (None, "iptables"):
        raise CNIError(f'unknown ipmasq backend "{backend}"')
    for address in addresses:
        iptables = IPTables(address.version)
        iptables.ensure_chain("nat", format_chain_name(network, container_id))
        for chain, rule in masquerade_rules(address, network, container_id):
            iptables.append_unique("nat", chain, rule)


def teardown_ip_masq(
    addresses: Iterable[Interface], network: str, container_id: str
) -> None:
    """Raises CNIError when all of them were tried. Rules that are gone are no error."""
    complaints = []
    for address in addresses:
        *_, (entry, (source, _, *rest)) = masquerade_rules(
            address, network, container_id
        )
        try:
            iptables = IPTables(address.version)
            # versions of old wrote the address with the length of its prefix
            for written in (str(address.ip), str(address)):
                iptables.delete("nat", entry, [source, written, *rest])
            iptables.clear_and_delete_chain(
                "nat", format_chain_name(network, container_id)
            )
        except CNIError as error:
            complaints.append(str(error))
    if complaints:
        raise CNIError("\n".join(complaints))
