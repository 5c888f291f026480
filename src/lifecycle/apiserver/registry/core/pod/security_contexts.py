"""Security contexts of containers and pods, and the profiles in them.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateSecurityContext`,
`validatePodSpecSecurityContext`, `validateSeccompProfileField`,
`ValidateAppArmorProfileField`, `validateSysctls`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.file_paths import (
    validate_local_descending_path,
)
from lifecycle.apiserver.registry.core.pod.operating_systems import (
    containers_with_path,
)
from lifecycle.apiserver.registry.core.pod.windows_options import (
    validate_windows_options,
)
from lifecycle.apiserver.registry.rest.enum import validate_enum

_PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
_SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_SYSCTL = rf"({_SYSCTL_SEGMENT}[\./])*{_SYSCTL_SEGMENT}"
_sysctl = re.compile(_SYSCTL)
_IPC_SYSCTLS = {
    f"kernel.{name}"
    for name in (
        "msg",
        "msgmax",
        "msgmnb",
        "msgmni",
        "sem",
        "shm",
        "shm_rmid_forced",
        "shmall",
        "shmmax",
        "shmmni",
    )
}
"""What the kernel keeps for each IPC namespace, as the API server knows it."""


def validate_security_context(
    context: Object | None, host_users: bool, path: str
) -> list[FieldError]:
    """A container's security context."""
    if not context:
        return []
    errors = _validate_ids(context, ("runAsUser", "runAsGroup"), path)
    proc_mount = context.get("procMount")
    if proc_mount is not None:
        if proc_mount not in ("Default", "Unmasked"):
            errors.append(
                not_supported(f"{path}.procMount", proc_mount, ("Default", "Unmasked"))
            )
        if host_users and proc_mount == "Unmasked":
            errors.append(
                invalid(
                    f"{path}.procMount",
                    proc_mount,
                    "`hostUsers` must be false to use `Unmasked`",
                )
            )
    errors += validate_seccomp_profile(
        context.get("seccompProfile"), f"{path}.seccompProfile"
    )
    if context.get("allowPrivilegeEscalation") is False:
        value = None
        if context.get("privileged"):
            value = internal_value("core/v1.SecurityContext", context)
            errors.append(
                invalid(
                    path,
                    value,
                    "cannot set `allowPrivilegeEscalation` to false and `privileged` to"
                    " true",
                )
            )
        for capability in (context.get("capabilities") or {}).get("add") or ():
            if capability == "CAP_SYS_ADMIN":
                value = value or internal_value("core/v1.SecurityContext", context)
                why = (
                    "cannot set `allowPrivilegeEscalation` to false and"
                    " `capabilities.Add` CAP_SYS_ADMIN"
                )
                errors.append(invalid(path, value, why))
    errors += validate_windows_options(
        context.get("windowsOptions"), f"{path}.windowsOptions"
    )
    return errors + validate_app_armor_profile(
        context.get("appArmorProfile"), f"{path}.appArmorProfile"
    )


def validate_pod_security_context(spec: Object, path: str) -> list[FieldError]:
    """A pod's security context. `path` is that of the spec."""
    context = spec.get("securityContext")
    here = f"{path}.securityContext"
    if context is None:
        return []
    errors = _validate_ids(context, ("fsGroup", "runAsUser", "runAsGroup"), here)
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        errors += [
            invalid(f"{here}.supplementalGroups[{index}]", group, why)
            for why in content.user_id(group)
        ]
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        errors.append(
            invalid(
                f"{here}.shareProcessNamespace",
                True,
                "ShareProcessNamespace and HostPID cannot both be enabled",
            )
        )
    if context.get("sysctls"):
        errors += _validate_sysctls(context["sysctls"], spec, f"{here}.sysctls")
    change = context.get("fsGroupChangePolicy")
    errors += validate_enum(
        f"{here}.fsGroupChangePolicy", change, ("Always", "OnRootMismatch")
    )
    errors += validate_seccomp_profile(
        context.get("seccompProfile"), f"{here}.seccompProfile"
    )
    errors += validate_windows_options(
        context.get("windowsOptions"), f"{here}.windowsOptions"
    )
    errors += validate_app_armor_profile(
        context.get("appArmorProfile"), f"{here}.appArmorProfile"
    )
    groups = context.get("supplementalGroupsPolicy")
    errors += validate_enum(
        f"{here}.supplementalGroupsPolicy", groups, ("Merge", "Strict")
    )
    relabel = context.get("seLinuxChangePolicy")
    errors += validate_enum(f"{here}.seLinuxChangePolicy", relabel, ("Recursive",))
    return errors


