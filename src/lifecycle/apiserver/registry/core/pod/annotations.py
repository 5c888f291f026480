"""Annotations that mean something on a pod: mirror pods, deletion cost, the old seccomp
and AppArmor profiles.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePodSpecificAnnotations`,
`validateSeccompAnnotationsAndFields`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, forbidden, invalid
from lifecycle.api.wire import Object

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_GROUPS = ("initContainers", "containers", "ephemeralContainers")


def validate_pod_annotations(
    annotations: Object | None, spec: Object, path: str
) -> list[FieldError]:
    """What the known annotations may say."""
    errors: list[FieldError] = []
    for key, value in (annotations or {}).items():
        if key == MIRROR and not spec.get("nodeName"):
            errors.append(
                invalid(
                    f"{path}[{MIRROR}]",
                    value,
                    "must set spec.nodeName if mirror pod annotation is set",
                )
            )
        elif key == DELETION_COST and not _is_int32(value):
            errors.append(
                invalid(f"{path}[{DELETION_COST}]", value, "must be a 32bit integer")
            )
        elif (
            key == SECCOMP_POD or key.startswith(SECCOMP_CONTAINER)
        ) and not _is_seccomp(value):
            errors.append(
                invalid(f"{path}.{key}", value, "must be a valid seccomp profile")
            )
        elif key.startswith(APP_ARMOR):
            name = key.removeprefix(APP_ARMOR)
            if not any(
                c.get("name") == name
                for group in _GROUPS
                for c in spec.get(group) or ()
            ):
                errors.append(invalid(f"{path}[{key}]", name, "container not found"))
            if value not in (
                "",
                "runtime/default",
                "unconfined",
            ) and not value.startswith("localhost/"):
                errors.append(
                    invalid(
                        f"{path}[{key}]",
                        value,
                        f'invalid AppArmor profile name: "{value}"',
                    )
                )
    return errors


def _is_int32(text: str) -> bool:
    digits = text.removeprefix("-")
    leading = len(text) > 1 and (text[0] in "0+" or text.startswith("-0"))
    return (
        digits.isascii()
        and digits.isdigit()
        and not leading
        and -(1 << 31) <= int(text) < 1 << 31
    )


def _is_seccomp(value: str) -> bool:
    return value in (
        "runtime/default",
        "docker/default",
        "unconfined",
    ) or value.startswith("localhost/")


_MEANING = {
    "unconfined": "Unconfined",
    "runtime/default": "RuntimeDefault",
    "docker/default": "RuntimeDefault",
}


def validate_profile_annotations(
    annotations: Object | None, spec: Object, path: str
) -> list[FieldError]:
    """An old annotation and a new field for the same thing must agree."""
    errors: list[FieldError] = []
    if not annotations:
        return errors
    holders = [
        (
            SECCOMP_POD,
            spec,
            f"{path}.securityContext.seccompProfile",
            "seccompProfile",
            "seccomp",
        )
    ]
    for group in _GROUPS:
        for index, container in enumerate(spec.get(group) or ()):
            here = f"{path}.{group}[{index}].securityContext"
            holders.append(
                (
                    SECCOMP_CONTAINER + container.get("name", ""),
                    container,
                    f"{here}.seccompProfile",
                    "seccompProfile",
                    "seccomp",
                )
            )
            holders.append(
                (
                    APP_ARMOR + container.get("name", ""),
                    container,
                    f"{here}.appArmorProfile",
                    "appArmorProfile",
                    "apparmor",
                )
            )
    for key, holder, here, field, what in holders:
        profile = (holder.get("securityContext") or {}).get(field)
        if profile is None or key not in annotations:
            continue
        value, type_ = annotations[key], profile.get("type")
        if type_ == "Localhost":
            if not value.startswith("localhost/"):
                errors.append(
                    forbidden(
                        f"{here}.type",
                        f"{what} type in annotation and field must match",
                    )
                )
            elif value.removeprefix("localhost/") != profile.get("localhostProfile"):
                errors.append(
                    forbidden(
                        f"{here}.localhostProfile",
                        f"{what} profile in annotation and field must match",
                    )
                )
        elif _MEANING.get(value) != type_:
            errors.append(
                forbidden(
                    f"{here}.type", f"{what} type in annotation and field must match"
                )
            )
    return errors


def validate_annotation_updates(new: Object, old: Object) -> list[FieldError]:
    """AppArmor profiles and what makes a mirror pod stay as they are."""
    errors: list[FieldError] = []
    after, before = (
        new["metadata"].get("annotations") or {},
        old["metadata"].get("annotations") or {},
    )
    for key, what in (
        (APP_ARMOR, "AppArmor annotations"),
        (MIRROR, "mirror pod annotation"),
    ):
        for name in [
            name
            for name in {**before, **after}
            if name.startswith(key) and before.get(name) != after.get(name)
        ]:
            verb = "remove or update" if name in before else "add"
            errors.append(
                forbidden(f"metadata.annotations[{name}]", f"may not {verb} {what}")
            )
    return errors
