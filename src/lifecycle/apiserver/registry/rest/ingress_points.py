"""Where a load balancer takes traffic in: a Service's status says it, and an Ingress's.

Upstream: `pkg/registry/core/service/strategy.go` (`serviceStatusStrategy`),
`pkg/registry/networking/ingress/strategy.go` (`ingressStatusStrategy`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.validation.addresses import warnings_for_ip


def warnings_on_status_update(new: Object, old: Object) -> list[str]:
    """Addresses in unusual spellings."""
    balancer = (new.get("status") or {}).get("loadBalancer") or {}
    return [
        warning
        for index, point in enumerate(balancer.get("ingress") or ())
        for warning in warnings_for_ip(
            point.get("ip", ""), f"status.loadBalancer.ingress[{index}]"
        )
    ]
