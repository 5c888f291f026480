"""What is handed to `iptables-restore`: four lists of lines.

`iptables-restore --noflush` replaces the chains that are declared (`:CHAIN - [0:0]`)
and leaves all others alone, in one step per table: no packet ever sees half of the new
rules. That is why a sync may leave out a service's chains when nothing about it
changed, but not `KUBE-SERVICES`, which has a rule of everybody.

Upstream: `pkg/proxy/iptables/proxier.go` (`filterChains`, `filterRules`, `natChains`,
`natRules`), `pkg/proxy/util/linebuffer.go`, v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class RestoreInput:
    """Lines for the two tables. `skipped_nat_rules` counts rules that are in the kernel
    already and were left out.
    """

    filter_chains: list[str] = field(default_factory=list)
    filter_rules: list[str] = field(default_factory=list)
    nat_chains: list[str] = field(default_factory=list)
    nat_rules: list[str] = field(default_factory=list)
    deleted_chains: int = 0
    skipped_nat_rules: int = 0

    def add(self, other: RestoreInput) -> None:
        """The other one's lines, behind those that are here."""
        self.filter_chains += other.filter_chains
        self.filter_rules += other.filter_rules
        self.nat_chains += other.nat_chains
        self.nat_rules += other.nat_rules

    @property
    def filter_rule_count(self) -> int:
        """Rules in the filter table after this sync. Upstream: the metric
        `sync_proxy_rules_iptables_total`.
        """
        return len(self.filter_rules)

    @property
    def nat_rule_count(self) -> int:
        """Rules in the nat table after this sync, those left out included."""
        return len(self.nat_rules) - self.deleted_chains + self.skipped_nat_rules

    def text(self) -> str:
        """The input of `iptables-restore`."""
        filter_lines = (*self.filter_chains, *self.filter_rules)
        nat_lines = (*self.nat_chains, *self.nat_rules)
        return "\n".join(
            ("*filter", *filter_lines, "COMMIT", "*nat", *nat_lines, "COMMIT", "")
        )


def chain_line(chain: str) -> str:
    """Declares a chain, which empties it."""
    return f":{chain} - [0:0]"
