"""Several authorizers, asked in turn.

The first that allows or denies has decided. If none does, the reasons they gave are
joined, so a refusal can quote them all.

Upstream: `apiserver/pkg/authorization/union/union.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.aggregate import aggregate
from lifecycle.api.wire import RequestInfo, UserInfo
from lifecycle.apiserver.authz.authorizer import (
    Authorizer,
    Decision,
    UserRules,
    Verdict,
)


class UnionAuthorizer:
    """Asks each authorizer until one has an opinion."""

    def __init__(self, *authorizers: Authorizer) -> None:
        self.authorizers: Sequence[Authorizer] = authorizers

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """The first opinion, or none with all reasons."""
        reasons: list[str] = []
        errors: list[str] = []
        for authorizer in self.authorizers:
            verdict = authorizer.authorize(user, info)
            if verdict.decision is not Decision.NO_OPINION:
                return verdict
            if verdict.reason:
                reasons.append(verdict.reason)
            if verdict.error:
                errors.append(verdict.error)
        return Verdict(Decision.NO_OPINION, "\n".join(reasons), aggregate(errors))

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """The rules of all, one after the other."""
        union = UserRules()
        for authorizer in self.authorizers:
            rules = authorizer.rules_for(user, namespace)
            union.resource_rules += rules.resource_rules
            union.non_resource_rules += rules.non_resource_rules
            union.incomplete |= rules.incomplete
            union.errors += rules.errors
        return union
