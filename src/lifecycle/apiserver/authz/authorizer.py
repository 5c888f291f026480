"""The question every authorizer answers, and its three possible answers.

An authorizer may allow, deny, or have no opinion. "No opinion" is what makes several of
them compose: RBAC never denies, it just does not know a rule that allows, and the next
authorizer is asked. Only when nobody allows is a request refused.

The question is the user and the `RequestInfo` of what is asked for; `verb` and the rest
are compared as text, so nothing needs to exist.

Upstream: `apiserver/pkg/authorization/authorizer/interfaces.go` (`Authorizer`,
`Decision`), `rule.go` (`RuleResolver`), v1.36. Left out: conditional answers.

Go blocks a goroutine where an authorizer has to wait for somebody else. Here almost
every authorizer answers at once, from the server's own caches, and a request puts
dozens of such questions in microseconds: `authorize` returns a verdict. The one that
asks outside, the webhook, returns an awaitable of it. `decide` takes either.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from lifecycle.api.http.wire import RequestInfo, UserInfo


class Decision(Enum):
    """What an authorizer says."""

    DENY = "Deny"
    ALLOW = "Allow"
    NO_OPINION = "NoOpinion"


class Verdict(NamedTuple):
    """A decision and its reason, as the audit log and `SubjectAccessReview` show it.
    `error` is what went wrong on the way.
    """

    decision: Decision
    reason: str = ""
    error: str = ""

    @property
    def allowed(self) -> bool:
        """Whether the request may go on."""
        return self.decision is Decision.ALLOW


NO_OPINION = Verdict(Decision.NO_OPINION)
ALLOW = Verdict(Decision.ALLOW)


@dataclass(slots=True)
class UserRules:
    """What a user may do, as far as the authorizers can list it (`kubectl auth can-i
    --list`).
    """

    resource_rules: list[dict[str, list[str]]] = field(default_factory=list)
    non_resource_rules: list[dict[str, list[str]]] = field(default_factory=list)
    incomplete: bool = False
    errors: list[str] = field(default_factory=list)


Answer = Verdict | Awaitable[Verdict]
"""A verdict, or what to await for it."""

Authorize = Callable[[UserInfo, RequestInfo], Answer]
"""An authorizer's `authorize`."""


class Authorizer(Protocol):
    """One voice in the union."""

    def authorize(self, user: UserInfo, info: RequestInfo) -> Answer:
        """Whether the user may do what the request asks for. Raises nothing, and
        neither does awaiting it.
        """
        ...

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """What the user may do in a namespace (and cluster-wide)."""
        ...


async def decide(authorize: Authorize, user: UserInfo, info: RequestInfo) -> Verdict:
    """Ask, and wait for the verdict if somebody else has to be asked."""
    answer = authorize(user, info)
    return answer if isinstance(answer, Verdict) else await answer


def at_once(answer: Answer) -> Verdict:
    """The verdict of authorizers that are known to ask nobody. Raises TypeError."""
    if not isinstance(answer, Verdict):
        raise TypeError("this authorizer has to ask somebody else first")
    return answer
