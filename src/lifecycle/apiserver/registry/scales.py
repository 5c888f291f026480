"""The `scale` subresource: one small shape for everything that has replicas.

`kubectl scale` and autoscalers need not know what a Deployment is. They read and write a Scale; the registry translates.

Upstream: `pkg/registry/apps/deployment/storage/storage.go` (`ScaleREST`, `scaleFromDeployment`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import status
from lifecycle.api.labels import format_label_selector
from lifecycle.api.managed_fields import apply_patch, update_managed_fields
from lifecycle.api.managed_fields.scale import parent_entries, scale_entries
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.schema import decode
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.patching import APPLY_PATCH, JSON_PATCH, names_version
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import ResourceStore

KIND, VERSION = "Scale", "autoscaling/v1"


def scale_of(obj: Object) -> Object:
    """The Scale of a workload."""
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    keys = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    replicas = spec.get("replicas", 0)
    selector = spec.get("selector") or {}
    is_plain = obj["kind"] == "ReplicationController"
    text = format_label_selector({"matchLabels": selector} if is_plain else selector)
    scale: Object = {
        "kind": KIND,
        "apiVersion": VERSION,
        "metadata": {key: metadata[key] for key in keys if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": (obj.get("status") or {}).get("replicas", 0)},
    }
    if text:
        scale["status"]["selector"] = text
    return scale


def get_scale(store: ResourceStore, scope: RequestScope) -> Object:
    """Read. Raises StatusError 404."""
    return scale_of(store.get(scope.namespace, scope.name).obj)


async def update_scale(store: ResourceStore, scope: RequestScope, new: Object) -> Object:
    """Replace."""

    def replaced(_: Object) -> Object:
        return new

    return await _write(store, scope, replaced, retry=not (new.get("metadata") or {}).get("resourceVersion"))


async def patch_scale(
    store: ResourceStore, scope: RequestScope, content_type: str, patch: Any, *, force: bool
) -> Object:
    """Patch; a strategic merge patch is a plain one here, a Scale has no lists."""
    now = store.environment.clock.timestamp()

    def patched(current: Object) -> Object:
        if content_type == JSON_PATCH:
            return apply_json_patch(current, patch)
        if content_type == APPLY_PATCH:
            return apply_patch(current, patch, manager=scope.manager, force=force, now=now, subresource="scale")
        return apply_merge_patch(current, patch)

    return await _write(store, scope, patched, retry=not names_version(patch), applied=content_type == APPLY_PATCH)


async def _write(
    store: ResourceStore, scope: RequestScope, change: Any, *, retry: bool, applied: bool = False
) -> Object:
    resource = scope.resource
    now = store.environment.clock.timestamp()

    async def change_parent(live: Object | None) -> Object:
        if live is None:
            raise status.not_found(resource.plural, scope.name, resource.group)
        before = scale_of(live)
        owned = live["metadata"].get("managedFields")
        before["metadata"]["managedFields"] = scale_entries(owned)
        after = change(before)
        tracked = (after.get("metadata") or {}).get("managedFields")
        after, _ = decode(after, VERSION, KIND)
        _check(after, scope)
        metadata = after["metadata"]
        if applied:
            metadata["managedFields"] = tracked
        else:
            metadata.pop("managedFields", None)
            update_managed_fields(
                before, after, manager=scope.manager, api_version=VERSION, subresource="scale", now=now
            )
        version = metadata.get("resourceVersion")
        entries = parent_entries(owned, metadata.get("managedFields"), resource.api_version)
        changed = {**live["metadata"], "managedFields": entries}
        if version:
            changed["resourceVersion"] = version
        else:
            changed.pop("resourceVersion")
        return {
            **live,
            "metadata": changed,
            "spec": {**(live.get("spec") or {}), "replicas": (after.get("spec") or {}).get("replicas", 0)},
        }

    parent = RequestScope(
        resource, scope.namespace, scope.name, "", scope.user, scope.manager, scope.dry_run, warnings=scope.warnings
    )
    cached, _ = await store.update(parent, change_parent, create=False, retry=retry)
    return scale_of(cached.obj)


def _check(scale: Object, scope: RequestScope) -> None:
    name = (scale.get("metadata") or {}).get("name", "")
    if name and name != scope.name:
        raise status.bad_request(f"the name of the object ({name}) does not match the name on the URL ({scope.name})")
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if replicas < 0:
        cause = {
            "reason": "FieldValueInvalid",
            "message": f"Invalid value: {replicas}: must be greater than or equal to 0",
            "field": "spec.replicas",
        }
        raise status.invalid(KIND, scope.name, [cause], "autoscaling")
