"""Patches: the stored object, changed by a recipe.

Four recipes, told apart by content type: a JSON patch lists operations, a merge patch
is a partial document, a strategic merge patch knows that containers are told apart by
name, and an apply patch says "this is what *I* want set" and leaves all else alone. The
result goes the way of any update. If somebody wrote in between, the recipe is applied
again to the newer object.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`patcher.applyPatch`,
`jsonPatcher`, `smpPatcher`, `applyPatcher`), v1.36.
"""

from __future__ import annotations

import asyncio
from typing import Any

import orjson

from lifecycle.api import status
from lifecycle.api.field_errors import invalid
from lifecycle.api.managed_fields import apply_patch, update_managed_fields
from lifecycle.api.patch.json_patch import apply_in_steps
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import strategic_merge_patch
from lifecycle.api.schema import schema_for
from lifecycle.api.schema.decode import unrecognized
from lifecycle.api.schema.from_unstructured import conversion_complaint
from lifecycle.api.wire import Object
from lifecycle.apiserver.admission.attributes import CREATE, UPDATE, Attributes
from lifecycle.apiserver.registry.metadata import (
    AFTER_ADMISSION,
    check_identity,
    dedup_owner_references,
    keep_reset,
)
from lifecycle.apiserver.registry.rest.strategy import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
)
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import ResourceStore
from lifecycle.apiserver.storage.cacher.cached_object import Cached


async def patched_document(
    content_type: str, document: Object, patch: Any, scope: RequestScope
) -> Object:
    """What a (not apply) patch makes of a document. Raises StatusError."""
    if content_type == JSON_PATCH:
        result = await _apply_json_patch(document, patch)
    elif content_type == MERGE_PATCH:
        result = apply_merge_patch(document, patch)
    else:
        schema = schema_for(scope.resource.api_version, scope.resource.kind)
        result = strategic_merge_patch(document, patch, schema)
        if isinstance(result, dict):  # what it becomes is settled before it is read
            result = {
                **result,
                "apiVersion": scope.resource.api_version,
                "kind": scope.resource.kind,
            }
    if not isinstance(result, dict):
        raise status.bad_request("the patch does not leave an object")
    return result


async def _apply_json_patch(document: Object, patch: Any) -> Any:
    """What a JSON patch makes of a document. Others get a turn every so many
    operations. Raises StatusError.
    """
    applying = apply_in_steps(document, patch)
    while True:
        try:
            next(applying)
        except StopIteration as end:
            return end.value
        await asyncio.sleep(0)


def normal(
    content_type: str,
    obj: Object,
    patch: Any,
    scope: RequestScope,
    found: list[str] | None = None,
) -> Object:
    """Normal form with defaults. Raises StatusError 422 if what the patch leaves cannot
    be decoded, or not strictly enough.
    """
    resource = scope.resource
    try:
        decoded, strict = scope.strategy.decode(
            obj, resource.api_version, resource.kind
        )
    except status.StatusError as error:
        complaint = ""
        if content_type == STRATEGIC_MERGE_PATCH:
            complaint = conversion_complaint(obj, resource.api_version, resource.kind)
        raise cannot_decode(
            content_type, obj, patch, resource.kind, error, complaint
        ) from None
    strict = [*(found or ()), *strict]
    if strict and scope.field_validation == "Strict":
        raise _patch_invalid(
            content_type, obj, patch, f"strict decoding error: {', '.join(strict)}"
        )
    report_strict(strict, scope)
    scope.strategy.set_defaults(decoded)
    keep_reset(obj, decoded)
    return decoded


def cannot_decode(
    content_type: str,
    result: Object,
    patch: Any,
    kind: str,
    error: status.StatusError,
    complaint: str = "",
) -> status.StatusError:
    """The 422 for a patch that leaves what cannot be decoded, `error` being the
    decoder's. `complaint`: better words for it.
    """
    _, handled, why = error.message.partition(f" cannot be handled as a {kind}: ")
    if not handled:
        _, handled, why = error.message.partition(unrecognized(kind))
    return (
        _patch_invalid(content_type, result, patch, complaint or why)
        if handled
        else error
    )


def _patch_invalid(
    content_type: str, result: Object, patch: Any, why: str
) -> status.StatusError:
    """The 422 that shows the document a patch leaves; after a strategic merge patch it
    is the patch itself, as Go prints a map.
    """
    strategic = content_type == STRATEGIC_MERGE_PATCH
    shown = _go_value(patch) if strategic else orjson.dumps(result).decode()
    return status.invalid("", "", [invalid("patch", shown, why).cause()])


def _go_value(value: Any) -> str:
    if isinstance(value, dict):
        return f"map[{' '.join(f'{key}:{_go_value(item)}' for key, item in sorted(value.items()))}]"
    if isinstance(value, list):
        return f"[{' '.join(map(_go_value, value))}]"
    return (
        {None: "<nil>", True: "true", False: "false"}.get(value, str(value))
        if type(value) is not int
        else str(value)
    )


