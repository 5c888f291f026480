"""Scenes of authorization: questions, a role, its binding, authorizers that count."""

from __future__ import annotations

import asyncio

from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import Object, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.authz.authorizer import (
    Authorizer,
    Decision,
    UserRules,
    Verdict,
)
from lifecycle.apiserver.filters.authorization import with_authorization

RBAC = "rbac.authorization.k8s.io"
JANE = UserInfo("jane", ("devs", "system:authenticated"))
BY_RBAC = "RBAC: allowed by "


def asked(verb: str = "get", resource: str = "pods", name: str = "") -> RequestInfo:
    """A question about something in the namespace `shop`."""
    return RequestInfo(
        True, "", verb, version="v1", namespace="shop", resource=resource, name=name
    )


ROLE: Object = {
    "apiVersion": f"{RBAC}/v1",
    "kind": "Role",
    "metadata": {"name": "reader", "namespace": "shop"},
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
}


def binding(kind: str, name: str) -> Object:
    """A binding of the role to somebody."""
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "readers", "namespace": "shop"},
        "roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "reader"},
        "subjects": [{"kind": kind, "name": name, "apiGroup": RBAC}],
    }


class Fixed:
    """An authorizer with one answer, which counts its questions."""

    def __init__(self, verdict: Verdict) -> None:
        self.verdict, self.count = verdict, 0

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Always the same."""
        self.count += 1
        return self.verdict

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing."""
        return UserRules()


class Slow(Fixed):
    """One that has to ask somebody itself."""

    async def authorize(  # type: ignore[override]
        self, user: UserInfo, info: RequestInfo
    ) -> Verdict:
        """The same, a little later."""
        await asyncio.sleep(0)
        return super().authorize(user, info)


DENY = Verdict(Decision.DENY, "no")


def status(authorizer: Authorizer) -> int:
    """With which code a request is answered that passes the filter."""

    async def handler(request: Request) -> Response:
        return Response(200, obj={})

    async def ask() -> int:
        request = Request(
            "GET", "/api/v1/namespaces/shop/pods/x", user=JANE, info=asked()
        )
        return (await with_authorization(handler, authorizer)(request)).status

    return on_a_loop(ask())
