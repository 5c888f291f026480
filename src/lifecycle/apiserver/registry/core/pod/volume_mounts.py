"""Volume mounts and devices of containers.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateVolumeMounts`,
`ValidateVolumeDevices`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.pod.file_paths import (
    validate_local_descending_path,
    validate_no_backsteps,
)

_PROPAGATION = ("Bidirectional", "HostToContainer", "None")
_RECURSIVE = ("Disabled", "Enabled", "IfPossible")


def validate_volume_mounts(
    container: Object, volumes: dict[str, Object], path: str
) -> list[FieldError]:
    """Each mount names a volume of the pod and a place of its own."""
    errors: list[FieldError] = []
    devices = {
        device.get("name", ""): device.get("devicePath", "")
        for device in container.get("volumeDevices") or ()
    }
    places: set[str] = set()
    for index, mount in enumerate(container["volumeMounts"]):
        here, name, place = (
            f"{path}[{index}]",
            mount.get("name", ""),
            mount.get("mountPath", ""),
        )
        if not name:
            errors.append(required(f"{here}.name"))
        if name not in volumes:
            errors.append(not_found(f"{here}.name", name))
        if not place:
            errors.append(required(f"{here}.mountPath"))
        if place in places:
            errors.append(invalid(f"{here}.mountPath", place, "must be unique"))
        places.add(place)
        if name in devices:
            errors.append(
                invalid(f"{here}.name", name, "must not already exist in volumeDevices")
            )
        if place in devices.values():
            errors.append(
                invalid(
                    f"{here}.mountPath",
                    place,
                    "must not already exist as a path in volumeDevices",
                )
            )
        sub, expression = mount.get("subPath", ""), mount.get("subPathExpr", "")
        if sub:
            errors += validate_local_descending_path(sub, f"{path}.subPath")
        if expression:
            if sub:
                errors.append(
                    invalid(
                        f"{here}.subPathExpr",
                        expression,
                        "subPathExpr and subPath are mutually exclusive",
                    )
                )
            errors += validate_local_descending_path(expression, f"{path}.subPathExpr")
        errors += _validate_modes(mount, container, path)
    return errors


def _validate_modes(mount: Object, container: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    propagation = mount.get("mountPropagation")
    if propagation is not None:
        if propagation not in _PROPAGATION:
            errors.append(
                not_supported(f"{path}.mountPropagation", propagation, _PROPAGATION)
            )
        if propagation == "Bidirectional" and not (
            container.get("securityContext") or {}
        ).get("privileged"):
            why = (
                "Bidirectional mount propagation is available only to privileged"
                " containers"
            )
            errors.append(forbidden(f"{path}.mountPropagation", why))
    recursive = mount.get("recursiveReadOnly")
    if recursive is not None and recursive != "Disabled":
        here = f"{path}.recursiveReadOnly"
        if recursive not in _RECURSIVE:
            errors.append(not_supported(here, recursive, _RECURSIVE))
        else:
            if not mount.get("readOnly"):
                errors.append(
                    forbidden(here, "may only be specified when readOnly is true")
                )
            if propagation not in (None, "None"):
                errors.append(
                    forbidden(
                        here,
                        "may only be specified when mountPropagation is None or not"
                        " specified",
                    )
                )
    return errors


def validate_volume_devices(
    container: Object, volumes: dict[str, Object], path: str
) -> list[FieldError]:
    """Raw block devices come from claims only."""
    errors: list[FieldError] = []
    mounts = {
        mount.get("name", ""): mount.get("mountPath", "")
        for mount in container.get("volumeMounts") or ()
    }
    names: set[str] = set()
    paths: set[str] = set()
    for index, device in enumerate(container["volumeDevices"]):
        here, name, place = (
            f"{path}[{index}]",
            device.get("name", ""),
            device.get("devicePath", ""),
        )
        volume = volumes.get(name)
        if not name:
            errors.append(required(f"{here}.name"))
        if name in names:
            errors.append(invalid(f"{here}.name", name, "must be unique"))
        if (
            volume is not None
            and volume.get("persistentVolumeClaim") is None
            and volume.get("ephemeral") is None
        ):
            why = (
                "can only use volume source type of PersistentVolumeClaim or Ephemeral"
                " for block mode"
            )
            errors.append(invalid(f"{here}.name", name, why))
        if volume is None:
            errors.append(not_found(f"{here}.name", name))
        if not place:
            errors.append(required(f"{here}.devicePath"))
        if place in paths:
            errors.append(invalid(f"{here}.devicePath", place, "must be unique"))
        if place and validate_no_backsteps(place, ""):
            errors.append(
                invalid(f"{here}.devicePath", place, "can not contain backsteps ('..')")
            )
        else:
            paths.add(place)
        if name in mounts:
            errors.append(
                invalid(f"{here}.name", name, "must not already exist in volumeMounts")
            )
        if place in mounts.values():
            errors.append(
                invalid(
                    f"{here}.devicePath",
                    place,
                    "must not already exist as a path in volumeMounts",
                )
            )
        if name:
            names.add(name)
    return errors
