"""`authentication.k8s.io`: who is it? (asked, never stored).

Upstream: `pkg/registry/authentication`, `pkg/apis/authentication`, v1.36.
"""

from lifecycle.apiserver.registry.authentication import token_request

STRATEGIES = {("authentication.k8s.io/v1", "TokenRequest"): token_request.STRATEGY}
