"""Patches: the stored object, changed by a recipe.

Four recipes, told apart by content type: a JSON patch lists operations, a merge patch is a partial document, a
strategic merge patch knows that containers are told apart by name, and an apply patch says "this is what *I* want
set" and leaves all else alone. The result goes the way of any update. If somebody wrote in between, the recipe is
applied again to the newer object.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`patcher.applyPatch`, `jsonPatcher`, `smpPatcher`,
`applyPatcher`), v1.36.
"""

from __future__ import annotations

from typing import Any

import orjson

from lifecycle.api import status
from lifecycle.api.field_errors import invalid
from lifecycle.api.managed_fields import apply_patch, update_managed_fields
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import schema_for
from lifecycle.api.wire import Object
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.cached_object import Cached
from lifecycle.apiserver.json_complaint import json_complaint
from lifecycle.apiserver.registry.metadata import check_identity, check_namespace
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import ResourceStore
from lifecycle.apiserver.registry.strategy import APPLY_PATCH, JSON_PATCH, MERGE_PATCH, STRATEGIC_MERGE_PATCH
from lifecycle.apiserver.yaml_input import from_yaml

_DECODING = {APPLY_PATCH: "error decoding YAML: ", STRATEGIC_MERGE_PATCH: ""}


def parse_patch(content_type: str, body: bytes) -> Any:
    """The patch as data. Raises StatusError 400 for text that is not JSON (or YAML, for an apply), or is no patch."""
    if content_type == APPLY_PATCH and body[:1] != b"{":
        try:
            patch, _ = from_yaml(body)
        except ValueError as error:
            raise status.bad_request(f"error decoding YAML: {error}") from None
    else:
        try:
            patch = orjson.loads(body)
        except orjson.JSONDecodeError:
            prefix = _DECODING.get(content_type, "error decoding patch: ")
            raise status.bad_request(f"{prefix}{json_complaint(body)}") from None
    wanted: type = list if content_type == JSON_PATCH else dict
    if not isinstance(patch, wanted):
        what = {list: "array", dict: "object", str: "string", bool: "bool", type(None): "null"}.get(
            type(patch), "number"
        )
        target = "[]handlers.jsonPatchOp" if wanted is list else "map[string]interface {}"
        prefix = _DECODING.get(content_type, "error decoding patch: ")
        raise status.bad_request(f"{prefix}json: cannot unmarshal {what} into Go value of type {target}")
    return patch


def patched_document(content_type: str, document: Object, patch: Any, scope: RequestScope) -> Object:
    """What a (not apply) patch makes of a document. Raises StatusError."""
    if content_type == JSON_PATCH:
        result = apply_json_patch(document, patch)
    elif content_type == MERGE_PATCH:
        result = apply_merge_patch(document, patch)
    else:
        schema = schema_for(scope.resource.api_version, scope.resource.kind)
        result = strategic_merge_patch(document, patch, schema)
    if not isinstance(result, dict):
        raise status.bad_request("the patch does not leave an object")
    return result


def normal(content_type: str, obj: Object, patch: Any, scope: RequestScope) -> Object:
    """Normal form with defaults. Raises StatusError 422 if what the patch leaves cannot be decoded, or not strictly enough."""
    resource = scope.resource
    try:
        decoded, strict = scope.strategy.decode(obj, resource.api_version, resource.kind)
    except status.StatusError as error:
        _, handled, why = error.message.partition(f" cannot be handled as a {resource.kind}: ")
        raise (_patch_invalid(content_type, obj, patch, why) if handled else error) from None
    if strict and scope.field_validation == "Strict":
        raise _patch_invalid(content_type, obj, patch, f"strict decoding error: {', '.join(strict)}")
    report_strict(strict, scope)
    scope.strategy.set_defaults(decoded)
    return decoded


def _patch_invalid(content_type: str, result: Object, patch: Any, why: str) -> status.StatusError:
    """The 422 that shows the document a patch leaves; after a strategic merge patch it is the patch itself, as Go prints a map."""
    strategic = content_type == STRATEGIC_MERGE_PATCH
    shown = _go_value(patch) if strategic else orjson.dumps(result, option=orjson.OPT_SORT_KEYS).decode()
    return status.invalid("", "", [invalid("patch", shown, why).cause()])


def _go_value(value: Any) -> str:
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_go_value(item)}' for key, item in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_go_value, value))}]"
    return (
        {None: "<nil>", True: "true", False: "false"}.get(value, str(value)) if type(value) is not int else str(value)
    )