def report_strict(strict: list[str], scope: RequestScope) -> None:
    """Unknown and duplicate fields: ignored, warned about, or refused with 400."""
    if not strict or scope.field_validation == "Ignore":
        return
    if scope.field_validation == "Strict":
        resource = scope.resource
        raise status.bad_request(
            f'{resource.kind} in version "{resource.version}" cannot be handled as a'
            f" {resource.kind}: "
            f"strict decoding error: {', '.join(strict)}"
        )
    scope.warnings.extend(strict)


async def patch(
    store: ResourceStore,
    scope: RequestScope,
    content_type: str,
    patch: Any,
    found: list[str],
    *,
    force: bool,
) -> tuple[Cached, bool]:
    """Patch one object; the result and whether it was created (only an apply can).
    `found`: what strict reading objected to.
    """
    if content_type == APPLY_PATCH:
        return await _apply(store, scope, patch, found, force=force)
    environment = store.environment

    async def change(live: Object | None) -> Object:
        if live is None:
            raise status.not_found(
                scope.resource.plural, scope.name, scope.resource.group
            )
        new = normal(
            content_type,
            await patched_document(content_type, live, patch, scope),
            patch,
            scope,
            found,
        )
        check_identity(new, scope)
        _keep_identity(new, live)
        update_managed_fields(
            live, new, manager=scope.manager, api_version=scope.resource.api_version,
            subresource=scope.subresource, now=environment.clock.timestamp(),
            type_=scope.strategy.type,
        )  # fmt: skip
        await _admit(store, scope, new, live)
        return new

    return await store.update(scope, change, create=False)


async def _apply(
    store: ResourceStore,
    scope: RequestScope,
    applied: Object,
    twice: list[str],
    *,
    force: bool,
) -> tuple[Cached, bool]:
    resource, environment = scope.resource, store.environment
    check_apply_kind(applied, scope)

    async def change(live: Object | None) -> Object:
        new = apply_patch(
            live, applied, manager=scope.manager, force=force,
            now=environment.clock.timestamp(), subresource=scope.subresource,
            type_=scope.strategy.type,
        )  # fmt: skip
        if (
            twice and scope.field_validation == "Strict"
        ):  # the warning, of several lines, would not fit into a header
            why = "".join(f"\n  {each}" for each in twice)
            raise status.bad_request(
                "error strict decoding YAML: error converting YAML to JSON: yaml:"
                f" unmarshal errors:{why}"
            )
        fields = new["metadata"].get("managedFields")
        try:
            decoded, _ = scope.strategy.decode(new, resource.api_version, resource.kind)
        except status.StatusError as error:
            raise _not_convertible(new, applied, scope, error) from None
        new = decoded
        scope.strategy.set_defaults(new)
        if fields is not None:
            new["metadata"]["managedFields"] = fields
        if live is None and (uid := new["metadata"].get("uid")):
            why = (
                f"uid mismatch: the provided object specified uid {uid}, and no"
                " existing object was found"
            )
            raise status.conflict(resource.plural, scope.name, why, resource.group)
        check_identity(new, scope)
        if live is not None:
            _keep_identity(new, live)
            await _admit(store, scope, new, live)
        return new

    return await store.update(scope, change, create=not scope.subresource)


def check_apply_kind(applied: Object, scope: RequestScope) -> None:
    """An apply names what it applies. Raises StatusError 400. Upstream:
    `versionCheckManager.Apply`.
    """
    resource = scope.resource
    version, kind = applied.get("apiVersion"), applied.get("kind")
    if (version, kind) != (resource.api_version, resource.kind):
        raise status.bad_request(f"invalid object type: {_gvk(applied)}")


def _gvk(obj: Object) -> str:
    """A kind as Go prints a `GroupVersionKind`."""
    version, kind = obj.get("apiVersion"), obj.get("kind")
    group, _, version = (
        version.rpartition("/")
        if isinstance(version, str) and version.count("/") < 2
        else ("", "", "")
    )
    return f"{group}/{version}, Kind={kind if isinstance(kind, str) else ''}"


def _not_convertible(
    new: Object, applied: Object, scope: RequestScope, error: status.StatusError
) -> status.StatusError:
    """500 for values that the schema allows and the type does not. Upstream:
    `structuredMergeManager.Apply`.
    """
    resource, metadata = scope.resource, applied.get("metadata") or {}
    complaint = conversion_complaint(new, resource.api_version, resource.kind)
    if not complaint:
        return error
    named = (
        f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''};"
        f" {_gvk(applied)}"
    )
    why = f"unable to convert unstructured object to {_gvk(applied)}: {complaint}"
    return status.failure(
        500, "", f"failed to convert new object ({named}) to proper version: {why}"
    )


def _keep_identity(new: Object, live: Object) -> None:
    metadata, old = new["metadata"], live["metadata"]
    for key in ("uid", "creationTimestamp", "name", "namespace"):
        if key in old and not metadata.get(key):
            metadata[key] = old[key]


async def _admit(
    store: ResourceStore, scope: RequestScope, new: Object, live: Object | None
) -> None:
    operation = UPDATE if live is not None else CREATE
    attributes = Attributes(
        operation, scope.resource, scope.subresource, scope.namespace, scope.name, new,
        live, scope.options, scope.user,
        scope.dry_run, scope.warnings,
    )  # fmt: skip
    await store.environment.admission.admit(attributes)
    dedup_owner_references(new, scope.warnings, AFTER_ADMISSION)
