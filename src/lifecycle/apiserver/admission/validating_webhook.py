"""ValidatingAdmissionWebhook: all webhooks are asked at the same time, and each may
refuse.

Nobody can change anything any more, so the order does not matter; the first refusal, in
the order of the webhooks, is the answer.

Upstream: `apiserver/pkg/admission/plugin/webhook/validating/dispatcher.go`
(`validatingDispatcher.Dispatch`), v1.36.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.status import StatusError
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.matching import Match
from lifecycle.apiserver.admission.webhooks import (
    FailedCall,
    Webhook,
    WebhookPlugin,
    denied,
    failed,
)
from lifecycle.apiserver.audit.context import annotate

FAILED_OPEN = "failed-open.validating.webhook.admission.k8s.io/"


class ValidatingAdmissionWebhook(WebhookPlugin):
    """Calls all that match, and refuses with the first refusal."""

    name = "ValidatingAdmissionWebhook"
    kind = "validating"

    def validate(self, attributes: Attributes) -> Any:
        """Ask the webhooks. Raises StatusError."""
        hooks = self.hooks()
        return self._dispatch(hooks, attributes) if hooks else None

    async def _dispatch(self, hooks: list[Webhook], attributes: Attributes) -> None:
        relevant: list[tuple[Webhook, Match]] = []
        pauses = Pauses()
        for hook in hooks:
            await pauses.pause()
            match = await self.should_call(hook, attributes)
            if match is not None:
                relevant.append((hook, match))
        calls: list[tuple[Webhook, Any]] = []
        for hook, match in relevant:  # all are under way before the first is waited for
            try:
                calls.append((hook, self.call(hook, match, attributes)))
            except (FailedCall, StatusError) as error:
                calls.append((hook, error))
        answers = [
            self._one(index, hook, call, attributes)
            for index, (hook, call) in enumerate(calls)
        ]
        errors = [
            error for error in await asyncio.gather(*answers) if error is not None
        ]
        if errors:
            raise errors[0]

    async def _one(
        self, index: int, hook: Webhook, call: Any, attributes: Attributes
    ) -> StatusError | None:
        if isinstance(call, StatusError):
            return call
        try:
            if isinstance(call, FailedCall):
                raise call
            answer = await self.answer(hook, call, attributes, mutating=False)
        except FailedCall as error:
            if not hook.ignores_failures:
                return failed(error)
            annotate(f"{FAILED_OPEN}round_0_index_{index}", hook.name)
            return None
        return None if answer.allowed else denied(hook.name, answer.result)
