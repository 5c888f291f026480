"""Claims about several authorizers and what comes of their voices: put to the recorded
access reviews, and to ours.
"""

from __future__ import annotations

from lifecycle.agreements.apiserver.authorization import REFUSALS, questions
from lifecycle.agreements.claim_checks.authorizing import (
    BY_RBAC,
    DENY,
    JANE,
    RBAC,
    ROLE,
    Fixed,
    Slow,
    asked,
    binding,
    status,
)
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authz.authorizer import (
    ALLOW,
    NO_OPINION,
    at_once,
)
from lifecycle.apiserver.authz.configuration import (
    ConfiguredAuthorizer,
    build_authorization,
)
from lifecycle.apiserver.authz.modes import AuthorizationOptions
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording


@rebuilt("authz-chain-built-from-config")
def built_from_config() -> Partly:
    """Built from options in their order: of two that would allow, the first one named
    gives its reason. But a configuration can be exchanged while requests are served.
    """
    role = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reader"},
        "rules": ROLE["rules"],
    }
    role["rules"] = [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}]
    bound = {
        **binding("Group", "system:nodes"),
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "readers"},
    }
    bound["roleRef"] = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "reader"}
    reader = StaticReader([role, bound])
    node = UserInfo("system:node:worker", ("system:nodes",))
    itself = RequestInfo(True, "", "get", version="v1", resource="nodes", name="worker")
    verdicts = [
        at_once(
            build_authorization(
                AuthorizationOptions(modes=modes), reader, Clock()
            ).authorize(node, itself)
        )
        for modes in (("Node", "RBAC"), ("RBAC", "Node"))
    ]
    in_order = [
        (each.allowed, each.reason.startswith(BY_RBAC)) for each in verdicts
    ] == [(True, False), (True, True)]
    document: Object = {"authorizers": [{"type": "AlwaysDeny", "name": "alwaysdeny"}]}
    file = ConfiguredAuthorizer(document, reader, Clock())
    before = at_once(file.authorize(JANE, asked())).allowed
    file.reload({"authorizers": [{"type": "AlwaysAllow", "name": "alwaysallow"}]})
    changed = not before and at_once(file.authorize(JANE, asked())).allowed
    return Partly(in_order, changed)


@check("authz-evaluated-for-every-request")
def every_request(recording: Recording) -> bool:
    """Jane, who has no rights, tried six different things: each was judged, and
    refused.
    """
    tried = [
        each.status
        for each in recording.exchanges("authz")
        if each.moment == REFUSALS
        and each.headers_sent.get("Impersonate-User") == "jane"
    ]
    return len(tried) > 5 and set(tried) == {403}


@rebuilt("authz-evaluated-for-every-request")
def ours_every_request() -> bool:
    """Three requests, three walks."""
    spy = Fixed(ALLOW)
    return [status(UnionAuthorizer(Fixed(NO_OPINION), spy)) for _ in range(3)] == [
        200
    ] * 3 and spy.count == 3


@check("authz-single-approval-suffices")
def one_is_enough(recording: Recording) -> bool:
    """RBAC alone allowed what the Node authorizer, asked before it, knows nothing
    about.
    """
    return any(
        answer["allowed"] and answer.get("reason", "").startswith(BY_RBAC)
        for _, _, answer in questions(recording)
    )


@rebuilt("authz-single-approval-suffices")
def ours_one_is_enough() -> bool:
    """One voice among three, whether or not it, or the one before, is waited for; whom
    it answers, nobody asks any further.
    """
    unasked = Fixed(DENY)
    rows = (
        (Fixed(NO_OPINION), Fixed(ALLOW)),
        (Fixed(NO_OPINION), Slow(ALLOW)),
        (Slow(NO_OPINION), Fixed(ALLOW)),
        (Slow(NO_OPINION), Slow(ALLOW)),
    )
    heard = [status(UnionAuthorizer(*voices, unasked)) for voices in rows]
    nobody = status(UnionAuthorizer(Slow(NO_OPINION), Slow(NO_OPINION)))
    return heard == [200] * 4 and unasked.count == 0 and nobody == 403


@rebuilt("authz-all-deny-gives-forbidden")
def all_deny() -> Partly:
    """Nobody for it: 403. But one firm no is enough, though somebody after it would
    have allowed.
    """
    nobody = status(UnionAuthorizer(Fixed(NO_OPINION), Fixed(NO_OPINION)))
    return Partly(
        nobody == 403,
        status(UnionAuthorizer(Fixed(DENY), Fixed(ALLOW))) == 403,
    )
