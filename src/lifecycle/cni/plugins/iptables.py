"""iptables, called as a program, a rule at a time: the way the plugins do it.

Upstream: `coreos/go-iptables` (`AppendUnique`, `ChainExists`, …),
`containernetworking/plugins`, `pkg/utils/iptables.go`, v1.9.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence

from lifecycle.cni.errors import CNIError


class IPTablesError(CNIError):
    """The program failed. `status`: its exit code."""

    def __init__(self, command: Sequence[str], status: int, stderr: str) -> None:
        super().__init__(
            f"running [{' '.join(command)}]: exit status {status}: {stderr}"
        )
        self.status = status
        self.stderr = stderr

    @property
    def is_not_exist(self) -> bool:
        """The rule or the chain is not there, in the words of either flavour of the
        program.
        """
        gone = (
            "does a matching rule exist in that chain",
            "No chain/target/match by that name",
            "No such file or directory",
            "does not exist",
        )
        return any(words in self.stderr for words in gone)


class IPTables:
    """The rules of one IP version in the calling process' namespace."""

    def __init__(self, version: int = 4) -> None:
        import shutil  # and every archive's format; most calls of a plugin need none

        program = shutil.which(
            "iptables" if version == 4 else "ip6tables",
            path="/usr/sbin:/sbin:/usr/bin:/bin",
        )
        if program is None:
            raise CNIError(
                f'exec: "{"iptables" if version == 4 else "ip6tables"}": executable'
                " file not found in $PATH"
            )
        self._program = program

    def run(self, table: str, *arguments: str) -> str:
        """Raises IPTablesError."""
        command = [self._program, "-t", table, *arguments, "--wait"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise IPTablesError(command, done.returncode, done.stderr)
        return done.stdout

    def exists(self, table: str, chain: str, rule: Sequence[str]) -> bool:
        """Whether the chain has this rule."""
        try:
            self.run(table, "-C", chain, *rule)
        except IPTablesError as error:
            if error.status == 1:
                return False
            raise
        return True

    def append_unique(self, table: str, chain: str, rule: Sequence[str]) -> None:
        """Append a rule that is not there yet."""
        self.insert_unique(table, chain, rule, prepend=False)

    def insert_unique(
        self, table: str, chain: str, rule: Sequence[str], *, prepend: bool
    ) -> None:
        """Append a rule, or put it first, if it is not there yet."""
        if not self.exists(table, chain, rule):
            self.run(table, *(("-I", chain, "1") if prepend else ("-A", chain)), *rule)

    def chain_exists(self, table: str, chain: str) -> bool:
        """Whether the table has this chain."""
        try:
            self.run(table, "-S", chain, "1")
        except IPTablesError as error:
            if error.status == 1 or error.is_not_exist:
                return False
            raise
        return True

    def ensure_chain(self, table: str, chain: str) -> None:
        """Make the chain if need be."""
        if not self.chain_exists(table, chain):
            try:
                self.run(table, "-N", chain)
            except IPTablesError as error:
                if error.status != 1:  # somebody else was faster
                    raise

    def delete(self, table: str, chain: str, rule: Sequence[str]) -> None:
        """Remove a rule. That it is gone already is no error."""
        try:
            self.run(table, "-D", chain, *rule)
        except IPTablesError as error:
            if not error.is_not_exist and error.status != 2:
                raise

    def clear_and_delete_chain(self, table: str, chain: str) -> None:
        """Empty a chain and remove it. That it is gone already is no error."""
        try:
            self.run(table, "-F", chain)
            self.run(table, "-X", chain)
        except IPTablesError as error:
            if not error.is_not_exist:
                raise

    def references(self, table: str, chain: str, target: str) -> list[str]:
        """The rules of `chain` that jump to `target`, as the program lists them."""
        try:
            lines = self.run(table, "-S", chain).splitlines()
        except IPTablesError:
            return []
        return [line for line in lines if re.search(rf"-j {re.escape(target)}$", line)]
