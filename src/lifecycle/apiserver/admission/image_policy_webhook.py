"""ImagePolicyWebhook: a service outside says which images may run.

It is older than webhooks in general. It asks about images only, is configured by a
file, and keeps answers for a while. The file's shape is upstream's: `{"imagePolicy":
{"kubeConfigFile": …, "allowTTL": …}}`; here its content is an `ImagePolicy`.

Upstream: `plugin/pkg/admission/imagepolicy/{admission,config}.go`,
`api/imagepolicy/v1alpha1/types.go`, v1.36. Left out: several attempts with growing
pauses, client certificates.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.apiserver.webhook.client_config import HookClient

AUDIT = "imagepolicywebhook.image-policy.k8s.io/"
FAILED_OPEN = "alpha.image-policy.k8s.io/failed-open"
MAX_ANSWERS, LONGEST_QUESTION = 1024, 4096
DEFAULT_TTL, LEAST_TTL, GREATEST_TTL = 300, 1, 1800
TIMEOUT = 10.0


@dataclass(slots=True, frozen=True)
class ImagePolicy:
    """Where the service is and how long its answers hold, in seconds (0: five minutes;
    -1: not at all).

    `ca` is PEM. `default_allow`: what happens when nobody answers. Raises ValueError
    for a time that is out of range.
    """

    server: str
    ca: bytes = b""
    allow_ttl: int = 0
    deny_ttl: int = 0
    default_allow: bool = False

    def __post_init__(self) -> None:
        for ttl in (self.allow_ttl, self.deny_ttl):
            if ttl not in (-1, 0) and not LEAST_TTL <= ttl <= GREATEST_TTL:
                raise ValueError(f"valid value is between 1s and 30m0s, got {ttl}s")


class ImagePolicyWebhook(Plugin):
    """Asks about the images of every pod, once for each set of them."""

    name = "ImagePolicyWebhook"
    operations = frozenset({CREATE, UPDATE})
    resources = PODS

    def __init__(self, policy: ImagePolicy, clock: Clock) -> None:
        self._policy, self._clock = policy, clock
        bundle = {"caBundle": base64.b64encode(policy.ca).decode()} if policy.ca else {}
        self._client = HookClient({"url": policy.server, **bundle})
        self._answers: BoundedCache[bytes, tuple[float, Object]] = BoundedCache(
            MAX_ANSWERS, LONGEST_QUESTION
        )

    async def validate(self, attributes: Attributes) -> None:
        """Raises StatusError 403."""
        pod = attributes.obj
        assert pod is not None
        spec: Object = {
            "containers": [
                {"image": container["image"]}
                for kind in ("containers", "initContainers")
                for container in pod["spec"].get(kind) or ()
            ]
        }
        notes = {
            k: v
            for k, v in (pod["metadata"].get("annotations") or {}).items()
            if ".image-policy.k8s.io/" in k
        }
        if notes:
            spec["annotations"] = notes
        spec["namespace"] = attributes.namespace
        try:
            status = await self._status(spec)
        except WebhookError as error:
            if not self._policy.default_allow:
                raise attributes.forbidden(str(error)) from None
            annotate(AUDIT + "failed-open", "true")
            pod["metadata"].setdefault("annotations", {})[FAILED_OPEN] = "true"
            return
        for key, value in (status.get("auditAnnotations") or {}).items():
            annotate(AUDIT + key, value)
        if not status.get("allowed"):
            reason = status.get("reason")
            why = (
                f"image policy webhook backend denied one or more images: {reason}"
                if reason
                else ""
            )
            raise attributes.forbidden(
                why or "one or more images rejected by webhook backend"
            )

    async def _status(self, spec: Object) -> Object:
        """The service's word, or what it said the last time. Raises WebhookError."""
        key, now = (
            fast_json.dumps(spec, option=fast_json.OPT_SORT_KEYS),
            self._clock.now(),
        )
        known = self._answers.get(key)
        if known is not None and now < known[0]:
            return known[1]
        review = {
            "kind": "ImageReview",
            "apiVersion": "imagepolicy.k8s.io/v1alpha1",
            "metadata": {},
            "spec": spec,
            "status": {},
        }
        call = self._client.post(json.dumps(review).encode(), TIMEOUT)
        answer: Any = await call.answer()
        status: Object = (
            answer.get("status") if isinstance(answer, dict) else None
        ) or {}
        ttl = self._policy.allow_ttl if status.get("allowed") else self._policy.deny_ttl
        if ttl >= 0:
            self._answers.put(
                fast_json.trimmed(key), (now + (ttl or DEFAULT_TTL), status)
            )
        return status