def _validate_ids(
    context: Object, fields: tuple[str, ...], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in fields:
        number = context.get(field)
        if number is not None:
            errors += [
                invalid(f"{path}.{field}", number, why)
                for why in content.user_id(number)
            ]
    return errors


def validate_seccomp_profile(profile: Object | None, path: str) -> list[FieldError]:
    """A seccomp profile, wherever it stands."""
    if profile is None:
        return []
    errors: list[FieldError] = []
    type_, local = profile.get("type", ""), profile.get("localhostProfile")
    if not type_:
        errors.append(
            required(f"{path}.type", "type is required when seccompProfile is set")
        )
    elif type_ not in _PROFILES:
        errors.append(not_supported(f"{path}.type", type_, _PROFILES))
    if type_ == "Localhost":
        if local is None:
            errors.append(
                required(
                    f"{path}.localhostProfile",
                    "must be set when seccomp type is Localhost",
                )
            )
        else:
            errors += validate_local_descending_path(local, f"{path}.localhostProfile")
    elif local is not None:
        value = internal_value("core/v1.SeccompProfile", profile)
        errors.append(
            invalid(
                f"{path}.localhostProfile",
                value,
                "can only be set when seccomp type is Localhost",
            )
        )
    return errors


def validate_app_armor_profile(profile: Object | None, path: str) -> list[FieldError]:
    """An AppArmor profile, wherever it stands."""
    if profile is None:
        return []
    type_, local = profile.get("type", ""), profile.get("localhostProfile")
    here = f"{path}.localhostProfile"
    if not type_:
        return [
            required(f"{path}.type", "type is required when appArmorProfile is set")
        ]
    if type_ not in _PROFILES:
        return [not_supported(f"{path}.type", type_, _PROFILES)]
    if type_ != "Localhost":
        return (
            []
            if local is None
            else [
                invalid(here, local, "can only be set when AppArmor type is Localhost")
            ]
        )
    if local is None:
        return [required(here, "must be set when AppArmor type is Localhost")]
    errors = []
    if local.strip() != local:
        errors.append(invalid(here, local, "must not be padded with whitespace"))
    elif not local:
        errors.append(required(here, "must be set when AppArmor type is Localhost"))
    if len(local) > 4095:
        errors.append(too_long(here, 4095))
    return errors


def _validate_sysctls(
    sysctls: list[Object], spec: Object, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        here, name = f"{path}[{index}].name", sysctl.get("name", "")
        if not name:
            errors.append(required(here))
        elif len(name) > 253 or not _sysctl.fullmatch(name):
            errors.append(
                invalid(
                    here,
                    name,
                    f"must have at most 253 characters and match regex ^{_SYSCTL}$",
                )
            )
        elif name in seen:
            errors.append(duplicate(here, name))
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith("net."):
            errors.append(
                invalid(here, name, "may not be specified when 'hostNetwork' is true")
            )
        elif spec.get("hostIPC") and (
            dotted in _IPC_SYSCTLS or dotted.startswith("fs.mqueue.")
        ):
            errors.append(
                invalid(here, name, "may not be specified when 'hostIPC' is true")
            )
        seen.add(name)
    return errors


def validate_host_users(spec: Object, path: str) -> list[FieldError]:
    """A pod with a user namespace of its own cannot share the host's other namespaces,
    nor use raw devices.
    """
    if spec.get("hostUsers") is not False:
        return []
    why = "when `hostUsers` is false"
    fields = (
        ("hostNetwork", "hostNetwork"),
        ("hostPID", "HostPID"),
        ("hostIPC", "HostIPC"),
    )
    errors = [
        forbidden(f"{path}.{field}", why) for key, field in fields if spec.get(key)
    ]
    for container, place in containers_with_path(spec, path):
        if container.get("volumeDevices"):
            errors.append(forbidden(f"{place}.volumeDevices", why))
    return errors
