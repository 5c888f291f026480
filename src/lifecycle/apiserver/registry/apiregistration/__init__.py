"""`apiregistration.k8s.io`: which server serves which group.

Upstream: `kube-aggregator/pkg/registry`, `kube-aggregator/pkg/apis/apiregistration`,
v1.36.
"""

from lifecycle.apiserver.registry.apiregistration import api_service

STRATEGIES = {("apiregistration.k8s.io/v1", "APIService"): api_service.STRATEGY}
