"""`autoscaling`: how many pods there should be, by what is measured.

Upstream: `pkg/registry/autoscaling`, `pkg/apis/autoscaling`, v1.36.
"""

from lifecycle.apiserver.registry.autoscaling import (
    horizontal_pod_autoscaler_v1,
    scale,
)

STRATEGIES = {
    (
        "autoscaling/v1",
        "HorizontalPodAutoscaler",
    ): horizontal_pod_autoscaler_v1.STRATEGY,
    ("autoscaling/v1", "Scale"): scale.STRATEGY,
}
