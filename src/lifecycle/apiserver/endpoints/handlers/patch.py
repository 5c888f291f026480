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

from collections.abc import Callable
from typing import Any

from lifecycle.api import status
from lifecycle.api.go.format import go_value
from lifecycle.api.go.json.as_sent import plain
from lifecycle.api.go.json.decode import as_go_values
from lifecycle.api.go.yaml_reader import unmarshal_errors
from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.worker import beside
from lifecycle.api.patch.json_document import MAX_COPIED
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.patch.strategic import consume_patch
from lifecycle.api.schema import as_printed, decode, schema_for
from lifecycle.api.schema.decode import CannotBeHandledError, UnrecognizedError
from lifecycle.api.schema.from_unstructured import from_unstructured
from lifecycle.api.schema.gotypes import struct_for
from lifecycle.api.schema.left_alone import put_back, take_out
from lifecycle.apiserver.endpoints.handlers.patch_errors import (
    check_apply_kind,
    not_convertible,
    patch_invalid,
)
from lifecycle.apiserver.endpoints.handlers.rest import (
    RestHandler,
    form,
    report_strict,
)
from lifecycle.apiserver.endpoints.options import bool_option, check_patch_options
from lifecycle.apiserver.endpoints.patch_bodies import PatchBody, parse_patch
from lifecycle.apiserver.managedfields import apply_patch
from lifecycle.apiserver.registry.metadata import (
    check_identity,
    keep_reset,
)
from lifecycle.apiserver.registry.rest.strategy import (
    APPLY_PATCH,
    JSON_PATCH,
    MERGE_PATCH,
    STRATEGIC_MERGE_PATCH,
)
from lifecycle.apiserver.registry.scales import KIND, VERSION, change_scale
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.storage.cacher.cached_object import Cached

STATUS = "status"


def patched_document(
    body: PatchBody, document: Object, scope: RequestScope
) -> tuple[Object, Callable[[], str]]:
    """What a (not apply) patch makes of a document, and how that is shown. Raises
    StatusError.
    """
    api_version, kind = scope.resource.api_version, scope.resource.kind
    if body.content_type == STRATEGIC_MERGE_PATCH:
        patch = as_go_values(body.patch)
        result = consume_patch(document, patch, schema_for(api_version, kind))
        return _object(result), lambda: go_value(patch)
    printed = as_printed(document, api_version, kind)
    if body.content_type == MERGE_PATCH:
        result = apply_merge_patch(printed, body.patch)
    else:
        result = plain(apply_json_patch(printed, body.compared()))
    return _object(result), lambda: body.left_of(printed)


def _object(result: Any) -> Object:
    if not isinstance(result, dict):
        raise status.bad_request("the patch does not leave an object")
    return result


def normal(
    obj: Object,
    body: PatchBody,
    scope: RequestScope,
    left: Callable[[], str],
    live: Object,
) -> Object:
    """Normal form with defaults of what a patch makes of `live`. Raises StatusError 422
    if it cannot be decoded, or not strictly enough; `left` shows it.
    """
    api_version, kind = scope.resource.api_version, scope.resource.kind
    unknown: list[str] = []
    struct = struct_for(api_version, kind)
    left_alone = None
    if body.content_type == STRATEGIC_MERGE_PATCH:
        if struct is not None:
            obj, left_alone = take_out(obj, live, struct)
        try:
            obj, unknown = from_unstructured(obj, api_version, kind)
        except ValueError as error:
            raise patch_invalid(left(), str(error)) from None
        # what it becomes is settled, whatever the patch says
        obj = {**obj, "apiVersion": api_version, "kind": kind}
    try:
        decoded, strict = scope.strategy.decode(obj, api_version, kind)
    except (CannotBeHandledError, UnrecognizedError) as error:
        raise patch_invalid(left(), error.why) from None
    scope.empties = getattr(strict, "empties", ())
    strict = [*body.errors, *unknown, *strict]
    if strict and scope.field_validation == "Strict":
        raise patch_invalid(left(), f"strict decoding error: {', '.join(strict)}")
    report_strict(strict, scope, api_version, kind)
    if struct is not None and left_alone is not None:
        status_is_kept = not scope.subresource and STATUS in scope.strategy.subresources
        put_back(decoded, left_alone, struct, STATUS if status_is_kept else "")
    scope.strategy.set_defaults(decoded)
    if struct is not None:  # a custom object's metadata is read once more
        keep_reset(obj, decoded)
    return decoded


