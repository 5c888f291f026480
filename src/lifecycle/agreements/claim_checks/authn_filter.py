"""Claims about the authentication of a request: what it does to it, and what comes
later.

What a client was told, the recordings show; what a server hands on, only a component
can.
"""

from __future__ import annotations

from lifecycle.agreements.claim_checks.authenticating import (
    chain,
    exchange_at,
    through,
    words,
)
from lifecycle.api.http.wire import Request
from lifecycle.compare.claims import check, rebuilt
from lifecycle.inspector import Recording


@check("authn-approval-yields-unauthorized")
def approval_is_unauthorized(recording: Recording) -> bool:
    """An approved administrator would have to be turned away."""
    return exchange_at(recording, "impersonation by admin").status == 401


@rebuilt("authn-approval-yields-unauthorized")
def ours_approve() -> bool:
    """A good token, and the next handler."""
    status, seen = through("Bearer s3cret")
    assert (status, len(seen)) in ((200, 1), (401, 0))
    return status == 401


@check("authn-failure-stops-the-request")
def failure_stops(recording: Recording) -> bool:
    """A bad token is a 401, where no token at all got as far as a 403."""
    return (
        exchange_at(recording, "bad token").status,
        exchange_at(recording, "anonymous list").status,
    ) == (401, 403)


@rebuilt("authn-failure-stops-the-request")
def ours_stop() -> bool:
    """The next handler never sees the request."""
    return through("Bearer guess") == (401, [])


@rebuilt("authn-authorization-header-removed")
def header_removed() -> bool:
    """Gone when the next handler gets the request; other headers stay."""
    _, seen = through("Bearer s3cret", {"accept": "x"})
    return [request.headers for request in seen] == [{"accept": "x"}]


@rebuilt("authn-user-stored-in-request-context")
def user_stored() -> bool:
    """On the request, and the same one that authorization is asked about."""
    _, seen = through("Bearer s3cret")
    _, _, spy = chain(
        Request("GET", "/api", headers={"authorization": "Bearer s3cret"})
    )
    return (
        seen[0].user is not None
        and seen[0].user.name == "jane"
        and spy.asked == [("jane", "get")]
    )


@check("authn-inflight-impersonation-audit-run-later")
def later_stages(recording: Recording) -> bool:
    """A refused impersonation names the authenticated account; an allowed one is then
    judged as the other user.
    """
    refused, judged = (
        exchange_at(recording, "SA may not impersonate"),
        exchange_at(recording, "impersonated user without rights"),
    )
    return "system:serviceaccount:default:default" in words(
        refused
    ) and 'User "jane"' in words(judged)


@rebuilt("authn-inflight-impersonation-audit-run-later")
def ours_later_stages() -> bool:
    """Bad credentials never reach impersonation; good ones are asked about it first,
    and the other user after.
    """
    wish = {"impersonate-user": "bob"}
    refused, _, nobody = chain(
        Request("GET", "/api", headers={"authorization": "Bearer guess", **wish})
    )
    _, _, spy = chain(
        Request("GET", "/api", headers={"authorization": "Bearer s3cret", **wish})
    )
    users = [name for name, _ in spy.asked]
    return (
        refused == 401
        and nobody.asked == []
        and users[0] == "jane"
        and users[-1] == "bob"
    )


@rebuilt("authn-cors-and-timeout-run-later")
def cors_later() -> bool:
    """If CORS came after authentication, a preflight without credentials would end in a
    401.
    """
    headers = {"origin": "https://shop.example", "access-control-request-method": "GET"}
    status, sent, _ = chain(
        Request(
            "OPTIONS", "/api", headers={**headers, "authorization": "Bearer guess"}
        ),
        cors_allowed_origins=(r"https://shop\.example",),
    )
    assert status == 401 or "Access-Control-Allow-Origin" in sent
    return status == 401
