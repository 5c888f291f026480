"""Authorization: may this user do this?

Upstream: `apiserver/pkg/endpoints/filters/authorization.go` (`WithAuthorization`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import ANONYMOUS, Handler, Request, Response
from lifecycle.api.status import internal_error
from lifecycle.api.tracing import span
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.authz.authorizer import Authorizer, decide
from lifecycle.apiserver.authz.forbidden import forbidden_status_error
from lifecycle.apiserver.filters.refusal import refuse

DECISION = "authorization.k8s.io/decision"
REASON = "authorization.k8s.io/reason"


def with_authorization(handler: Handler, authorizer: Authorizer) -> Handler:
    """Pass on what the authorizer allows, answer 403 to the rest."""

    async def authorization(request: Request) -> Response:
        info = request.info
        assert info is not None, "request info comes first"
        user = request.user or ANONYMOUS
        with span(
            "apiserver", "authorization", user=user.name, verb=info.verb
        ) as recorded:
            verdict = await decide(authorizer.authorize, user, info)
            if recorded is not None:
                recorded.attributes.update(
                    allowed=verdict.allowed, reason=verdict.reason
                )
        if verdict.allowed:
            annotate(DECISION, "allow", REASON, verdict.reason)
            return await handler(request)
        if verdict.error:
            annotate(REASON, "internal error")
            return refuse(internal_error(verdict.error))
        annotate(DECISION, "forbid", REASON, verdict.reason)
        return refuse(forbidden_status_error(user, info, verdict.reason))

    return authorization
