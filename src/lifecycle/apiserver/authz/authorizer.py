"""The question every authorizer answers, and its three possible answers.

An authorizer may allow, deny, or have no opinion. "No opinion" is what makes several of
them compose: RBAC never denies, it just does not know a rule that allows, and the next
authorizer is asked. Only when nobody allows is a request refused.

The question is the user and the `RequestInfo` of what is asked for; `verb` and the rest
are compared as text, so nothing needs to exist.

Upstream: `apiserver/pkg/authorization/authorizer/interfaces.go` (`Authorizer`,
`Decision`), `rule.go` (`RuleResolver`), v1.36. `authorize` is a plain function; the one
authorizer that has to wait (the webhook) says so with `MustAsk`. Left out: conditional
answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple, Protocol

from lifecycle.api.wire import RequestInfo, UserInfo


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


class Authorizer(Protocol):
    """One voice in the union."""

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Whether the user may do what the request asks for. Raises nothing but
        MustAsk.
        """
        ...

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """What the user may do in a namespace (and cluster-wide)."""
        ...
