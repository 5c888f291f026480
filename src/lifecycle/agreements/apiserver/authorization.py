"""Authorization held against a recorded cluster: every decision it was asked for, every
reason, every refusal.

The recording holds some 2,900 SubjectAccessReviews (thirteen users, each asked the same
224 questions) and the roles and bindings that they were decided from. Our authorizers
get those same roles and the same questions.

Where several bindings allow one request, the cluster names whichever its map of
bindings gave first, those for the whole cluster before those of a namespace. So the
reason is compared by its place among the first of these that really allow the request:
one of them is right, anything else is a difference.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.authz.access_review_spec import request_info_from, user_from
from lifecycle.apiserver.authz.always import PrivilegedGroups
from lifecycle.apiserver.authz.authorizer import Authorizer, at_once
from lifecycle.apiserver.authz.forbidden import forbidden_status_error
from lifecycle.apiserver.authz.node import NodeAuthorizer
from lifecycle.apiserver.authz.policy_rule import rule_allows
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.filters.request_info import RequestInfoFactory
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import Comparison, Difference, compare
from lifecycle.inspector import Exchange, Recording

GROUP = "rbac.authorization.k8s.io"
ANY_BINDING = "order of rules, from unordered bindings"
REFUSALS = "what a refusal looks like"


def recorded_policy(recording: Recording) -> StaticReader:
    """The roles and bindings that the recorded decisions were made from."""
    reader = StaticReader()
    for exchange in recording.exchanges("authz"):
        answer = exchange.response
        if (
            exchange.method == "GET"
            and GROUP in exchange.path
            and str(answer.get("kind")).endswith("List")
        ):
            kind = answer["kind"].removesuffix("List")
            for item in answer["items"]:
                reader.put({"apiVersion": answer["apiVersion"], "kind": kind, **item})
    return reader


def standard_authorizer(reader: StaticReader) -> UnionAuthorizer:
    """What guards a stock cluster, over the given objects: masters, Node, RBAC."""
    return UnionAuthorizer(
        PrivilegedGroups(), NodeAuthorizer(reader), RBACAuthorizer(reader)
    )


def questions(recording: Recording) -> Iterator[tuple[UserInfo, RequestInfo, Object]]:
    """Every recorded access review: who, what, and the status that answered it."""
    for exchange in recording.exchanges("authz"):
        if exchange.path.endswith("/subjectaccessreviews"):
            spec = exchange.body["spec"]
            yield user_from(spec), request_info_from(spec), exchange.response["status"]


def in_words(info: RequestInfo) -> str:
    """A question as `kubectl auth can-i` would be asked it: `list pods.apps in
    shop`.
    """
    if not info.is_resource_request:
        return f"{info.verb} {info.path}"
    what = f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    what = f"{what}.{info.group}" if info.group else what
    what = f"{what} {info.name}" if info.name else what
    return (
        f"{info.verb} {what} in {info.namespace}"
        if info.namespace
        else f"{info.verb} {what}"
    )


def authorization_agreement(
    recording: Recording, authorizer: Authorizer | None = None
) -> AgreementTable:
    """One row per user for the decisions, one per user for what refusals say.
    `authorizer`: judge this one instead of ours.
    """
    reader = recorded_policy(recording)
    bindings = RBACAuthorizer(reader)
    judged = authorizer or standard_authorizer(reader)
    table = AgreementTable(
        "Authorization",
        "lifecycle, from the recorded roles",
        f"recording {recording.provenance}",
        lambda table: _opening(table, allowed),
    )
    results: dict[str, Comparison] = defaultdict(Comparison)
    allowed: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for user, info, theirs in questions(recording):
        verdict = at_once(judged.authorize(user, info))
        ours: Object = {"allowed": verdict.allowed}
        if verdict.reason:
            ours["reason"] = verdict.reason
        name = user.name or "(no name)"
        results[name] += _decision(
            in_words(info), ours, theirs, _allowing(bindings, user, info)
        )
        counts = allowed[name]
        counts[0] += 1
        counts[1] += verdict.allowed
        counts[2] += bool(theirs["allowed"])
    for name, comparison in results.items():
        count, here, there = allowed[name]
        table.add(
            "authz",
            f"{name}: {count} questions",
            f"{here} allowed",
            f"{there} allowed",
            comparison,
        )
    for name, count, comparison in _refusals(recording, judged):
        table.add(
            "authz",
            f"{name}: {count} refusals",
            "403, word for word",
            "403",
            comparison,
        )
    return table


def _opening(table: AgreementTable, allowed: dict[str, list[int]]) -> str:
    questions, ours, theirs = (sum(column) for column in zip(*allowed.values()))
    return (
        f"{questions:,} times somebody asked who may do what: the real API server"
        f" allowed {theirs:,}, ours {ours:,}; user by user, {table.outcome('rows')},"
        " the reason and the wording of refusals included."
    )


def _decision(
    question: str, ours: Object, theirs: Object, allowing: frozenset[str]
) -> Comparison:
    if (
        ours["allowed"]
        and theirs["allowed"]
        and ours != theirs
        and {ours.get("reason"), theirs.get("reason")} <= allowing
    ):
        return Comparison(total=2, equal=2, freedoms=Counter({ANY_BINDING: 1}))
    if (
        ours["allowed"] != theirs["allowed"]
    ):  # the reason that goes with it is no second difference
        return Comparison(
            total=1,
            differences=[
                Difference(f"/{question}", _in_short(ours), _in_short(theirs))
            ],
        )
    return compare(ours, theirs, path=f"/{question}")


def _in_short(status: Object) -> str:
    return (
        f"{'allowed' if status['allowed'] else 'not allowed'}"
        f" {status.get('reason', '')}".strip()
    )


def _allowing(
    rbac: RBACAuthorizer, user: UserInfo, info: RequestInfo
) -> frozenset[str]:
    """The reasons of the bindings that allow a request: those for the whole cluster, or
    those of the namespace if none of them does.
    """
    reasons: dict[bool, set[str]] = {True: set(), False: set()}
    for grant in rbac.grants(user, info.namespace):
        if any(rule_allows(rule, info) for rule in grant.rules):
            reasons[not grant.namespace].add(grant.reason)
    return frozenset(reasons[True] or reasons[False])


def _refusals(
    recording: Recording, authorizer: Authorizer
) -> Iterator[tuple[str, int, Comparison]]:
    """What impersonated users were told, user by user."""
    factory = RequestInfoFactory()
    by_user: dict[str, list[Exchange]] = defaultdict(list)
    for exchange in recording.exchanges("authz"):
        if exchange.moment == REFUSALS and exchange.status == 403:
            by_user[exchange.headers_sent["Impersonate-User"]].append(exchange)
    for name, exchanges in by_user.items():
        total = Comparison()
        for exchange in exchanges:
            url = urlsplit(exchange.path)
            info = factory.new_request_info(
                exchange.method, url.path, parse_qs(url.query)
            )
            group = exchange.headers_sent.get("Impersonate-Group")
            user = UserInfo(
                name, (*((group,) if group else ()), "system:authenticated")
            )
            verdict = at_once(authorizer.authorize(user, info))
            ours: Any = (
                None
                if verdict.allowed
                else forbidden_status_error(user, info, verdict.reason).status
            )
            total += compare(ours, exchange.response, path=f"/{in_words(info)}")
        yield name, len(exchanges), total
