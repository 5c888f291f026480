"""A pod may be resized in place: CPU and memory of its containers and sidecars, without
a change of its quality of service.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePodResize`,
`validatePodResizeContainerOrdering`, `validateContainerResize`,
`dropCPUMemoryResourcesFromContainer`, `isPodResizeRequestSupported`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, invalid
from lifecycle.api.qos import compute_pod_qos, get_pod_qos
from lifecycle.api.wire import Object

_RESIZABLE = ("cpu", "memory")
_MIRROR = "kubernetes.io/config.mirror"


def validate_resize(
    new: Object, old: Object, known: list[FieldError]
) -> list[FieldError]:
    """What is wrong with a resize; `known` is what would be wrong with the new pod
    anyway.
    """
    if _MIRROR in (old["metadata"].get("annotations") or {}):
        return [forbidden("[]", "static pods cannot be resized")]
    spec, before = new["spec"], old["spec"]
    if (before.get("os") or {}).get("name") == "windows":
        return [forbidden("[]", "windows pods cannot be resized")]
    errors = list(known)
    quality = get_pod_qos(old)
    if quality != compute_pod_qos(new):
        shown = (new.get("status") or {}).get("qosClass") or ""
        errors.append(
            invalid(
                "spec", shown, "Pod QOS Class may not change as a result of resizing"
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


def _is_sidecar(container: Object) -> bool:
    return container.get("restartPolicy") == "Always"


def _validate_nothing_removed(spec: Object, before: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for group in ("initContainers", "containers"):
        for index, (container, old) in enumerate(
            zip(spec.get(group) or (), before.get(group) or ())
        ):
            if group == "initContainers" and not _is_sidecar(old):
                continue
            for key in ("requests", "limits"):
                given = (container.get("resources") or {}).get(key) or {}
                if (
                    not ((old.get("resources") or {}).get(key) or {}).keys()
                    <= given.keys()
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
    for container, old in zip(
        spec.get("initContainers") or (), before.get("initContainers") or ()
    ):
        if not _is_sidecar(container):
            if container != old:
                errors.append(
                    forbidden(
                        "spec",
                        "resources for non-sidecar init containers are immutable",
                    )
                )
        elif _changes_more(container, old):
            errors.append(
                forbidden(
                    "spec",
                    "only cpu and memory resources for sidecar containers are mutable",
                )
            )
    return errors


def _changes_more(container: Object, old: Object) -> bool:
    """Whether anything but CPU and memory differs. A list that is new is not looked at;
    device claims stand in the way of any resize.
    """
    given, known = container.get("resources") or {}, old.get("resources") or {}
    kept: Object = {}
    for key in ("requests", "limits"):
        before = known.get(key) or {}
        others = {
            name: amount
            for name, amount in (given.get(key) or {}).items()
            if name not in _RESIZABLE
        }
        if before:
            kept[key] = others | {
                name: before[name] for name in _RESIZABLE if name in before
            }
    rest = {name: value for name, value in container.items() if name != "resources"}
    old_rest = {name: value for name, value in old.items() if name != "resources"}
    return rest != old_rest or kept != {
        key: value for key, value in known.items() if value
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
