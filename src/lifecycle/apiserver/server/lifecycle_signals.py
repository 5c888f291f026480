"""Where a server is in its life, for those who behave accordingly.

Upstream: `apiserver/pkg/server/lifecycle_signals.go`, v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class LifecycleSignals:
    """Set by the server alone. `address` is the server as clients reach it,
    `host:port`; a guess until it listens.
    """

    has_been_ready: bool = False
    shutdown_initiated: bool = False
    address: str = "127.0.0.1:6443"
