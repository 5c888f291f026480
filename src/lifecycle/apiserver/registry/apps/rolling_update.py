"""The defaults of a rolling update, which Deployments and DaemonSets share.

Upstream: `pkg/apis/apps/v1/defaults.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.rest.defaults import set_default


def set_rolling_update_defaults(
    spec: Object, key: str, max_unavailable: int | str, max_surge: int | str
) -> None:
    """Fill in the strategy at `spec[key]`: RollingUpdate, and how many pods may be
    missing or too many meanwhile.
    """
    strategy = spec.get(key)
    if strategy is None:
        strategy = spec[key] = {}
    if not strategy.get("type"):
        strategy["type"] = "RollingUpdate"
    if strategy["type"] == "RollingUpdate":
        rolling = strategy.get("rollingUpdate")
        if rolling is None:
            rolling = strategy["rollingUpdate"] = {}
        set_default(rolling, "maxUnavailable", max_unavailable)
        set_default(rolling, "maxSurge", max_surge)
