"""Claims about authorization, put to the recorded access reviews and to our
authorizers.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

from lifecycle.agreements.authorization import REFUSALS, questions, recorded_policy
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.clock import Clock
from lifecycle.api.resources import Resource
from lifecycle.api.wire import Object, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.audit import context
from lifecycle.apiserver.authz.abac import read_policy_file
from lifecycle.apiserver.authz.always import AlwaysAllow, AlwaysDeny
from lifecycle.apiserver.authz.authorizer import (
    ALLOW,
    NO_OPINION,
    Authorizer,
    Decision,
    UserRules,
    Verdict,
    at_once,
    decide,
)
from lifecycle.apiserver.authz.configuration import (
    ConfiguredAuthorizer,
    build_authorization,
)
from lifecycle.apiserver.authz.modes import AUTHORIZATION_MODES, AuthorizationOptions
from lifecycle.apiserver.authz.node import NodeAuthorizer
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.authz.webhook import WebhookAuthorizer
from lifecycle.apiserver.filters.authorization import with_authorization
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.apiserver.webhook.client import (
    WebhookClient,
    read_webhook_kubeconfig,
)
from lifecycle.cluster.outside_services import Webhook
from lifecycle.compare.claims import Partly, check, rebuilt
from lifecycle.inspector import Recording

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
    return answered(authorizer)[0]


def answered(authorizer: Authorizer, event: Object | None = None) -> tuple[int, str]:
    """The code and the message. `event`: the request's in the audit log."""

    async def handler(request: Request) -> Response:
        return Response(200, obj={})

    async def ask() -> tuple[int, str]:
        context.audit_event.set(event)
        request = Request(
            "GET", "/api/v1/namespaces/shop/pods/x", user=JANE, info=asked()
        )
        answer = await with_authorization(handler, authorizer)(request)
        assert isinstance(answer.obj, dict)
        return answer.status, str(answer.obj.get("message", ""))

    return on_a_loop(ask())


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
    document: Object = {"authorizers": [{"type": "AlwaysDeny", "name": "never"}]}
    file = ConfiguredAuthorizer(document, reader, Clock())
    before = at_once(file.authorize(JANE, asked())).allowed
    file.reload({"authorizers": [{"type": "AlwaysAllow", "name": "always"}]})
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
    have allowed; and who could not be asked has not refused.
    """
    nobody = status(UnionAuthorizer(Fixed(NO_OPINION), Fixed(NO_OPINION)))
    broken = Fixed(Verdict(Decision.NO_OPINION, error="out to lunch"))
    return Partly(
        nobody == 403,
        status(UnionAuthorizer(Fixed(DENY), Fixed(ALLOW))) == 403
        and answered(broken) == (500, "Internal error occurred: out to lunch")
        and [noted(each) for each in (Fixed(ALLOW), Fixed(DENY), broken)] == NOTED,
    )


NOTED = [
    {"decision": "allow", "reason": ""},
    {"decision": "forbid", "reason": "no"},
    {"reason": "internal error"},
]


def noted(authorizer: Authorizer) -> dict[str, str]:
    """What the audit log has of a decision."""
    event: Object = {}
    answered(authorizer, event)
    prefix = "authorization.k8s.io/"
    return {
        key.removeprefix(prefix): value for key, value in event["annotations"].items()
    }


@rebuilt("authz-allow-all-and-deny-all-modes")
def allow_and_deny_all() -> Partly:
    """One lets everything pass; the other stops nothing that anybody else allows, and
    neither has that name.
    """
    passes = (
        AlwaysAllow().authorize(JANE, asked()).allowed
        and not AlwaysDeny().authorize(JANE, asked()).allowed
    )
    blocks_nothing = at_once(
        UnionAuthorizer(AlwaysDeny(), Fixed(ALLOW)).authorize(JANE, asked())
    ).allowed
    unknown = bool(
        AuthorizationOptions(modes=("AllowAll",)).errors()
        and AuthorizationOptions(modes=("DenyAll",)).errors()
    )
    return Partly(passes, blocks_nothing and unknown)


@rebuilt("authz-webhook-asks-external-service")
def webhook() -> bool:
    """A server of its own, with its own certificate: it gets an access review, and what
    it says counts.
    """

    async def main() -> bool:
        with tempfile.TemporaryDirectory() as folder:
            async with Webhook(
                lambda spec: {"allowed": spec["user"] == "jane"}
            ) as service:
                connection = read_webhook_kubeconfig(
                    service.write_kubeconfig(Path(folder) / "webhook")
                )
                hook = WebhookAuthorizer(WebhookClient(connection), Clock())

                async def ask(user: UserInfo) -> bool:
                    return (await decide(hook.authorize, user, asked())).allowed

                decided = [await ask(JANE), await ask(UserInfo("joe"))]
                return decided == [True, False] and [
                    spec["user"] for spec in service.specs
                ] == ["jane", "joe"]

    return on_a_loop(main())


@rebuilt("authz-abac-static-file")
def abac() -> bool:
    """A file of policies decides, and goes on deciding after it was emptied."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "policy.jsonl"
        spec = {
            "user": "jane",
            "namespace": "shop",
            "resource": "pods",
            "readonly": True,
        }
        line = {
            "apiVersion": "abac.authorization.kubernetes.io/v1beta1",
            "kind": "Policy",
            "spec": spec,
        }
        file.write_text(json.dumps(line))
        ours = read_policy_file(file)
        file.write_text("")
    return (
        ours.authorize(JANE, asked()).allowed
        and not ours.authorize(JANE, asked("delete")).allowed
    )


