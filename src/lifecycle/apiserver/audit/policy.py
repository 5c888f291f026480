"""Audit policy: how much of which request the log keeps.

The first rule that matches decides on the level: `None`, `Metadata`, `Request` (with
the posted object), `RequestResponse` (with the answer too). What no rule matches is not
logged.

Upstream: `apiserver/pkg/audit/policy/checker.go` (`policyRuleEvaluator`), v1.36.
"""

from __future__ import annotations

from typing import NamedTuple

from lifecycle.api.http.wire import Object, RequestInfo, UserInfo

NONE = "None"
METADATA = "Metadata"
REQUEST = "Request"
REQUEST_RESPONSE = "RequestResponse"
LEVELS = (NONE, METADATA, REQUEST, REQUEST_RESPONSE)


class AuditConfig(NamedTuple):
    """What a rule decides."""

    level: str
    omit_stages: tuple[str, ...] = ()
    omit_managed_fields: bool = False


class AuditPolicy:
    """An `audit.k8s.io/v1` `Policy`. Raises ValueError for a level that does not
    exist.
    """

    def __init__(self, policy: Object) -> None:
        self._rules = [_searchable(rule) for rule in policy.get("rules") or ()]
        self._omit_stages = tuple(policy.get("omitStages") or ())
        self._omit_managed_fields = bool(policy.get("omitManagedFields"))
        for rule in self._rules:
            if rule.get("level") not in LEVELS:
                raise ValueError(f"unknown audit level: {rule.get('level')!r}")

    def evaluate(self, user: UserInfo | None, info: RequestInfo) -> AuditConfig:
        """How to log a request."""
        for rule in self._rules:
            if _matches(rule, user, info):
                stages = (*self._omit_stages, *(rule.get("omitStages") or ()))
                omit = rule.get("omitManagedFields")
                return AuditConfig(
                    rule["level"],
                    stages,
                    self._omit_managed_fields if omit is None else bool(omit),
                )
        return AuditConfig(NONE, self._omit_stages, self._omit_managed_fields)


def _searchable(rule: Object) -> Object:
    """A rule whose lists are sets: each request asks all rules, and there may be
    thousands.
    """
    sets = {
        key: frozenset(rule.get(key) or ())
        for key in ("users", "userGroups", "verbs", "namespaces")
    }
    resources = [
        {
            **entry,
            "resources": frozenset(entry.get("resources") or ()),
            "resourceNames": frozenset(entry.get("resourceNames") or ()),
        }
        for entry in rule.get("resources") or ()
    ]
    return {**rule, **sets, "resources": resources}


def _matches(rule: Object, user: UserInfo | None, info: RequestInfo) -> bool:
    if rule.get("users") and (user is None or user.name not in rule["users"]):
        return False
    groups = rule["userGroups"]
    if groups and (user is None or groups.isdisjoint(user.groups)):
        return False
    if rule.get("verbs") and info.verb not in rule["verbs"]:
        return False
    if rule.get("namespaces") or rule.get("resources"):
        return info.is_resource_request and _matches_resource(rule, info)
    if rule.get("nonResourceURLs"):
        return not info.is_resource_request and any(
            _path_matches(info.path, url) for url in rule["nonResourceURLs"]
        )
    return True


def _matches_resource(rule: Object, info: RequestInfo) -> bool:
    if rule.get("namespaces") and info.namespace not in rule["namespaces"]:
        return False
    if not rule.get("resources"):
        return True
    combined = (
        f"{info.resource}/{info.subresource}" if info.subresource else info.resource
    )
    names = {"*", combined, f"{info.resource}/*"} | (
        {f"*/{info.subresource}"} if info.subresource else set()
    )
    for entry in rule["resources"]:
        if entry.get("group", "") not in (info.group, "*"):
            continue
        if not entry.get("resources"):
            return True
        if entry.get("resourceNames") and info.name not in entry["resourceNames"]:
            continue
        if not names.isdisjoint(entry["resources"]):
            return True
    return False


def _path_matches(path: str, spec: str) -> bool:
    return spec in ("*", path) or (
        spec.endswith("*") and path.startswith(spec.rstrip("*"))
    )
