"""Authorizers with one answer: always allow, always deny, and allow for privileged
groups.

The last one is in every API server, before all others: members of `system:masters` may
do everything, so that a broken role can be repaired. It says no reason.

Upstream: `apiserver/pkg/authorization/authorizerfactory/builtin.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import MASTERS, RequestInfo, UserInfo
from lifecycle.apiserver.authz.authorizer import (
    ALLOW,
    NO_OPINION,
    Decision,
    UserRules,
    Verdict,
)

_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_PATH = {"verbs": ["*"], "nonResourceURLs": ["*"]}


class AlwaysAllow:
    """Everybody may do everything. For tests and `--authorization-mode=AlwaysAllow`."""

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Yes."""
        return ALLOW

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Everything."""
        return UserRules([dict(_EVERYTHING)], [dict(_EVERY_PATH)])


class AlwaysDeny:
    """Nobody may do anything that nobody else allowed."""

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """No opinion, with a reason: upstream's name promises more than it does."""
        return Verdict(Decision.NO_OPINION, "Everything is forbidden.")

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing."""
        return UserRules()


class PrivilegedGroups:
    """Members of some groups may do everything."""

    def __init__(self, *groups: str) -> None:
        self.groups = frozenset(groups or (MASTERS,))

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Yes for members, no opinion about others."""
        return NO_OPINION if self.groups.isdisjoint(user.groups) else ALLOW

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nothing: upstream's privileged-group authorizer lists no rules, so `can-i
        --list` of a master shows only what RBAC gives.
        """
        return UserRules()
