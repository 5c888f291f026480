"""The core group, `v1`: pods, and what they stand on.

Upstream: `pkg/registry/core`, `pkg/apis/core`, v1.36.
"""

from lifecycle.apiserver.registry.core import (
    binding,
    pod_template,
    replication_controller,
)
from lifecycle.apiserver.registry.core.pod import strategy as pod
from lifecycle.apiserver.registry.rest.strategy import Strategy

STRATEGIES: dict[tuple[str, str], Strategy] = {
    ("v1", "Binding"): binding.STRATEGY,
    ("v1", "Pod"): pod.STRATEGY,
    ("v1", "PodTemplate"): pod_template.STRATEGY,
    ("v1", "ReplicationController"): replication_controller.STRATEGY,
}