async def patch_resource(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """A change described by a patch. Only an apply creates what is not there."""
    accepted = form(request)
    body = await _read_patch(rest, request, scope)
    change = _apply if body.content_type == APPLY_PATCH else _patch
    cached, created = await change(rest, scope, body)
    return rest.answer(request, scope, cached, accepted, 201 if created else 200)


async def patch_scale(
    rest: RestHandler, request: Request, scope: RequestScope
) -> Response:
    """Another number of replicas. A strategic merge patch is a plain one here: a Scale
    has no lists.
    """
    accepted = form(request)
    body = await _read_patch(rest, request, scope)
    now = rest.environment.clock.timestamp()

    def patched(current: Object) -> Object:
        if body.content_type == APPLY_PATCH:
            if scope.strategy.scale is not None and _is_untracked(current, body.patch):
                raise status.failure(500, "", _NO_CUSTOM_SCALE)
            return apply_patch(
                current,
                body.patch,
                manager=scope.manager,
                force=body.force,
                now=now,
                subresource="scale",
            )
        json_patch = body.content_type == JSON_PATCH
        apply = apply_json_patch if json_patch else apply_merge_patch
        result = plain(apply(current, body.compared()))
        if body.content_type == STRATEGIC_MERGE_PATCH:
            try:
                result, _ = from_unstructured(result, VERSION, KIND)
            except ValueError as error:
                raise patch_invalid(body.left_of(current), str(error)) from None
        try:
            decoded, _ = decode(result, VERSION, KIND)
        except (CannotBeHandledError, UnrecognizedError) as error:
            raise patch_invalid(body.left_of(current), error.why) from None
        return decoded

    applied = body.content_type == APPLY_PATCH
    store = rest.store(scope)
    scale = await change_scale(store, scope, patched, applied=applied)
    return rest.answer_scale(request, scope, scale, accepted)


_NO_CUSTOM_SCALE = (
    "failed to create manager for existing fields: failed to convert live object"
    " (/; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an"
    " invalid group/version: autoscaling/v1"
)
"""Upstream's converter for custom resources knows no Scale: one that is tracked from
now on would have to be converted.
"""


def _is_untracked(scale: Object, patch: Object) -> bool:
    """Does nobody own the replicas of a Scale that a Scale is applied to?"""
    is_scale = (patch.get("apiVersion"), patch.get("kind")) == (VERSION, KIND)
    return is_scale and not scale["metadata"].get("managedFields")


async def _read_patch(
    rest: RestHandler, request: Request, scope: RequestScope
) -> PatchBody:
    content_type = request.headers.get("content-type", "").partition(";")[0].strip()
    if content_type not in scope.strategy.patch_types:
        raise rest.unsupported_patch(content_type)
    force = bool(bool_option(request, "force"))
    check_patch_options(request, apply=content_type == APPLY_PATCH)
    if request.obj is not None:
        return PatchBody(content_type, request.obj, [], force)
    try:
        patch, errors = await beside(
            scope.size, parse_patch, content_type, request.body
        )
    except status.StatusError:
        if content_type != APPLY_PATCH:
            # a patch is read once there is something to patch
            rest.store(scope).get(scope.namespace, scope.name)
        raise
    if content_type == JSON_PATCH and any(each.get("op") == "copy" for each in patch):
        scope.size += MAX_COPIED  # a short one can make much
    return PatchBody(content_type, patch, errors, force, request.body)


def _patched(live: Object, body: PatchBody, scope: RequestScope) -> Object:
    document, left = patched_document(body, live, scope)
    return normal(document, body, scope, left, live)


async def _patch(
    rest: RestHandler, scope: RequestScope, body: PatchBody
) -> tuple[Cached, bool]:
    admission = rest.admission(scope)

    async def change(live: Object | None) -> Object:
        if live is None:
            raise status.not_found(
                scope.resource.plural, scope.name, scope.resource.group
            )
        new = await beside(scope.size, _patched, live, body, scope)
        check_identity(new, scope)
        _keep_identity(new, live)
        await rest.track(live, new, scope)
        await admission.admit(new, live)
        return new

    store = rest.store(scope)
    return await store.update(scope, change, admission.validate, create=False)


async def _apply(
    rest: RestHandler, scope: RequestScope, body: PatchBody
) -> tuple[Cached, bool]:
    resource, applied, admission = scope.resource, body.patch, rest.admission(scope)
    check_apply_kind(applied, scope)

    def patched(live: Object | None, now: str) -> Object:
        new = apply_patch(
            live, applied, manager=scope.manager, force=body.force,
            now=now, subresource=scope.subresource,
            type_=scope.strategy.type,
            reset_fields=scope.strategy.get_reset_fields(scope.subresource),
        )  # fmt: skip
        if (
            body.errors and scope.field_validation == "Strict"
        ):  # the warning, of several lines, would not fit into a header
            raise status.bad_request(
                "error strict decoding YAML: error converting YAML to JSON: "
                f"{unmarshal_errors(body.errors)}"
            )
        fields = new["metadata"].get("managedFields")
        try:
            new, _ = from_unstructured(new, resource.api_version, resource.kind)
        except ValueError as error:
            raise not_convertible(applied, error) from None
        new, read = scope.strategy.decode(new, resource.api_version, resource.kind)
        scope.empties = getattr(read, "empties", ())
        complete = scope.strategy.set_defaults_of_applied or scope.strategy.set_defaults
        complete(new)
        if fields is not None:
            new["metadata"]["managedFields"] = fields
        return new

    async def change(live: Object | None) -> Object:
        now = rest.environment.clock.timestamp()
        new = await beside(scope.size, patched, live, now)
        if live is None and (uid := new["metadata"].get("uid")):
            why = (
                f"uid mismatch: the provided object specified uid {uid}, and no "
                "existing object was found"
            )
            raise status.conflict(resource.plural, scope.name, why, resource.group)
        check_identity(new, scope)
        if live is not None:
            _keep_identity(new, live)
        await admission.admit(new, live)
        return new

    return await rest.store(scope).update(
        scope, change, admission.validate, create=not scope.subresource
    )


def _keep_identity(new: Object, live: Object) -> None:
    metadata, old = new["metadata"], live["metadata"]
    for key in ("uid", "creationTimestamp", "name", "namespace"):
        if key in old and not metadata.get(key):
            metadata[key] = old[key]
