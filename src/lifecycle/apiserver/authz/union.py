"""Several authorizers, asked in turn.

The first that allows or denies has decided. If none does, the reasons they gave are
joined, so a refusal can quote them all.

Upstream: `apiserver/pkg/authorization/union/union.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Iterator, Sequence

from lifecycle.api.aggregate import aggregate
from lifecycle.api.http.wire import RequestInfo, UserInfo
from lifecycle.apiserver.authz.authorizer import (
    Answer,
    Authorizer,
    Decision,
    UserRules,
    Verdict,
    decide,
)


class UnionAuthorizer:
    """Asks each authorizer until one has an opinion."""

    def __init__(self, *authorizers: Authorizer) -> None:
        self.authorizers: Sequence[Authorizer] = authorizers

    def authorize(self, user: UserInfo, info: RequestInfo) -> Answer:
        """The first opinion, or none with all reasons. Awaitable from the first
        authorizer on that is.
        """
        heard: list[Verdict] = []
        voices = iter(self.authorizers)
        for authorizer in voices:
            verdict = authorizer.authorize(user, info)
            if not isinstance(verdict, Verdict):
                return self._wait(verdict, heard, voices, user, info)
            if verdict.decision is not Decision.NO_OPINION:
                return verdict
            heard.append(verdict)
        return _no_opinion(heard)

    async def _wait(
        self,
        answer: Awaitable[Verdict],
        heard: list[Verdict],
        voices: Iterator[Authorizer],
        user: UserInfo,
        info: RequestInfo,
    ) -> Verdict:
        """Go on from an answer that has to be waited for."""
        verdict = await answer
        while verdict.decision is Decision.NO_OPINION:
            heard.append(verdict)
            authorizer = next(voices, None)
            if authorizer is None:
                return _no_opinion(heard)
            verdict = await decide(authorizer.authorize, user, info)
        return verdict

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


def _no_opinion(heard: Iterable[Verdict]) -> Verdict:
    reasons = "\n".join(verdict.reason for verdict in heard if verdict.reason)
    errors = [verdict.error for verdict in heard if verdict.error]
    return Verdict(Decision.NO_OPINION, reasons, aggregate(errors))
