"""Does a rule cover a request? The whole of RBAC's matching.

A rule lists verbs, groups, resources and, if it wants, names; the request must be found
in every list. `*` matches anything. A subresource is written `pods/log`; `pods` alone
does not cover it, `*/scale` covers every scale. Paths that are not resources have rules
of their own, where a trailing `*` matches any rest.

Upstream: `pkg/apis/rbac/v1/evaluation_helpers.go` (`VerbMatches`, `ResourceMatches`,
`NonResourceURLMatches`, `CompactString`) and `plugin/pkg/auth/authorizer/rbac/rbac.go`
(`RuleAllows`), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, RequestInfo

ALL = "*"


def _has(allowed: Sequence[str] | None, requested: str) -> bool:
    return allowed is not None and (requested in allowed or ALL in allowed)


def resource_matches(rule: Object, resource: str, subresource: str) -> bool:
    """Whether the rule's resources cover `resource/subresource`."""
    resources = rule.get("resources") or ()
    combined = f"{resource}/{subresource}" if subresource else resource
    if _has(resources, combined):
        return True
    return bool(subresource) and f"*/{subresource}" in resources


def resource_name_matches(rule: Object, name: str) -> bool:
    """Whether the rule covers an object of that name; a rule without names covers
    all.
    """
    names = rule.get("resourceNames")
    return not names or name in names


def non_resource_url_matches(rule: Object, path: str) -> bool:
    """Whether one of the rule's paths is the path, or a beginning of it marked with
    `*`.
    """
    for url in rule.get("nonResourceURLs") or ():
        if url in (ALL, path):
            return True
        if url.endswith(ALL) and path.startswith(url.rstrip(ALL)):
            return True
    return False


def rule_allows_kind(rule: Object, info: RequestInfo) -> bool:
    """Whether the rule covers the request, names left aside."""
    if not _has(rule.get("verbs"), info.verb):
        return False
    if not info.is_resource_request:
        return non_resource_url_matches(rule, info.path)
    return _has(rule.get("apiGroups"), info.group) and resource_matches(
        rule, info.resource, info.subresource
    )


def rule_allows(rule: Object, info: RequestInfo) -> bool:
    """Whether the rule covers the request."""
    if not rule_allows_kind(rule, info):
        return False
    return not info.is_resource_request or resource_name_matches(rule, info.name)


def quoted_list(texts: Sequence[str]) -> str:
    """Strings as Go's `%q` prints a slice of them."""
    return "[" + " ".join(go_quote(text) for text in texts) + "]"


_FIELDS = (
    ("apiGroups", "APIGroups"),
    ("resources", "Resources"),
    ("nonResourceURLs", "NonResourceURLs"),
    ("resourceNames", "ResourceNames"),
    ("verbs", "Verbs"),
)


def compact_string(rule: Object) -> str:
    """A rule as messages about escalation print it."""
    parts = [
        f"{label}:{quoted_list(rule[key])}" for key, label in _FIELDS if rule.get(key)
    ]
    return "{" + ", ".join(parts) + "}"
