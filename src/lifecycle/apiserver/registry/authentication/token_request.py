"""TokenRequests: the body of `serviceaccounts/token`. They are never stored.

Upstream: `pkg/apis/authentication/v1/defaults.go` (`SetDefaults_TokenRequestSpec`),
v1.36; what is done with one: `authn.token_request`.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.strategy import Strategy


def set_defaults(request: Object) -> None:
    """An hour."""
    set_default(request.setdefault("spec", {}), "expirationSeconds", 3600)


STRATEGY = Strategy(set_defaults=set_defaults)
