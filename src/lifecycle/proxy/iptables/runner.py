"""Where rules go: the kernel of this machine, or a picture of it.

The proxier speaks to a `Runner`. `TextRunner` keeps the rules in `Tables` and every
text that was restored; the cluster uses it unless told otherwise. `CommandRunner` calls
the real programs – in a network namespace of its own, so that no test or lab ever
touches the machine's rules.

Upstream: `pkg/util/iptables/iptables.go` (`Interface`, `runner`),
`pkg/proxy/util/nfacct`, v1.36. Left out: the search for features of old iptables
versions.
"""

from __future__ import annotations

import asyncio
import shlex
import shutil
from collections.abc import Sequence
from typing import Protocol

from lifecycle.api.loop.worker import beside
from lifecycle.proxy.iptables.tables import RestoreError, Tables

WAIT = ("-w", "5", "-W", "100000")
"""Wait up to five seconds for the lock that iptables programs share, looking every 100
ms.
"""

KEPT = 4 << 20
"""Bytes of inputs that are remembered beside the last."""


class Runner(Protocol):
    """The programs kube-proxy needs. All of them may raise RestoreError."""

    async def ensure_chain(self, table: str, chain: str) -> bool:
        """Make a chain unless it is there; whether it was."""
        ...

    async def chain_exists(self, table: str, chain: str) -> bool:
        """Whether a chain is there."""
        ...

    async def ensure_rule(self, table: str, chain: str, rule: str) -> bool:
        """Put a rule first in a chain unless it is there somewhere; whether it was."""
        ...

    async def ensure_counter(self, name: str) -> bool:
        """Make an nfacct counter unless it is there; whether it is now."""
        ...

    async def chains(self, table: str) -> list[str]:
        """Names of the chains of a table."""
        ...

    async def restore_all(self, text: str) -> None:
        """`iptables-restore --noflush --counters`."""
        ...


class TextRunner:
    """Rules as text. `tables` is what a kernel would hold now, `restored` every input
    of `iptables-restore`, oldest first.

    `counters=False` plays a kernel without nfacct. `keep`: how many inputs are
    remembered, if they are short.
    """

    def __init__(
        self, tables: Tables | None = None, *, counters: bool = True, keep: int = 100
    ) -> None:
        self.tables = tables or Tables()
        self.restored: list[str] = []
        self._counters = counters
        self._keep = keep

    async def ensure_chain(self, table: str, chain: str) -> bool:
        """See `Runner`."""
        return self.tables.ensure_chain(table, chain)

    async def chain_exists(self, table: str, chain: str) -> bool:
        """See `Runner`."""
        return chain in self.tables.chains(table)

    async def ensure_rule(self, table: str, chain: str, rule: str) -> bool:
        """See `Runner`."""
        return self.tables.ensure_rule(table, chain, rule)

    async def ensure_counter(self, name: str) -> bool:
        """See `Runner`."""
        return self._counters

    async def chains(self, table: str) -> list[str]:
        """See `Runner`."""
        return self.tables.chains(table)

    async def restore_all(self, text: str) -> None:
        """See `Runner`."""
        await beside(len(text), self.tables.restore, text)
        self.restored.append(text)
        del self.restored[: -self._keep]
        while len(self.restored) > 1 and sum(map(len, self.restored)) > KEPT:
            del self.restored[0]


class CommandRunner:
    """The real programs, as root, inside a network namespace made with `ip netns add`.
    IPv4 only.
    """

    def __init__(self, namespace: str) -> None:
        if not namespace:
            raise ValueError(
                "a network namespace is needed: the machine's own rules are not ours to"
                " change"
            )
        self.namespace = namespace

    async def ensure_chain(self, table: str, chain: str) -> bool:
        """See `Runner`."""
        code, _, error = await self._run("iptables", *WAIT, "-t", table, "-N", chain)
        if code not in (0, 1):
            raise RestoreError(error)
        return code == 1

    async def chain_exists(self, table: str, chain: str) -> bool:
        """See `Runner`."""
        code, _, _ = await self._run("iptables", *WAIT, "-t", table, "-S", chain, "1")
        return code == 0

    async def ensure_rule(self, table: str, chain: str, rule: str) -> bool:
        """See `Runner`."""
        words = shlex.split(rule)
        code, _, _ = await self._run(
            "iptables", *WAIT, "-t", table, "-C", chain, *words
        )
        if code == 0:
            return True
        await self._must("iptables", *WAIT, "-t", table, "-I", chain, *words)
        return False

    async def ensure_counter(self, name: str) -> bool:
        """See `Runner`. The `nfacct` program makes counters; without it rules go
        uncounted, as upstream's do on kernels without them.
        """
        if shutil.which("nfacct") is None:
            return False
        code, _, error = await self._run("nfacct", "add", name)
        return code == 0 or "exists" in error or "busy" in error.lower()

    async def chains(self, table: str) -> list[str]:
        """See `Runner`."""
        lines = (await self._must("iptables-save", "-t", table)).splitlines()
        return [line[1:].split()[0] for line in lines if line.startswith(":")]

    async def restore_all(self, text: str) -> None:
        """See `Runner`."""
        await self._must(
            "iptables-restore", *WAIT, "--noflush", "--counters", stdin=text
        )

    async def _must(self, *command: str, stdin: str = "") -> str:
        code, output, error = await self._run(*command, stdin=stdin)
        if code:
            raise RestoreError(
                f"{shlex.join(command)}: exit code {code}: {error.strip()}"
            )
        return output

    async def _run(self, *command: str, stdin: str = "") -> tuple[int, str, str]:
        inside: Sequence[str] = ("ip", "netns", "exec", self.namespace, *command)
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *inside, stdin=pipe, stdout=pipe, stderr=pipe
        )
        try:
            output, error = await process.communicate(stdin.encode())
        except asyncio.CancelledError:
            if process.returncode is None:
                process.kill()
                await process.wait()
            raise
        return process.returncode or 0, output.decode(), error.decode()
