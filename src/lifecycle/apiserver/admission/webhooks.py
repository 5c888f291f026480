"""What mutating and validating webhooks have in common: which are there, which are to
be called, how one is asked.

Upstream: `apiserver/pkg/admission/plugin/webhook/generic/webhook.go`,
`configuration/{mutating,validating}_webhook_manager.go`,
`webhook/errors/statuserror.go`, `webhook/request/admissionreview.go`
(`VerifyAdmissionResponse`), v1.36. Left out: metrics, webhooks from files.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from typing import Any, NamedTuple

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.go.json.type_meta import interpret
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.worker import OnDemand, beside
from lifecycle.api.names import NameSource
from lifecycle.api.patch.json_patch import check_operations
from lifecycle.api.resources import Resource, resource
from lifecycle.api.schema.scalars import base64_bytes
from lifecycle.api.status import StatusError, bad_request, internal_error
from lifecycle.apiserver.admission.admission_request import admission_review
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.admission.matching import Match, Matcher, is_exempt
from lifecycle.apiserver.admission.policy_expressions import Evaluation, MatchConditions
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.authz.authorizer import Authorize
from lifecycle.apiserver.cel.environment import EvaluationError
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.apiserver.webhook.client_config import HookCall, HookClient
from lifecycle.apiserver.webhook.service_resolver import (
    EndpointResolver,
    ServiceResolver,
)

REVIEWS = "admission.k8s.io"
KNOWN_VERSIONS = ("v1", "v1beta1")
DEFAULT_TIMEOUT = 10


class FailedCall(Exception):
    """A webhook that could not be asked, or whose answer makes no sense.
    `failurePolicy` decides what this means.
    """

    def __init__(self, name: str, why: str) -> None:
        super().__init__(f'failed calling webhook "{name}": {why}')


class Webhook(NamedTuple):
    """One webhook of one configuration. `uid` tells it from all others."""

    uid: tuple[str, str, int]
    configuration: str
    spec: Object
    conditions: OnDemand[MatchConditions] | None

    @property
    def name(self) -> str:
        """`hook.example.com`."""
        return str(self.spec["name"])

    @property
    def ignores_failures(self) -> bool:
        """`failurePolicy: Ignore`."""
        return self.spec.get("failurePolicy") == "Ignore"

    @property
    def timeout(self) -> int:
        """Seconds."""
        return int(self.spec.get("timeoutSeconds") or DEFAULT_TIMEOUT)


class Answer(NamedTuple):
    """A verified response. `patch` is None for none; `size` is how many bytes it
    was.
    """

    allowed: bool
    result: Object
    patch: Any
    size: int


class WebhookPlugin(Plugin):
    """Base of both plugins. `resolver` says where a Service can be reached (default: at
    its endpoints).

    Without a configuration the chain leaves the plugin out.
    """

    subresources = None
    kind = ""
    """`mutating` or `validating`."""

    def __init__(
        self,
        reader: ObjectReader,
        authorize: Authorize | None = None,
        resolver: ServiceResolver | None = None,
    ) -> None:
        self._reader, self._authorize = reader, authorize
        self._names = NameSource()  # the uids of questions are nobody's business
        self._resolver = resolver or EndpointResolver(reader, external_names=True)
        self.matcher = Matcher(reader)
        self.configurations = resource(
            f"{self.kind}webhookconfigurations.admissionregistration.k8s.io"
        )
        self._version = -1
        self._hooks: list[Webhook] = []

    def configured(self) -> bool:
        """Whether there is any webhook."""
        return bool(self.hooks())

    def handles(self, resource: Resource, subresource: str, operation: str) -> bool:
        """Everything but the configuration of admission."""
        return not is_exempt(resource)

    def hooks(self) -> list[Webhook]:
        """All webhooks there are: configurations by name, within one in its order."""
        version = self._reader.resource_version(self.configurations)
        if version != self._version:
            self._hooks = [
                hook
                for obj in self._reader.list(self.configurations)
                for hook in _webhooks(obj)
            ]
            self._version = version
        return self._hooks

    async def should_call(self, hook: Webhook, attributes: Attributes) -> Match | None:
        """How the webhook knows the resource, or None if it is not to be called. Raises
        StatusError.
        """
        match = self.matcher.webhook(hook.spec, attributes)
        if match is None or hook.conditions is None:
            return match
        evaluation = Evaluation(
            attributes, match.resource, namespace=None, authorize=self._authorize
        )
        conditions = await hook.conditions.get()
        try:
            return (
                match
                if await conditions.match(
                    evaluation, hook.spec.get("failurePolicy") or "Fail"
                )
                else None
            )
        except EvaluationError as error:
            raise attributes.forbidden(str(error)) from None

    def call(
        self, hook: Webhook, match: Match, attributes: Attributes
    ) -> tuple[HookCall, str, str]:
        """Begin to ask a webhook; what belongs to the answer is `uid` and version.
        Raises StatusError, FailedCall.
        """
        if attributes.dry_run and hook.spec.get("sideEffects") not in (
            "None",
            "NoneOnDryRun",
        ):
            raise bad_request(
                f'admission webhook "{hook.name}" does not support dry run'
            )
        version = next(
            (
                v
                for v in hook.spec.get("admissionReviewVersions") or ()
                if v in KNOWN_VERSIONS
            ),
            "",
        )
        if not version:
            why = "webhook does not accept known AdmissionReview versions (v1, v1beta1)"
            raise FailedCall(hook.name, f"could not create admission objects: {why}")
        uid = self._names.uid()
        body = fast_json.dumps(
            admission_review(attributes, match.resource, version, uid)
        )
        return (
            HookClient(hook.spec["clientConfig"], self._resolver).post(
                body, hook.timeout
            ),
            uid,
            version,
        )

    async def answer(
        self,
        hook: Webhook,
        prepared: tuple[HookCall, str, str],
        attributes: Attributes,
        *,
        mutating: bool,
    ) -> Answer:
        """Wait for it. Warnings and audit annotations are passed on. Raises
        FailedCall.
        """
        call, uid, version = prepared
        try:
            review = await call.answer()
            _check_kind(review, version)
        except (WebhookError, ValueError) as error:
            raise FailedCall(hook.name, f"failed to call webhook: {error}") from None
        try:
            response = _verified(review, uid, version, mutating=mutating)
        except ValueError as error:
            raise FailedCall(
                hook.name, f"received invalid webhook response: {error}"
            ) from None
        for key, value in (response.get("auditAnnotations") or {}).items():
            annotate(f"{hook.name}/{key}", value)
        attributes.warnings.extend(response.get("warnings") or ())
        size = len(response.get("patch") or "")
        return Answer(
            bool(response.get("allowed")),
            response.get("status") or {},
            await beside(size, self._patch, hook, response),
            size,
        )

    @staticmethod
    def _patch(hook: Webhook, response: Object) -> Any:
        if not response.get("allowed") or not response.get("patch"):
            return None
        try:
            patch = unmarshal(base64.b64decode(response["patch"]))
            if patch is not None:
                check_operations(patch)
        except (ValueError, StatusError) as error:
            why = error.message if isinstance(error, StatusError) else error
            raise FailedCall(
                hook.name, f"received undecodable patch in webhook response: {why}"
            ) from None
        kind = response.get("patchType") or "JSONPatch"
        if patch and kind != "JSONPatch":
            raise FailedCall(hook.name, f'unsupported patch type "{kind}"')
        return patch


def _webhooks(configuration: Object) -> list[Webhook]:
    name = configuration["metadata"]["name"]
    hooks: list[Webhook] = []
    same: Counter[str] = Counter()
    for spec in configuration.get("webhooks") or ():
        conditions = spec.get("matchConditions")
        hooks.append(
            Webhook(
                (name, spec["name"], same[spec["name"]]),
                name,
                spec,
                OnDemand(MatchConditions, conditions) if conditions else None,
            )
        )
        same[spec["name"]] += 1
    return hooks


def _check_kind(review: Any, version: str) -> None:
    """Whether it is an answer to a review of that version, or does not say what it is.
    Raises ValueError.
    """
    api_version, kind = interpret(review)
    group, _, answered = api_version.rpartition("/")
    if not api_version or not kind:
        return
    if (group, kind) != (REVIEWS, "AdmissionReview") or answered not in KNOWN_VERSIONS:
        raise ValueError(
            f"no kind {go_quote(kind)} is registered for version"
            f' {go_quote(api_version)} in scheme "pkg/util/webhook/client.go:71"'
        )
    if answered != version:
        raise ValueError(
            f"converting ({answered}.{kind}) to ({version}.{kind}): unknown conversion"
        )
    patch = (review.get("response") or {}).get("patch")
    if isinstance(patch, str):
        base64_bytes(patch)


def _verified(review: Any, uid: str, version: str, *, mutating: bool) -> Object:
    """The response of a review. Raises ValueError for one that does not belong to the
    question. Upstream: `VerifyAdmissionResponse`.
    """
    if not isinstance(review, dict) or not isinstance(review.get("response"), dict):
        raise ValueError("webhook response was absent")
    response: Object = review["response"]
    if version == "v1beta1":
        return (
            {**response, "patchType": "JSONPatch"}
            if mutating
            else {**response, "patch": None}
        )
    if response.get("uid") != uid:
        raise ValueError(
            f"expected response.uid={json.dumps(uid)}, got"
            f" {json.dumps(response.get('uid') or '')}"
        )
    group, _, review_version = str(review.get("apiVersion", "")).rpartition("/")
    if (group, review_version, review.get("kind")) != (
        "admission.k8s.io",
        "v1",
        "AdmissionReview",
    ):
        got = f"{group}/{review_version}, Kind={review.get('kind', '')}"
        raise ValueError(
            "expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview,"
            f" got {got}"
        )
    patch, kind = response.get("patch"), response.get("patchType")
    if mutating:
        if patch and kind is None:
            raise ValueError(
                "webhook returned response.patch but not response.patchType"
            )
        if not patch and kind is not None:
            raise ValueError(
                "webhook returned response.patchType but not response.patch"
            )
        if kind == "":
            raise ValueError('webhook returned invalid response.patchType of ""')
    elif patch:
        raise ValueError("validating webhook may not return response.patch")
    elif kind is not None:
        raise ValueError("validating webhook may not return response.patchType")
    return response


def denied(name: str, result: Object) -> StatusError:
    """The refusal of a webhook, in its own words behind ours. Upstream:
    `webhookerrors.ToStatusErr`.
    """
    by = f'admission webhook "{name}" denied the request'
    why = result.get("message") or result.get("reason")
    status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, **result}
    status["status"] = "Failure"
    status["message"] = f"{by}: {why}" if why else f"{by} without explanation"
    status["code"] = max(int(result.get("code") or 0), 400)
    order = (
        "kind",
        "apiVersion",
        "metadata",
        "status",
        "message",
        "reason",
        "details",
        "code",
    )
    return StatusError({key: status[key] for key in order if key in status})


def failed(error: FailedCall) -> StatusError:
    """A failed call that stops the request: 500."""
    return internal_error(str(error))
