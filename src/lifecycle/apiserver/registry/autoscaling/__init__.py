"""`autoscaling`: how many pods there should be, by what is measured.

Upstream: `pkg/registry/autoscaling`, `pkg/apis/autoscaling`, v1.36.
"""

from lifecycle.apiserver.registry.autoscaling import scale
from lifecycle.apiserver.registry.autoscaling.horizontal_pod_autoscaler import (
    strategy,
    v1,
)

STRATEGIES = {
    ("autoscaling/v1", "HorizontalPodAutoscaler"): v1.STRATEGY,
    ("autoscaling/v2", "HorizontalPodAutoscaler"): strategy.STRATEGY,
    ("autoscaling/v1", "Scale"): scale.STRATEGY,
}
