"""`rbac.authorization.k8s.io`: who may do what.

Upstream: `pkg/registry/rbac`, `pkg/apis/rbac`, v1.36.
"""

from lifecycle.apiserver.registry.rbac import (
    cluster_role,
    cluster_role_binding,
    role,
    role_binding,
)

_V1 = "rbac.authorization.k8s.io/v1"

STRATEGIES = {
    (_V1, "Role"): role.STRATEGY,
    (_V1, "RoleBinding"): role_binding.STRATEGY,
    (_V1, "ClusterRole"): cluster_role.STRATEGY,
    (_V1, "ClusterRoleBinding"): cluster_role_binding.STRATEGY,
}
