"""HorizontalPodAutoscalers of `autoscaling/v2`, as they are stored.

Upstream: `pkg/apis/autoscaling/v2/defaults.go`,
`pkg/registry/autoscaling/horizontalpodautoscaler/strategy.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.schema import decode as decode_any
from lifecycle.api.schema import empties
from lifecycle.apiserver.registry.autoscaling.horizontal_pod_autoscaler.table import (
    PRINTER,
)
from lifecycle.apiserver.registry.autoscaling.horizontal_pod_autoscaler.validation import (  # noqa: E501
    validate,
    validate_status_update,
    validate_update,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

_POLICIES = ("spec.behavior.scaleUp.policies", "spec.behavior.scaleDown.policies")


def decode(obj: object, api_version: str, kind: str) -> tuple[Object, list[str]]:
    """As any kind, but no policies at all are not the default ones: validation sees."""
    decoded, strict = decode_any(obj, api_version, kind)
    empties.kept(decoded, strict, *_POLICIES)
    return decoded, strict


def set_defaults(autoscaler: Object) -> None:
    """At least one replica, 80 % CPU; a behaviour given in part is completed."""
    spec = autoscaler.setdefault("spec", {})
    set_default(spec, "minReplicas", 1)
    if not spec.get("metrics"):
        target = {"type": "Utilization", "averageUtilization": 80}
        spec["metrics"] = [
            {"type": "Resource", "resource": {"name": "cpu", "target": target}}
        ]
    behavior = spec.get("behavior")
    if behavior is not None:
        up = {
            "stabilizationWindowSeconds": 0,
            "selectPolicy": "Max",
            "policies": [
                {"type": "Pods", "value": 4, "periodSeconds": 15},
                {"type": "Percent", "value": 100, "periodSeconds": 15},
            ],
        }
        down = {
            "selectPolicy": "Max",
            "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}],
        }
        for key, rules in (("scaleUp", up), ("scaleDown", down)):
            scaling_rules = behavior.get(key) or {}
            behavior[key] = {
                **rules,
                **{
                    name: value
                    for name, value in scaling_rules.items()
                    if value is not None
                },
            }


STRATEGY = Strategy(
    decode=decode,
    set_defaults=set_defaults,
    validate=validate,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_update, validate_status_update
        )
    },
    printer=PRINTER,
)
