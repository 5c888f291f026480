"""`node.k8s.io`: how nodes run containers.

Upstream: `pkg/registry/node`, `pkg/apis/node`, v1.36.
"""

from lifecycle.apiserver.registry.node import runtime_class

STRATEGIES = {("node.k8s.io/v1", "RuntimeClass"): runtime_class.STRATEGY}
