"""The webhook authorizer: somebody else decides.

Every question becomes a `SubjectAccessReview`, the very object that `kubectl auth
can-i` posts, and the webhook's status is the answer. It may allow, deny – the only
authorizer with a real no – or leave the matter to those after it. Answers are kept for
a while, a yes longer than a no, since asking costs a round trip in the middle of
somebody's request. `matchConditions`, written in CEL, say which questions the webhook
wants to see at all.

What if it cannot be reached? By the failure policy that is no opinion or a denial. The
error goes along, and if nobody allows the request, it ends in a 500: nobody knows what
the answer would have been.

Upstream: `apiserver/plugin/pkg/authorizer/webhook/webhook.go`
(`WebhookAuthorizer.Authorize`, `resourceAttributesFrom`, `shouldCache`), v1.36. Left
out: metrics.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.authz.authorizer import (
    NO_OPINION,
    Answer,
    Decision,
    UserRules,
    Verdict,
)
from lifecycle.apiserver.authz.match_conditions import conditions_match
from lifecycle.apiserver.authz.review_selectors import review_selector
from lifecycle.apiserver.cel.expression import Expression
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.apiserver.webhook.client import WebhookClient

CACHE_SIZE = 8192
MAX_CONTROLLED_ATTRIBUTES = 10_000
"""Longer questions are not kept: whoever asks could fill the cache with them."""

BOTH = "webhook subject access review returned both allow and deny response"


@dataclass(slots=True)
class WebhookSettings:
    """How to ask. TTLs are in seconds; `failure` is `NoOpinion` or `Deny`; `version`
    that of the review (`v1`, `v1beta1`).
    """

    authorized_ttl: float = 300.0
    unauthorized_ttl: float = 30.0
    failure: str = "NoOpinion"
    version: str = "v1"
    conditions: tuple[Expression, ...] = field(default=())


class WebhookAuthorizer:
    """Asks a webhook, and remembers what it said."""

    def __init__(
        self,
        client: WebhookClient,
        clock: Clock,
        settings: WebhookSettings | None = None,
    ) -> None:
        self._client = client
        self._clock = clock
        self._settings = settings or WebhookSettings()
        self._on_error = (
            Decision.DENY if self._settings.failure == "Deny" else Decision.NO_OPINION
        )
        self._cache: dict[bytes, tuple[float, Object]] = {}

    def authorize(self, user: UserInfo, info: RequestInfo) -> Answer:
        """What the webhook says, at once if it has been asked lately."""
        spec = review_spec(user, info)
        if self._settings.conditions:
            matches, wrong = conditions_match(self._settings.conditions, spec)
            if wrong:
                return Verdict(self._on_error, "", wrong)
            if not matches:
                return NO_OPINION
        key = fast_json.dumps(spec, option=fast_json.OPT_SORT_KEYS)
        cached = self._cache.get(key)
        if cached is not None and self._clock.now() < cached[0]:
            return _verdict(cached[1])
        return self._ask(key, spec, info)

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """A webhook cannot be asked for a list; it says so."""
        return UserRules(
            incomplete=True,
            errors=["webhook authorizer does not support user rule resolution"],
        )

    async def _ask(self, key: bytes, spec: Object, info: RequestInfo) -> Verdict:
        try:
            answer = await self._client.post(review(spec, self._settings.version))
        except WebhookError as error:
            return Verdict(self._on_error, "", str(error))
        status: Object = answer.get("status") or {}
        if _controlled(info) < MAX_CONTROLLED_ATTRIBUTES:
            ttl = (
                self._settings.authorized_ttl
                if status.get("allowed")
                else self._settings.unauthorized_ttl
            )
            if len(self._cache) >= CACHE_SIZE:
                self._cache.clear()
            self._cache[fast_json.trimmed(key)] = self._clock.now() + ttl, status
        return _verdict(status)


def _verdict(status: Object) -> Verdict:
    """What the status of an access review says."""
    reason = status.get("reason", "")
    if status.get("denied"):
        return Verdict(Decision.DENY, reason, BOTH if status.get("allowed") else "")
    return Verdict(
        Decision.ALLOW if status.get("allowed") else Decision.NO_OPINION, reason
    )


def review_spec(user: UserInfo, info: RequestInfo) -> Object:
    """The question as a `SubjectAccessReviewSpec` (v1), without what is empty."""
    spec: Object = {}
    if info.is_resource_request:
        what = {
            "namespace": info.namespace,
            "verb": info.verb,
            "group": info.group,
            "version": info.version,
            "resource": info.resource,
            "subresource": info.subresource,
            "name": info.name,
        }
        attributes: Object = {key: value for key, value in what.items() if value}
        for name, text in (
            ("fieldSelector", info.field_selector),
            ("labelSelector", info.label_selector),
        ):
            if text and (selector := review_selector(name, text)):
                attributes[name] = selector
        spec["resourceAttributes"] = attributes
    else:
        spec["nonResourceAttributes"] = {
            key: v for key, v in (("path", info.path), ("verb", info.verb)) if v
        }
    if user.name:
        spec["user"] = user.name
    if user.groups:
        spec["groups"] = list(user.groups)
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}
    if user.uid:
        spec["uid"] = user.uid
    return spec


def review(spec: Object, version: str) -> Object:
    """What is posted. v1beta1 calls the groups `group`."""
    if version == "v1beta1" and "groups" in spec:
        spec = {**spec, "group": spec["groups"]}
        del spec["groups"]
    return {
        "kind": "SubjectAccessReview",
        "apiVersion": f"authorization.k8s.io/{version}",
        "metadata": {},
        "spec": spec,
        "status": {"allowed": False},
    }


def _controlled(info: RequestInfo) -> int:
    parts = (
        info.namespace,
        info.verb,
        info.group,
        info.version,
        info.resource,
        info.subresource,
        info.name,
        info.path,
    )
    return sum(len(part.encode()) for part in parts)
