"""`kubectl version`: the client's, and what `/version` says.

Upstream: `kubectl/pkg/cmd/version/version.go` (`Options.Run`), `skew_warning.go`, v1.36.2. Left out: `-o json`, `-o yaml`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.kubectl.flags import flag, parse
from lifecycle.kubectl.session import JSON_OR_ANYTHING, Session

CLIENT, KUSTOMIZE = "v1.36.2", "v5.8.1"
SUPPORTED_SKEW = 1


async def version(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl version ARGV`."""
    p = parse(argv, (flag("client", "bool"),), "version")
    session.print(f"Client Version: {CLIENT}\nKustomize Version: {KUSTOMIZE}\n")
    if p["client"]:
        return
    server = (await session.send("GET", "/version", {"timeout": "32s"}, accept=JSON_OR_ANYTHING))["gitVersion"]
    session.print(f"Server Version: {server}\n")
    minors = [int(text.split(".")[1]) for text in (CLIENT, server)]
    if abs(minors[0] - minors[1]) > SUPPORTED_SKEW:
        session.warn(
            f"Warning: version difference between client ({'.'.join(CLIENT.lstrip('v').split('.')[:2])}) and server "
            f"({'.'.join(server.lstrip('v').split('.')[:2])}) exceeds the supported minor version skew of +/-1\n"
        )