def report_strict(strict: list[str], scope: RequestScope) -> None:
    """Unknown and duplicate fields: ignored, warned about, or refused with 400."""
    if not strict or scope.field_validation == "Ignore":
        return
    if scope.field_validation == "Strict":
        resource = scope.resource
        raise status.bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a {resource.kind}: '
            f"strict decoding error: {', '.join(strict)}"
        )
    scope.warnings.extend(strict)


async def patch(
    store: ResourceStore, scope: RequestScope, content_type: str, patch: Any, *, force: bool
) -> tuple[Cached, bool]:
    """Patch one object; the result and whether it was created (only an apply can)."""
    if content_type == APPLY_PATCH:
        return await _apply(store, scope, patch, force=force)
    environment = store.environment

    async def change(live: Object | None) -> Object:
        if live is None:
            raise status.not_found(scope.resource.plural, scope.name, scope.resource.group)
        new = normal(content_type, patched_document(content_type, live, patch, scope), patch, scope)
        check_identity(new, scope)
        _keep_identity(new, live)
        update_managed_fields(
            live, new, manager=scope.manager, api_version=scope.resource.api_version,
            subresource=scope.subresource, now=environment.clock.timestamp(), type_=scope.strategy.type,
        )  # fmt: skip
        await _admit(store, scope, new, live)
        return new

    return await store.update(scope, change, create=False, retry=not names_version(patch))


def names_version(patch: Any) -> bool:
    """Whether a patch says which version it is for: then a lost race is the client's to know."""
    metadata = patch.get("metadata") if isinstance(patch, dict) else None
    return isinstance(metadata, dict) and bool(metadata.get("resourceVersion"))


async def _apply(store: ResourceStore, scope: RequestScope, applied: Object, *, force: bool) -> tuple[Cached, bool]:
    resource, environment = scope.resource, store.environment
    check_apply_kind(applied, scope)
    desired, strict = decode_partial(applied, scope)
    report_strict(strict, scope)

    async def change(live: Object | None) -> Object:
        new = apply_patch(
            live, desired, manager=scope.manager, force=force,
            now=environment.clock.timestamp(), subresource=scope.subresource, type_=scope.strategy.type,
        )  # fmt: skip
        fields = new["metadata"].get("managedFields")
        new, _ = scope.strategy.decode(new, resource.api_version, resource.kind)
        scope.strategy.set_defaults(new)
        if fields is not None:
            new["metadata"]["managedFields"] = fields
        if live is None:
            check_namespace(new, scope)
            new["metadata"].setdefault("name", scope.name)
        else:
            _keep_identity(new, live)
            await _admit(store, scope, new, live)
        return new

    return await store.update(scope, change, create=not scope.subresource)


def check_apply_kind(applied: Object, scope: RequestScope) -> None:
    """An apply names what it applies. Raises StatusError 400."""
    resource = scope.resource
    if not applied.get("apiVersion") or not applied.get("kind"):
        missing = "apiVersion" if not applied.get("apiVersion") else "kind"
        raise status.bad_request(f"invalid object type: {missing} must be set")
    if applied["apiVersion"] != resource.api_version:
        raise status.bad_request(
            f"Incorrect version specified in apply patch. Specified patch version: {applied['apiVersion']}, "
            f"expected: {resource.api_version}"
        )
    metadata = applied.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None  # what else it may be, decoding will refuse
    if name and name != scope.name:
        raise status.bad_request(f"the name of the object ({name}) does not match the name on the URL ({scope.name})")


def decode_partial(applied: Object, scope: RequestScope) -> tuple[Object, list[str]]:
    """The strict errors of an apply patch. The patch itself stays as sent: what it does not mention it does not own."""
    resource = scope.resource
    _, strict = scope.strategy.decode(applied, resource.api_version, resource.kind)
    return applied, strict


def _keep_identity(new: Object, live: Object) -> None:
    metadata, old = new["metadata"], live["metadata"]
    for key in ("uid", "creationTimestamp", "name", "namespace"):
        if key in old and not metadata.get(key):
            metadata[key] = old[key]


async def _admit(store: ResourceStore, scope: RequestScope, new: Object, live: Object | None) -> None:
    operation = UPDATE if live is not None else CREATE
    attributes = Attributes(
        operation, scope.resource, scope.subresource, scope.namespace, scope.name, new, live, scope.options, scope.user,
        scope.dry_run, scope.warnings,
    )  # fmt: skip
    await store.environment.admission.admit(attributes)
