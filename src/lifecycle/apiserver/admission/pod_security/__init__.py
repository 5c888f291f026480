"""Pod Security: the standards (`registry`, and the checks it lists), and the plugin
that holds pods to them (`admission`).

Upstream: `pod-security-admission`, v1.36.
"""

from lifecycle.apiserver.admission.pod_security.admission import (
    PodSecurity,
    policy_to_evaluate,
)

__all__ = ["PodSecurity", "policy_to_evaluate"]
