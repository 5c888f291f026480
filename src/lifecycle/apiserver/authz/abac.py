"""ABAC: a file of policies, one JSON object a line, read once at the start.

A policy names a user or a group, and what they may do: resources in namespaces, or
paths. Everything in it is compared as text, `*` matches anything, and what is not said
matches only what is empty. Verbs there are none: a policy is `readonly` (get, list,
watch) or it is not. The first policy that matches allows; there is no way to deny.

Upstream: `pkg/auth/authorizer/abac/abac.go` (`NewFromFile`, `matches`),
`pkg/apis/abac/v1beta1/conversion.go`, `v0/conversion.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.authn.authenticator import ALL_AUTHENTICATED
from lifecycle.apiserver.authz.authorizer import ALLOW, Decision, UserRules, Verdict

VERSIONS = (
    "abac.authorization.kubernetes.io/v1beta1",
    "abac.authorization.kubernetes.io/v0",
)
READ_ONLY = ("get", "list", "watch")
NO_MATCH = Verdict(Decision.NO_OPINION, "No policy matched.")


class PolicyLoadError(ValueError):
    """A line that is no policy. The message is upstream's."""


@dataclass(slots=True, frozen=True)
class Policy:
    """One line of the file. Empty: matches only what is empty; `*`: matches
    anything.
    """

    user: str = ""
    group: str = ""
    readonly: bool = False
    api_group: str = ""
    resource: str = ""
    namespace: str = ""
    non_resource_path: str = ""

    def subject_matches(self, user: UserInfo) -> bool:
        """Whether the policy speaks of this user. One that names both a user and a
        group means those who are both.
        """
        if not self.user and not self.group:
            return False
        return self.user in ("", "*", user.name) and (
            self.group in ("", "*") or self.group in user.groups
        )

    def matches(self, user: UserInfo, info: RequestInfo) -> bool:
        """Whether the policy allows the request."""
        if not self.subject_matches(user) or (
            self.readonly and info.verb not in READ_ONLY
        ):
            return False
        if info.is_resource_request:
            return (
                self.namespace in ("*", info.namespace)
                and self.resource in ("*", info.resource)
                and self.api_group in ("*", info.group)
            )
        path = self.non_resource_path
        return path in ("*", info.path) or (
            path.endswith("*") and info.path.startswith(path.rstrip("*"))
        )


class ABACAuthorizer:
    """Policies, asked in the order of the file."""

    def __init__(self, policies: Iterable[Policy]) -> None:
        self.policies = tuple(policies)

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Yes, without a reason, if a policy matches; else no opinion."""
        return (
            ALLOW
            if any(policy.matches(user, info) for policy in self.policies)
            else NO_MATCH
        )

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """The policies about this user and namespace, as rules."""
        rules = UserRules()
        for policy in self.policies:
            if not policy.subject_matches(user) or policy.namespace not in (
                "*",
                namespace,
            ):
                continue
            verbs = list(READ_ONLY) if policy.readonly else ["*"]
            if policy.resource:
                rules.resource_rules.append(
                    {
                        "verbs": verbs,
                        "apiGroups": [policy.api_group],
                        "resources": [policy.resource],
                    }
                )
            if policy.non_resource_path:
                rules.non_resource_rules.append(
                    {"verbs": verbs, "nonResourceURLs": [policy.non_resource_path]}
                )
        return rules


def read_policy_file(path: Path) -> ABACAuthorizer:
    """The policies of a file; empty lines and those that begin with `#` are skipped.
    Raises PolicyLoadError, OSError.
    """
    policies = []
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if not line.strip() or line.strip().startswith("#"):
            continue
        try:
            policies.append(parse_policy(line))
        except (ValueError, TypeError) as error:
            raise PolicyLoadError(
                f"error reading policy file {path}, line {number}: {line}: {error}"
            ) from error
    return ABACAuthorizer(policies)


def parse_policy(line: str) -> Policy:
    """One line. Without a version it is of the old form (v0), which knew no groups of
    the API. Raises ValueError.
    """
    document: Any = fast_json.loads(line)
    if not isinstance(document, dict):
        raise ValueError("couldn't get version/kind; json parse error")
    version, kind = document.get("apiVersion", ""), document.get("kind", "")
    if not version or not kind:
        return _from_v0(document)
    if version not in VERSIONS or kind != "Policy":
        raise ValueError(f'no kind "{kind}" is registered for version "{version}"')
    if version != VERSIONS[0]:
        return _from_v0(document)
    spec = document.get("spec") or {}
    user, group = spec.get("user", ""), spec.get("group", "")
    if "*" in (user, group):
        user, group = "", ALL_AUTHENTICATED
    return Policy(
        user=user,
        group=group,
        readonly=bool(spec.get("readonly")),
        api_group=spec.get("apiGroup", ""),
        resource=spec.get("resource", ""),
        namespace=spec.get("namespace", ""),
        non_resource_path=spec.get("nonResourcePath", ""),
    )


def _from_v0(document: Object) -> Policy:
    """The form of before there were API groups: what it leaves out is everything."""
    user, group = document.get("user", ""), document.get("group", "")
    if "*" in (user, group) or not (user or group):
        user, group = "", ALL_AUTHENTICATED
    resource, namespace = document.get("resource", ""), document.get("namespace", "")
    return Policy(
        user=user,
        group=group,
        readonly=bool(document.get("readonly")),
        api_group="*",
        resource=resource or "*",
        namespace=namespace or "*",
        non_resource_path="" if resource or namespace else "*",
    )