@check("authz-rbac-roles-are-api-objects")
def roles_are_objects(recording: Recording) -> bool:
    """What was allowed by a role follows from the roles and bindings that the API
    returned, and from nothing else.
    """
    with_roles, without = (
        RBACAuthorizer(recorded_policy(recording)),
        RBACAuthorizer(StaticReader()),
    )
    by_rbac = [
        (user, info)
        for user, info, answer in questions(recording)
        if answer.get("reason", "").startswith(BY_RBAC)
    ]
    some = by_rbac[:: max(1, len(by_rbac) // 50)]
    return bool(some) and all(
        with_roles.authorize(*each).allowed and not without.authorize(*each).allowed
        for each in some
    )


@check("authz-node-limited-to-own-resources")
def node_limits(recording: Recording) -> Partly:
    """A node may not read some secret; but services it may list, all of them."""
    decisions: dict[tuple[str, str], set[bool]] = {}
    for user, info, answer in questions(recording):
        if user.name.startswith("system:node:") and "system:nodes" in user.groups:
            decisions.setdefault((info.verb, info.resource), set()).add(
                bool(answer["allowed"])
            )
    return Partly(
        False in decisions.get(("get", "secrets"), set()),
        True in decisions.get(("list", "services"), set()),
    )


def pod(node: str) -> Object:
    """A pod on a node, with a secret."""
    volume = {"name": "v", "secret": {"secretName": "key"}}
    spec = {"nodeName": node, "containers": [], "volumes": [volume]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "till", "namespace": "shop", "uid": "p"},
        "spec": spec,
    }


WORKER = UserInfo("system:node:worker", ("system:nodes", "system:authenticated"))


@rebuilt("authz-node-limited-to-own-resources")
def ours_node_limits() -> Partly:
    """A secret of a pod that runs here, not one of a pod elsewhere; but any service."""
    here, elsewhere = (
        NodeAuthorizer(StaticReader([pod(node)])) for node in ("worker", "worker2")
    )
    secret = asked("get", "secrets", "key")
    confined = (
        here.authorize(WORKER, secret).allowed
        and not elsewhere.authorize(WORKER, secret).allowed
    )
    return Partly(confined, here.authorize(WORKER, asked("list", "services")).allowed)


@rebuilt("authz-list-of-supported-modes")
def six_modes() -> bool:
    """These six, and no other."""
    six = {"AlwaysAllow", "AlwaysDeny", "Webhook", "ABAC", "RBAC", "Node"}
    wrong = AuthorizationOptions(modes=("Bogus",)).errors()
    return set(AUTHORIZATION_MODES) == six and wrong == [
        'authorization-mode "Bogus" is not a valid mode'
    ]


@check("authz-rbac-uses-identity-from-authn")
def identity_decides(recording: Recording) -> bool:
    """Every reason names the very user who was asked about, or one of their groups, or
    the account that the name stands for.
    """
    explained = 0
    for user, _, answer in questions(recording):
        subject = answer.get("reason", "").rpartition('" to ')[2]
        if not subject.startswith(("User", "Group", "ServiceAccount")):
            continue
        kind, _, name = subject.partition(" ")
        name = name.strip('"')
        account = user.name.removeprefix("system:serviceaccount:").partition(":")
        own = {
            "User": {user.name},
            "Group": set(user.groups),
            "ServiceAccount": {f"{account[2]}/{account[0]}"},
        }
        if name not in own[kind]:
            return False
        explained += 1
    return explained > 100


@rebuilt("authz-rbac-uses-identity-from-authn")
def ours_identity_decides() -> bool:
    """The same question by name, by group, and by somebody else. A binding to a role
    that is not there helps nobody, and says so.
    """
    to_none = RBACAuthorizer(StaticReader([binding("User", "jane")])).authorize(
        JANE, asked()
    )
    gone = 'RBAC: role.rbac.authorization.k8s.io "reader" not found'
    assert (to_none.allowed, to_none.reason) == (False, gone)
    by_name, by_group = (
        RBACAuthorizer(StaticReader([ROLE, binding(*to)]))
        for to in (("User", "jane"), ("Group", "devs"))
    )
    joe = UserInfo("joe", ("system:authenticated",))
    return all(
        each.authorize(JANE, asked()).allowed
        and not each.authorize(joe, asked()).allowed
        for each in (by_name, by_group)
    )


class Counting(StaticReader):
    """A cache that counts how often it is listed."""

    lists = 0

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """See `ObjectReader`."""
        self.lists += 1
        return super().list(resource, namespace)


@rebuilt("authz-rbac-reads-roles-through-informers")
def through_informers() -> bool:
    """A hundred questions, and no list; a new binding counts at once, and only then the
    cache is looked through again.
    """
    cache = Counting([ROLE])
    rbac = RBACAuthorizer(cache)
    rbac.authorize(JANE, asked())
    before = cache.lists
    refused = [rbac.authorize(JANE, asked()).allowed for _ in range(100)]
    quiet = cache.lists == before
    cache.put(binding("User", "jane"))
    return quiet and not any(refused) and rbac.authorize(JANE, asked()).allowed


@rebuilt("authz-node-authorizer-needs-cluster-state")
def needs_state() -> bool:
    """The same question before and after a pod moves."""
    reader = StaticReader([pod("worker")])
    node, secret = NodeAuthorizer(reader), asked("get", "secrets", "key")
    before = node.authorize(WORKER, secret).allowed
    reader.put(pod("worker2"))
    return before and not node.authorize(WORKER, secret).allowed
