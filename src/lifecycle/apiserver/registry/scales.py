"""The `scale` subresource: one small shape for everything that has replicas.

`kubectl scale` and autoscalers need not know what a Deployment is. They read and write
a Scale; the registry translates.

Upstream: `pkg/registry/apps/deployment/storage/storage.go` (`ScaleREST`,
`scaleFromDeployment`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.api import status
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.schema import decode
from lifecycle.apiserver.managedfields import update_managed_fields
from lifecycle.apiserver.managedfields.scale import parent_entries, scale_entries
from lifecycle.apiserver.registry.admission import RequestAdmission
from lifecycle.apiserver.registry.metadata import check_identity
from lifecycle.apiserver.registry.preconditions import unmet_precondition
from lifecycle.apiserver.registry.rest.strategy import Strategy
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import ResourceStore

KIND, VERSION = "Scale", "autoscaling/v1"
_KEPT = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(obj: Object, strategy: Strategy) -> Object:
    """The Scale of a workload."""
    if strategy.scale is not None:
        return _custom_scale(obj, strategy.scale)
    metadata, spec = obj["metadata"], obj.get("spec") or {}
    replicas = spec.get("replicas", 0)
    selector = strategy.format_selector(spec.get("selector") or {})
    scale: Object = {
        "kind": KIND,
        "apiVersion": VERSION,
        "metadata": {key: metadata[key] for key in _KEPT if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": (obj.get("status") or {}).get("replicas", 0)},
    }
    if selector:
        scale["status"]["selector"] = selector
    return scale


def _custom_scale(obj: Object, paths: Object) -> Object:
    metadata = obj["metadata"]
    replicas = nested(obj, paths["specReplicasPath"]) or 0
    selector = (
        nested(obj, paths["labelSelectorPath"])
        if paths.get("labelSelectorPath")
        else None
    )
    scale: Object = {
        "kind": KIND,
        "apiVersion": VERSION,
        "metadata": {key: metadata[key] for key in _KEPT if key in metadata},
        "spec": {"replicas": replicas} if replicas else {},
        "status": {"replicas": nested(obj, paths["statusReplicasPath"]) or 0},
    }
    if selector:
        scale["status"]["selector"] = selector
    return scale


def nested(obj: Any, path: str) -> Any:
    """What a simple path such as `.spec.replicas` leads to, or None."""
    for part in path.lstrip(".").split("."):
        obj = obj.get(part) if isinstance(obj, dict) else None
    return obj


def with_nested(obj: Object, path: str, value: Any) -> Object:
    """The object with something else at a path; the original stays."""
    first, _, rest = path.lstrip(".").partition(".")
    return {
        **obj,
        first: with_nested(obj.get(first) or {}, rest, value) if rest else value,
    }


def get_scale(store: ResourceStore, scope: RequestScope) -> Object:
    """Read. Raises StatusError 404, 500 for a custom resource that has no replicas."""
    obj, paths = store.get(scope.namespace, scope.name).obj, scope.strategy.scale
    if paths is not None and nested(obj, paths["specReplicasPath"]) is None:
        why = (
            f"the spec replicas field {go_quote(paths['specReplicasPath'])} does not"
            " exist"
        )
        raise status.internal_error(why)
    return scale_of(obj, scope.strategy)


async def update_scale(
    store: ResourceStore, scope: RequestScope, new: Object
) -> Object:
    """Replace."""
    check_identity(new, scope)

    def replaced(_: Object) -> Object:
        return new

    uid = new["metadata"].get("uid", "")
    return await change_scale(store, scope, replaced, uid=uid)


async def change_scale(
    store: ResourceStore,
    scope: RequestScope,
    change: Callable[[Object], Object],
    *,
    applied: bool = False,
    uid: str = "",
) -> Object:
    """Write what `change` makes of the Scale into the object behind it. `applied`: its
    managed fields are an apply's.
    """
    resource, paths = scope.resource, scope.strategy.scale
    now = store.environment.clock.timestamp()
    admission = RequestAdmission(store.environment.admission, scope)

    async def change_parent(live: Object | None) -> Object:
        assert live is not None  # nothing is created here
        before = scale_of(live, scope.strategy)
        owned = live["metadata"].get("managedFields")
        if entries := scale_entries(owned, scope.strategy.replicas_path):
            before["metadata"]["managedFields"] = entries
        after = change(before)
        tracked = (after.get("metadata") or {}).get("managedFields")
        after, _ = decode(after, VERSION, KIND)
        _check(after, scope, live)
        metadata = after["metadata"]
        if applied:
            metadata["managedFields"] = tracked
        else:
            metadata.pop("managedFields", None)
            update_managed_fields(
                before,
                after,
                manager=scope.manager,
                api_version=VERSION,
                subresource="scale",
                now=now,
            )
        await admission.admit(after, before)
        metadata = after["metadata"]
        version = metadata.get("resourceVersion")
        changed = {
            **live["metadata"],
            "managedFields": parent_entries(
                owned,
                metadata.get("managedFields"),
                resource.api_version,
                scope.strategy.replicas_path,
            ),
        }
        if version:
            changed["resourceVersion"] = version
        elif paths is None:  # of a custom resource it stays that of the object
            changed.pop("resourceVersion")
        replicas = (after.get("spec") or {}).get("replicas", 0)
        if paths is not None:
            return {
                **with_nested(live, paths["specReplicasPath"], replicas),
                "metadata": changed,
            }
        return {
            **live,
            "metadata": changed,
            "spec": {**(live.get("spec") or {}), "replicas": replicas},
        }

    parent = RequestScope(
        resource, scope.namespace, scope.name, "", scope.user, scope.manager,
        scope.dry_run, warnings=scope.warnings,
        strategy=scope.strategy,
    )  # fmt: skip

    async def validate(obj: Object | None, old: Object | None) -> None:
        assert obj is not None
        assert old is not None
        await admission.validate(
            scale_of(obj, scope.strategy), scale_of(old, scope.strategy)
        )

    cached, _ = await store.update(
        parent, change_parent, validate, create=False, uid=uid
    )
    return scale_of(cached.obj, scope.strategy)


def _check(scale: Object, scope: RequestScope, parent: Object) -> None:
    check_identity(scale, scope)
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if (
        replicas < 0 and scope.strategy.scale is None
    ):  # a custom resource's are checked where they are kept
        cause = {
            "reason": "FieldValueInvalid",
            "message": f"Invalid value: {replicas}: must be greater than or equal to 0",
            "field": "spec.replicas",
        }
        raise status.invalid(KIND, scope.name, [cause], "autoscaling")
    why = unmet_precondition(parent["metadata"], scale["metadata"].get("uid", ""))
    if why:
        raise status.conflict(
            f"{scope.resource.plural}/scale", scope.name, why, scope.resource.group
        )
