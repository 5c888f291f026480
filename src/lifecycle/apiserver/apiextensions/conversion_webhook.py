"""Conversion by a webhook: somebody else's program turns one version of a custom
resource into another.

The server sends a ConversionReview with all objects that have to be converted, and gets
them back in the version it wants. The program may change everything but the metadata,
of which only labels and annotations are taken from its answer; and it must not turn one
object into another one.

Upstream: `apiextensions-apiserver/pkg/apiserver/conversion/webhook_converter.go`
(`webhookConverter.Convert`, `getConvertedObjectsFromResponse`,
`validateConvertedObject`, `restoreObjectMeta`), v1.36. Upstream asks once for each
object it reads from the store, ours once for all that wait. Left out: checking the
labels it sends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.names import NameSource
from lifecycle.apiserver.registry.rest.webhook_clients import REVIEW_VERSIONS
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.apiserver.webhook.client_config import HookClient
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver

GROUP = "apiextensions.k8s.io"
TIMEOUT = 30.0


class ConversionError(Exception):
    """A conversion that did not work. The text is upstream's."""


class _WrongObjectsError(ConversionError):
    """The webhook answered, but with other objects than it was asked for."""


class WebhookConverter:
    """The webhook that a definition names. `resolver` finds the endpoints of its
    Service.
    """

    def __init__(
        self, definition: Object, resolver: ServiceResolver, names: NameSource
    ) -> None:
        webhook = definition["spec"]["conversion"].get("webhook") or {}
        versions = webhook.get("conversionReviewVersions") or ()
        self._version = next(
            (version for version in versions if version in REVIEW_VERSIONS),
            REVIEW_VERSIONS[0],
        )
        self._client = HookClient(webhook.get("clientConfig") or {}, resolver)
        self._names = names

    async def convert(
        self, objects: Sequence[Object], api_version: str
    ) -> list[Object]:
        """The objects in another version; those that are in it already stay as they
        are. Raises ConversionError.
        """
        strangers = [obj for obj in objects if obj["apiVersion"] != api_version]
        if not strangers:
            return list(objects)
        try:
            converted = iter(await self._send_review(strangers, api_version))
        except (WebhookError, ConversionError) as error:
            group, _, version = strangers[0]["apiVersion"].rpartition("/")
            what = f"{group}/{version}, Kind={strangers[0]['kind']}"
            joint = "" if isinstance(error, _WrongObjectsError) else "failed: "
            raise ConversionError(
                f"conversion webhook for {what} {joint}{error}"
            ) from None
        return [
            obj if obj["apiVersion"] == api_version else next(converted)
            for obj in objects
        ]

    async def _send_review(
        self, objects: list[Object], api_version: str
    ) -> list[Object]:
        uid = self._names.uid()
        body = {
            "kind": "ConversionReview",
            "apiVersion": f"{GROUP}/{self._version}",
            "request": {
                "uid": uid,
                "desiredAPIVersion": api_version,
                "objects": [_sent(obj) for obj in objects],
            },
        }
        answer = await self._client.post(fast_json.dumps(body), TIMEOUT).answer()
        converted_objects = self._objects(answer, uid)
        if len(converted_objects) != len(objects):
            raise _WrongObjectsError(
                f"returned {len(converted_objects)} objects, expected {len(objects)}"
            )
        return [
            _checked(obj, new, api_version)
            for obj, new in zip(objects, converted_objects, strict=True)
        ]

    def _objects(self, answer: Any, uid: str) -> list[Any]:
        response = answer.get("response") if isinstance(answer, dict) else None
        if self._version == "v1":
            expected, got = f"{GROUP}/v1, Kind=ConversionReview", _kind_of(answer)
            if got != expected:
                raise ConversionError(
                    f"expected webhook response of {expected}, got {got}"
                )
        if response is None:
            raise ConversionError("no response provided")
        if self._version == "v1" and response.get("uid") != uid:
            raise ConversionError(
                f"expected response.uid={go_quote(uid)}, got"
                f" {go_quote(response.get('uid') or '')}"
            )
        result = response.get("result") or {}
        if result.get("status") != "Success":
            why = (
                f"response.result.status was '{result.get('status') or ''}', not"
                " 'Success'"
            )
            raise ConversionError(result.get("message") or why)
        return list(response.get("convertedObjects") or ())


def _sent(obj: Object) -> Object:
    """As it is stored: the store's revision is no part of it."""
    return {
        **obj,
        "metadata": {
            key: value
            for key, value in obj["metadata"].items()
            if key != "resourceVersion"
        },
    }


def _kind_of(document: Any) -> str:
    if not isinstance(document, dict):
        return ", Kind="
    group, _, version = document.get("apiVersion", "").rpartition("/")
    return f"{group}/{version}, Kind={document.get('kind', '')}"


def _checked(old: Object, new: Any, api_version: str) -> Object:
    """The converted object with the original's metadata. Raises ConversionError if it
    is not the same object in the version wanted.
    """
    # upstream converts what it reads from the store one by one
    where = "returned invalid object at index 0:"
    got = new.get("apiVersion", "") if isinstance(new, dict) else ""
    if got != api_version:
        raise _WrongObjectsError(
            f"{where} invalid groupVersion (expected {api_version}, received {got})"
        )
    if new.get("kind") != old["kind"]:
        kinds = f"(expected {old['kind']}, received {new.get('kind', '')})"
        raise _WrongObjectsError(f"{where} invalid kind {kinds}")
    metadata, new_metadata = old["metadata"], new.get("metadata")
    if not isinstance(new_metadata, dict):
        raise _WrongObjectsError(
            "returned invalid metadata: missing metadata in converted object"
        )
    for key, word in (("name", "name"), ("namespace", "namespace"), ("uid", "UID")):
        before, after = metadata.get(key, ""), new_metadata.get(key, "")
        if before != after:
            raise _WrongObjectsError(
                f"returned invalid object: must have the same {word}: {before} !="
                f" {after}"
            )
    kept = {
        key: value
        for key, value in metadata.items()
        if key not in ("labels", "annotations")
    }
    taken = {
        key: new_metadata[key]
        for key in ("labels", "annotations")
        if new_metadata.get(key) is not None
    }
    return {**new, "metadata": {**kept, **taken}}
