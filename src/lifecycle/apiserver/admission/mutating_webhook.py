"""MutatingAdmissionWebhook: one webhook after the other may patch the object.

They are called by the name of their configuration. Each sees what those before have
made of the object, with defaults filled in again.

Upstream: `apiserver/pkg/admission/plugin/webhook/mutating/dispatcher.go`
(`mutatingDispatcher.Dispatch`), v1.36.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import beside, size_of
from lifecycle.api.patch.json_document import JSONPatchError
from lifecycle.api.patch.json_patch import apply_operations
from lifecycle.api.schema.decode import CannotBeHandledError, decode
from lifecycle.api.schema.gotypes import struct_for
from lifecycle.api.status import StatusError, failure, internal_error
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.matching import converted
from lifecycle.apiserver.admission.reinvocation import Reinvocation
from lifecycle.apiserver.admission.webhooks import (
    FailedCall,
    Webhook,
    WebhookPlugin,
    denied,
    failed,
)
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.authz.authorizer import Authorize
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver

MUTATION = "mutation.webhook.admission.k8s.io/"
PATCH = "patch.webhook.admission.k8s.io/"

Defaulter = Callable[[Object], None]
"""Fills in what an object does not say, in place. Upstream: `runtime.ObjectDefaulter`,
which plugins get in `admission.ObjectInterfaces`.
"""


class MutatingAdmissionWebhook(WebhookPlugin):
    """Calls, patches, and remembers who wants to be called again."""

    name = "MutatingAdmissionWebhook"
    kind = "mutating"

    def __init__(
        self,
        reader: ObjectReader,
        authorize: Authorize | None = None,
        resolver: ServiceResolver | None = None,
        *,
        defaulter: Defaulter,
    ) -> None:
        super().__init__(reader, authorize, resolver)
        self._defaulter = defaulter

    async def _dispatch(self, hooks: list[Webhook], attributes: Attributes) -> None:
        rounds = attributes.reinvocation = attributes.reinvocation or Reinvocation()
        memory = rounds.of(self.name)
        if rounds.second:
            memory.begin(attributes.obj)
        pauses = Pauses()
        for index, hook in enumerate(hooks):
            await pauses.pause()
            match = await self.should_call(hook, attributes)
            if match is None or (rounds.second and hook.uid not in memory.again):
                continue
            place = f"round_{int(rounds.second)}_index_{index}"
            try:
                changed = await self._call(hook, match, attributes, place)
            except FailedCall as error:
                if not hook.ignores_failures:
                    raise failed(error) from None
                annotate(f"failed-open.{MUTATION}{place}", hook.name)
                changed = False
            if changed:
                memory.require()
                rounds.should_reinvoke = True
            if hook.spec.get("reinvocationPolicy") == "IfNeeded":
                memory.called.add(hook.uid)
        await memory.keep(attributes.obj, attributes.grown)

    def admit(self, attributes: Attributes) -> Any:
        """Let the webhooks change the object. Raises StatusError."""
        hooks = self.hooks()
        return self._dispatch(hooks, attributes) if hooks else None

    async def _call(
        self, hook: Webhook, match: Any, attributes: Attributes, place: str
    ) -> bool:
        """Ask one. Returns whether the object is another one now."""
        changed = False
        try:
            answer = await self.answer(
                hook, self.call(hook, match, attributes), attributes, mutating=True
            )
            if not answer.allowed:
                raise denied(hook.name, answer.result)
            if answer.patch:
                changed = await beside(
                    answer.size, self._apply, hook, match, attributes, answer.patch
                )
                annotation = {
                    "configuration": hook.configuration,
                    "webhook": hook.name,
                    "patch": answer.patch,
                }
                annotate(
                    PATCH + place,
                    json.dumps(
                        {**annotation, "patchType": "JSONPatch"}, separators=(",", ":")
                    ),
                )
            return changed
        finally:
            noted = {
                "configuration": hook.configuration,
                "webhook": hook.name,
                "mutated": changed,
            }
            annotate(MUTATION + place, json.dumps(noted, separators=(",", ":")))

    def _apply(
        self, hook: Webhook, match: Any, attributes: Attributes, patch: Any
    ) -> bool:
        versioned = converted(attributes.obj, match.resource)
        if versioned is None or attributes.obj is None:
            why = (
                f'admission webhook "{hook.name}" attempted to modify the object, which'
                " is not supported for this operation"
            )
            raise internal_error(why)
        try:
            patched = apply_operations(versioned, patch)
        except JSONPatchError as error:
            raise internal_error(str(error)) from None
        return replace_object(attributes, patched, self._defaulter)


def replace_object(
    attributes: Attributes,
    document: Object,
    defaulter: Defaulter,
    *,
    strict: bool = False,
) -> bool:
    """Put another object in the place of the one that is asked about: normal form, with
    defaults, a custom one pruned. Returns whether it is another.

    Raises StatusError 500 for something that is no such object, or, if it is `strict`,
    has fields that nobody knows.
    """
    obj = attributes.obj
    assert obj is not None
    api_version = document.get("apiVersion") or obj["apiVersion"]
    kind = document.get("kind") or obj["kind"]
    _check_kind(obj, api_version, kind)
    try:
        new, unknown = decode(document, api_version, kind)
    except CannotBeHandledError as error:
        raise internal_error(error.why) from None
    except StatusError as error:
        raise internal_error(error.message) from None
    if strict and unknown:
        raise internal_error(f"strict decoding error: {', '.join(unknown)}")
    new = converted(new, attributes.resource) or new
    (attributes.defaulter or defaulter)(new)
    if new == obj:
        return False
    attributes.grown = size_of(new)
    obj.clear()
    obj.update(new)  # whoever handed the object in goes on with this very one
    return True


def _check_kind(obj: Object, api_version: str, kind: str) -> None:
    """Whether something of that kind may stand where `obj` stands. Raises StatusError
    500. Upstream: the codec's and the scheme's refusals.
    """
    if (api_version, kind) == (obj["apiVersion"], obj["kind"]):
        return
    if struct_for(obj["apiVersion"], obj["kind"]) is None:
        return  # a custom one, which has no Go type
    if struct_for(api_version, kind) is None:
        raise internal_error(
            f"no kind {go_quote(kind)} is registered for version"
            f' {go_quote(api_version)} in scheme "pkg/api/legacyscheme/scheme.go:30"'
        )
    if kind != obj["kind"]:
        version = api_version.rpartition("/")[2]
        group = obj["apiVersion"].rpartition("/")[0].partition(".")[0] or "core"
        why = (
            f"converting ({version}.{kind}) to ({group}.{obj['kind']}): unknown"
            " conversion"
        )
        raise failure(500, "", why)
