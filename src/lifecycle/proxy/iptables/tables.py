"""The kernel's tables, as far as kube-proxy sees them: what `iptables-restore` does to
them and `iptables-save` tells of them.

Where there is no root and no Linux the proxier works on these instead, and a reader can
look at them.

Upstream: netfilter's iptables 1.8.9 (nf_tables variant), `iptables/xtables-restore.c`,
`xtables-save.c`. Left out: packet counters (always zero) and commands other than those
that kube-proxy sends.
"""

from __future__ import annotations

import shlex

from lifecycle.proxy.iptables.saved_form import saved_form

BUILT_IN = {
    "mangle": ("PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"),
    "filter": ("INPUT", "FORWARD", "OUTPUT"),
    "nat": ("PREROUTING", "INPUT", "OUTPUT", "POSTROUTING"),
}
"""The kernel's own chains, in the order in which tables and chains are printed."""

TERMINAL_TARGETS = frozenset(
    {"ACCEPT", "DROP", "RETURN", "REJECT", "DNAT", "SNAT", "MARK", "MASQUERADE"}
)


class RestoreError(Exception):
    """`iptables-restore` refused its input; nothing of the table was changed."""


class Tables:
    """Tables of chains of rules, the rules in saved form."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[str, list[str]]] = {
            table: {chain: [] for chain in chains} for table, chains in BUILT_IN.items()
        }

    def chains(self, table: str) -> list[str]:
        """Names of a table's chains."""
        return list(self._tables[table])

    def rules(self, table: str, chain: str) -> list[str]:
        """A chain's rules. Raises KeyError if there is no such chain."""
        return list(self._tables[table][chain])

    def ensure_chain(self, table: str, chain: str) -> bool:
        """Make a chain unless it is there; whether it was."""
        existed = chain in self._tables[table]
        self._tables[table].setdefault(chain, [])
        return existed

    def ensure_rule(self, table: str, chain: str, rule: str) -> bool:
        """Put a rule in front of a chain's others unless it is there; whether it
        was.
        """
        saved, rules = saved_form(rule), self._tables[table][chain]
        if saved in rules:
            return True
        rules.insert(0, saved)
        return False

    def restore(self, text: str) -> None:
        """`iptables-restore --noflush`: each table changes as a whole or not at all.
        Raises RestoreError.
        """
        table = ""
        work: dict[str, list[str]] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if not line or line.startswith("#"):
                continue
            try:
                if line.startswith("*"):
                    table = line[1:]
                    work = {
                        chain: list(rules)
                        for chain, rules in self._tables[table].items()
                    }
                elif line == "COMMIT":
                    _check_jumps(work)
                    self._tables[table] = work
                elif line.startswith(":"):
                    chain = line[1:].split()[0]
                    if chain not in BUILT_IN[table]:
                        work[chain] = []
                else:
                    _command(work, line)
            except (KeyError, ValueError, StopIteration) as error:
                raise RestoreError(f"line {number} failed: {line}: {error}") from error

    def save(self, *only: str) -> str:
        """`iptables-save`, without its comment lines. A table that nobody has touched
        is not printed.
        """
        lines: list[str] = []
        for table, built_in in BUILT_IN.items():
            chains = self._tables[table]
            if (only and table not in only) or not (
                len(chains) > len(built_in) or any(chains.values())
            ):
                continue
            order = [*built_in, *sorted(set(chains).difference(built_in))]
            lines.append(f"*{table}")
            lines += [
                f":{chain} {'ACCEPT' if chain in built_in else '-'} [0:0]"
                for chain in order
            ]
            lines += [f"-A {chain} {rule}" for chain in order for rule in chains[chain]]
            lines.append("COMMIT")
        return "\n".join([*lines, ""]) if lines else ""


def _command(chains: dict[str, list[str]], line: str) -> None:
    command, chain, *rest = line.split(" ", 2)
    if command == "-A":
        chains[chain].append(saved_form(rest[0]))
    elif command == "-I":
        chains[chain].insert(0, saved_form(rest[0]))
    elif command == "-X":
        if chains.pop(chain):
            raise ValueError(f"{chain} is not empty")
    else:
        raise ValueError(f"{command} is not known here")


def _check_jumps(chains: dict[str, list[str]]) -> None:
    """A rule may only lead to a chain that exists."""
    for rules in chains.values():
        for rule in rules:
            words = shlex.split(rule)
            target = words[words.index("-j") + 1] if "-j" in words else ""
            if target and target not in TERMINAL_TARGETS and target not in chains:
                raise ValueError(f"no chain {target}")
