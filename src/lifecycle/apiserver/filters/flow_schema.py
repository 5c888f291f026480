"""Flow schemas: which kind of traffic a request belongs to.

FlowSchemas are tried by `matchingPrecedence`, lowest first; the first with a rule for
this user and this request takes it. The schema says which priority level pays for it
and what counts as one *flow* (one user's requests, or one namespace's), within which
nobody is treated better than another.

Upstream: `apiserver/pkg/util/flowcontrol/rule.go` (`matchesFlowSchema`),
`apf_controller.go` (`startRequest`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.authn.service_account import USERNAME_PREFIX, make_username

ALL = "*"


def sort_flow_schemas(schemas: Iterable[Object]) -> list[Object]:
    """In the order they are tried: by precedence, then by name."""
    return sorted(
        schemas,
        key=lambda s: (
            s["spec"].get("matchingPrecedence", 1000),
            s["metadata"]["name"],
        ),
    )


def matches_flow_schema(schema: Object, user: UserInfo, info: RequestInfo) -> bool:
    """Whether one of the schema's rules is about this user and this request."""
    for rule in schema["spec"].get("rules") or ():
        if not any(
            _matches_subject(subject, user) for subject in rule.get("subjects") or ()
        ):
            continue
        if info.is_resource_request:
            if any(_matches_resource(r, info) for r in rule.get("resourceRules") or ()):
                return True
        elif any(_matches_path(r, info) for r in rule.get("nonResourceRules") or ()):
            return True
    return False


def named_users(schemas: Iterable[Object]) -> frozenset[str]:
    """Users whom a rule names by their name. For anybody else but service accounts, the
    groups alone decide which schemas match.
    """
    return frozenset(
        subject["user"]["name"]
        for schema in schemas
        for rule in schema["spec"].get("rules") or ()
        for subject in rule.get("subjects") or ()
        if subject.get("kind") == "User"
    )


def flow_distinguisher(schema: Object, user: UserInfo, info: RequestInfo) -> str:
    """What tells the schema's flows apart."""
    method = (schema["spec"].get("distinguisherMethod") or {}).get("type")
    if method == "ByUser":
        return user.name
    return info.namespace if method == "ByNamespace" else ""


def _matches_subject(subject: Object, user: UserInfo) -> bool:
    kind = subject.get("kind")
    if kind == "User":
        return subject["user"]["name"] in (ALL, user.name)
    if kind == "Group":
        name = subject["group"]["name"]
        return name == ALL or name in user.groups
    if kind == "ServiceAccount":
        account = subject["serviceAccount"]
        if account["name"] == ALL:
            return user.name.startswith(f"{USERNAME_PREFIX}{account['namespace']}:")
        return user.name == make_username(account["namespace"], account["name"])
    return False


def _contains(listed: Sequence[str] | None, requested: str) -> bool:
    return bool(listed) and (requested in listed or ALL in listed)  # type: ignore[operator]


def _matches_resource(rule: Object, info: RequestInfo) -> bool:
    combined = (
        f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    )
    if not (
        _contains(rule.get("verbs"), info.verb)
        and _contains(rule.get("resources"), combined)
    ):
        return False
    if not _contains(rule.get("apiGroups"), info.group):
        return False
    return (
        _contains(rule.get("namespaces"), info.namespace)
        if info.namespace
        else bool(rule.get("clusterScope"))
    )


def _matches_path(rule: Object, info: RequestInfo) -> bool:
    if not _contains(rule.get("verbs"), info.verb):
        return False
    for url in rule.get("nonResourceURLs") or ():
        prefix = url.removesuffix(ALL)
        if url in (ALL, info.path) or info.path.startswith(
            prefix if prefix.endswith("/") else f"{prefix}/"
        ):
            return True
    return False
