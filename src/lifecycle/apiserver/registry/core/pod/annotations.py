"""Annotations that mean something on a pod: mirror pods, deletion cost, the old seccomp
and AppArmor profiles.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePodSpecificAnnotations`,
`validateSeccompAnnotationsAndFields`), v1.36.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api.field_errors import FieldError, forbidden, invalid
from lifecycle.api.go.format import go_quote
from lifecycle.api.go.json.decode import unmarshal, wrong_type
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.pod.file_paths import (
    validate_local_descending_path,
)
from lifecycle.apiserver.registry.core.pod.placement import validate_tolerations

MIRROR = "kubernetes.io/config.mirror"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
_TOLERATION_FIELDS = {
    "key": ("Key", "string"),
    "operator": ("Operator", "core.TolerationOperator"),
    "value": ("Value", "string"),
    "effect": ("Effect", "core.TaintEffect"),
    "tolerationseconds": ("TolerationSeconds", "int64"),
}
_LOCALHOST = "localhost/"
CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
_INTEGER = re.compile("0|-[0-9]+|[1-9][0-9]*")


def validate_pod_annotations(
    annotations: Object | None, spec: Object, path: str
) -> list[FieldError]:
    """What the known annotations may say."""
    if not annotations:
        return []
    errors: list[FieldError] = []
    if MIRROR in annotations and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(invalid(f"{path}[{MIRROR}]", annotations[MIRROR], why))
    if annotations.get(TOLERATIONS):
        errors += _validate_tolerations(annotations[TOLERATIONS], path)
    cost = annotations.get(DELETION_COST, "0")
    if not _is_int32(cost):
        errors.append(
            invalid(f"{path}[{DELETION_COST}]", cost, "must be a 32bit integer")
        )
    if SECCOMP_POD in annotations:
        errors += _validate_seccomp(annotations[SECCOMP_POD], f"{path}.{SECCOMP_POD}")
    for key, value in annotations.items():
        if key.startswith(SECCOMP_CONTAINER):
            errors += _validate_seccomp(value, f"{path}.{key}")
    for key, value in annotations.items():
        if key.startswith(APP_ARMOR):
            errors += _validate_app_armor(key, value, spec, path)
    return errors


def _validate_tolerations(text: str, path: str) -> list[FieldError]:
    """Those of a pod from before v1.6, a JSON list."""
    try:
        tolerations = _tolerations(unmarshal(text))
    except ValueError as error:
        return [invalid(path, TOLERATIONS, str(error))]
    return validate_tolerations(tolerations, f"{path}.{TOLERATIONS}")


def _tolerations(value: Any) -> list[Object]:
    """What a Go decoder makes of them, which takes names in any case. Raises
    ValueError.
    """
    if value is not None and not isinstance(value, list):
        raise ValueError(wrong_type(value, "[]core.Toleration"))
    tolerations = []
    for sent in value or ():
        if sent is not None and not isinstance(sent, dict):
            raise ValueError(wrong_type(sent, "core.Toleration"))
        toleration: Object = {}
        for name, said in (sent or {}).items():
            field = _TOLERATION_FIELDS.get(name.lower())
            if field is not None and said is not None:
                wanted = int if field[1] == "int64" else str
                if type(said) is not wanted:
                    raise ValueError(
                        wrong_type(said, field[1], f"Toleration.{field[0]}")
                    )
                toleration[field[0][0].lower() + field[0][1:]] = said
        tolerations.append(toleration)
    return tolerations


def _is_int32(text: str) -> bool:
    """As Go reads one, but for a plus and for zeros in front."""
    return bool(_INTEGER.fullmatch(text)) and -(1 << 31) <= int(text) < 1 << 31


def _validate_seccomp(value: str, path: str) -> list[FieldError]:
    if value in ("runtime/default", "docker/default", "unconfined"):
        return []
    if value.startswith(_LOCALHOST):
        return validate_local_descending_path(value.removeprefix(_LOCALHOST), path)
    return [invalid(path, value, "must be a valid seccomp profile")]


def _validate_app_armor(
    key: str, value: str, spec: Object, path: str
) -> list[FieldError]:
    here, name = f"{path}[{key}]", key.removeprefix(APP_ARMOR)
    errors: list[FieldError] = []
    names = {c.get("name") for group in CONTAINERS for c in spec.get(group) or ()}
    if name not in names:
        errors.append(invalid(here, name, "container not found"))
    known = value in ("", "runtime/default", "unconfined")
    if not known and not value.startswith(_LOCALHOST):
        why = f"invalid AppArmor profile name: {go_quote(value)}"
        errors.append(invalid(here, value, why))
    return errors


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
    for group in CONTAINERS:
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
    return errors + validate_pod_annotations(
        after, new.get("spec") or {}, "metadata.annotations"
    )
