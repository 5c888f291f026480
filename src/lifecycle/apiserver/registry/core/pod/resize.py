"""The subresource `resize`: CPU and memory of a pod's containers of every sort, changed
in place, without a change of its quality of service.

Upstream: `pkg/registry/core/pod/strategy.go` (`podResizeStrategy`,
`dropNonResizeUpdates`, `dropNonResizeUpdatesForContainers`),
`pkg/apis/core/validation/validation.go` (`ValidatePodResize`,
`validatePodResizeContainerOrdering`, `validateContainerResize`,
`dropCPUMemoryResourcesFromContainer`, `isPodResizeRequestSupported`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import FieldError, forbidden, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.qos import compute_pod_qos, get_pod_qos
from lifecycle.apiserver.registry.core.pod.annotations import MIRROR
from lifecycle.apiserver.registry.core.pod.disabled_fields import (
    drop_disabled_pod_fields,
)
from lifecycle.apiserver.registry.core.pod.validation import validate_metadata_and_spec
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import NOTHING, UpdateStrategy
from lifecycle.apiserver.registry.rest.update import take_over

_RESIZABLE = ("cpu", "memory")
_FROM_CLIENT = ("name", "namespace", "uid", "resourceVersion", "managedFields")


def prepare_for_update(new: Object, old: Object) -> None:
    """Of `new` count resources and resize policies. Containers that come, go or change
    places are left for validation to find.
    """
    spec, before = new.get("spec") or {}, old["spec"]
    groups = {
        group: (spec.get(group) or [], before.get(group) or [])
        for group in ("containers", "initContainers")
    }
    if all(len(after) == len(known) for after, known in groups.values()):
        metadata = new["metadata"]
        new["metadata"] = {
            **{
                key: value
                for key, value in old["metadata"].items()
                if key not in _FROM_CLIENT
            },
            **{key: metadata[key] for key in _FROM_CLIENT if key in metadata},
        }
        resized = dict(before)
        _put(resized, "resources", spec.get("resources"))
        for group, (after, known) in groups.items():
            _put(resized, group, _resized(after, known) or None)
        new["spec"] = resized
    take_over(new, old, "status")
    if new.get("spec"):
        drop_disabled_pod_fields(new["spec"], old["spec"])


def _resized(after: list[Object], known: list[Object]) -> list[Object]:
    if any(
        container.get("name") != old.get("name") for container, old in zip(after, known)
    ):
        return after
    containers = [dict(old) for old in known]
    for container, new in zip(containers, after):
        for key in ("resources", "resizePolicy"):
            _put(container, key, new.get(key))
    return containers


def _put(holder: Object, key: str, value: Any) -> None:
    if value is None:
        holder.pop(key, None)
    else:
        holder[key] = value


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """More or less CPU and memory for a pod that may be running."""
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden("[]", "static pods cannot be resized")]
    spec, before = new["spec"], old["spec"]
    if (before.get("os") or {}).get("name") == "windows":
        return [forbidden("[]", "windows pods cannot be resized")]
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += validate_metadata_and_spec(new)
    qos_before = get_pod_qos(old)
    if qos_before != compute_pod_qos(new):
        qos_class = (new.get("status") or {}).get("qosClass") or ""
        errors.append(
            invalid(
                "spec",
                qos_class,
                "Pod QOS Class may not change as a result of resizing",
            )
        )
    if not _node_resizes(old):
        errors.append(
            forbidden("spec", "Pod running on node without support for resize")
        )
    disorder = _validate_order(spec, before)
    if disorder:
        return errors + disorder
    errors += _validate_nothing_removed(spec, before)
    errors += _validate_only_resizable(spec, before)
    if not errors and _without_containers(spec) != _without_containers(before):
        errors.append(forbidden("spec", "only cpu and memory resources are mutable"))
    return errors


def _node_resizes(pod: Object) -> bool:
    """Whether the kubelet tells what a running container has; as long as none runs, it
    is assumed to.
    """
    for status in (pod.get("status") or {}).get("containerStatuses") or ():
        if (status.get("state") or {}).get("running") is not None:
            return status.get("resources") is not None
    return True


def _validate_order(spec: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for group in ("containers", "initContainers"):
        after, known = spec.get(group) or [], before.get(group) or []
        if len(after) != len(known):
            errors.append(
                forbidden(
                    f"spec.{group}", f"{group} may not be added or removed on resize"
                )
            )
            continue
        errors += [
            forbidden(
                f"spec.{group}[{index}].name",
                f"{group} may not be renamed or reordered on resize",
            )
            for index, (container, old) in enumerate(zip(after, known))
            if container.get("name") != old.get("name")
        ]
    return errors


def _validate_nothing_removed(spec: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for group in ("initContainers", "containers"):
        for index, (container, old) in enumerate(
            zip(spec.get(group) or (), before.get(group) or ())
        ):
            for key in ("requests", "limits"):
                amounts = (container.get("resources") or {}).get(key) or {}
                if (
                    not ((old.get("resources") or {}).get(key) or {}).keys()
                    <= amounts.keys()
                ):
                    path = f"spec.{group}[{index}].resources.{key}"
                    errors.append(forbidden(path, f"resource {key} cannot be removed"))
    return errors


def _validate_only_resizable(spec: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for container, old in zip(
        spec.get("containers") or (), before.get("containers") or ()
    ):
        if _changes_more(container, old):
            errors.append(
                forbidden("spec", "only cpu and memory resources are mutable")
            )
    for index, (container, old) in enumerate(
        zip(spec.get("initContainers") or (), before.get("initContainers") or ())
    ):
        if _changes_more(container, old):
            errors.append(
                forbidden(
                    f"spec.initContainers[{index}]",
                    "only cpu and memory resources for init or sidecar containers are"
                    " mutable",
                )
            )
    return errors


def _changes_more(container: Object, old: Object) -> bool:
    """Whether anything but CPU and memory differs. A list that is new is not looked at;
    device claims stand in the way of any resize.
    """
    new_resources, old_resources = (
        container.get("resources") or {},
        old.get("resources") or {},
    )
    kept: Object = {}
    for key in ("requests", "limits"):
        before = old_resources.get(key) or {}
        others = {
            name: amount
            for name, amount in (new_resources.get(key) or {}).items()
            if name not in _RESIZABLE
        }
        if before:
            kept[key] = others | {
                name: before[name] for name in _RESIZABLE if name in before
            }
    rest = {name: value for name, value in container.items() if name != "resources"}
    old_rest = {name: value for name, value in old.items() if name != "resources"}
    return rest != old_rest or kept != {
        key: value for key, value in old_resources.items() if value
    }


def _without_containers(spec: Object) -> Object:
    """All that is not a container; the pod's own CPU and memory may change as well."""
    resources = {
        key: {
            name: amount for name, amount in amounts.items() if name not in _RESIZABLE
        }
        for key, amounts in (spec.get("resources") or {}).items()
        if key in ("requests", "limits")
    }
    rest = {
        k: v
        for k, v in spec.items()
        if k not in ("containers", "initContainers", "resources") and v
    }
    return {**rest, "resources": resources}


RESIZE = UpdateStrategy(prepare_for_update, validate_update, Generation.SPEC, NOTHING)
