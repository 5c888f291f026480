"""Whose rule is it? A node's tables have several tenants, and only one of them is
kube-proxy.

The kubelet keeps a canary and a hint in them, kind's network agent masquerades, Docker
redirects its DNS server, the CNI plugin `portmap` opens host ports. To compare
kube-proxy's rules with those of a node, each line of `iptables-save` is given its owner
by the chain it is in, or the chain it leads to from one of the kernel's. A line that
fits nobody is `unknown`, and says so.

Upstream: `pkg/kubelet/kubelet_network_linux.go` (`KUBE-IPTABLES-HINT`,
`KUBE-KUBELET-CANARY`), kindnetd's masquerade agent, the CNI plugin portmap, Docker's
embedded DNS.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lifecycle.proxy.iptables.chains import (
    CANARY_TABLES,
    FILTER_CHAINS,
    JUMP_CHAINS,
    KUBE_PROXY_CANARY,
    NAT_CHAINS,
)
from lifecycle.proxy.iptables.chains import is_service_chain as is_service_chain_name
from lifecycle.proxy.iptables.tables import BUILT_IN

KUBE_PROXY, KUBELET, KERNEL, UNKNOWN = "kube-proxy", "kubelet", "kernel", "unknown"

CHAIN_PREFIXES = (
    ("KUBE-IPTABLES-HINT", KUBELET),
    ("KUBE-KUBELET-CANARY", KUBELET),
    ("KIND-MASQ-AGENT", "kindnet"),
    ("CNI-", "portmap"),
    ("DOCKER_", "Docker"),
)


class SavedLine(NamedTuple):
    """A line of `iptables-save`: `rule` is empty for the line that declares the chain.
    `text` is the whole line, without counters.
    """

    table: str
    chain: str
    rule: str
    text: str

    @property
    def owner(self) -> str:
        """Whose it is. A jump out of one of the kernel's chains belongs to the owner of
        the chain it leads to.
        """
        if self.chain not in BUILT_IN[self.table]:
            return chain_owner(self.table, self.chain)
        if not self.rule:
            return KERNEL
        return chain_owner(self.table, self.rule.rpartition("-j ")[2].split(" ")[0])


def chain_owner(table: str, chain: str) -> str:
    """Whose chain it is."""
    ours = {"filter": FILTER_CHAINS, "nat": NAT_CHAINS}.get(table, ())
    jumps = {jump.destination for jump in JUMP_CHAINS if jump.table == table}
    canary = table in CANARY_TABLES and chain == KUBE_PROXY_CANARY
    if (
        chain in ours
        or chain in jumps
        or canary
        or (table == "nat" and is_service_chain_name(chain))
    ):
        return KUBE_PROXY
    return next(
        (owner for prefix, owner in CHAIN_PREFIXES if chain.startswith(prefix)), UNKNOWN
    )


def saved_lines(text: str) -> Iterator[SavedLine]:
    """The lines of `iptables-save`, except comments and the frame of each table."""
    table = ""
    for line in text.splitlines():
        if line.startswith("*"):
            table = line[1:]
        elif line.startswith(":"):
            declared = line.rpartition(" [")[0]
            yield SavedLine(table, line[1:].split()[0], "", declared)
        elif line.startswith("-A "):
            _, chain, rule = line.split(" ", 2)
            yield SavedLine(table, chain, rule, line)
