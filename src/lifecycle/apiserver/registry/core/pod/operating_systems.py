"""What a pod says of its operating system, and what does not go with it.

Upstream: `pkg/apis/core/validation/validation.go` (`validateOS`, `validateLinux`,
`validateWindows`, `validateWindowsHostProcessPod`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterator

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object

_NOT_ON_WINDOWS = "cannot be set for a windows pod"
_NOT_ON_LINUX = "windows options cannot be set for a linux pod"
_CONTEXT, _SPEC = "securityContext.", ""
_POD_FIELDS = (  # where it stands, its name; flags count only if true
    (_CONTEXT, "appArmorProfile"),
    (_CONTEXT, "seLinuxOptions"),
    (_SPEC, "hostUsers"),
    (_SPEC, "hostPID"),
    (_SPEC, "hostIPC"),
    (_CONTEXT, "seccompProfile"),
    (_CONTEXT, "fsGroup"),
    (_CONTEXT, "fsGroupChangePolicy"),
    (_CONTEXT, "sysctls"),
    (_SPEC, "shareProcessNamespace"),
    (_CONTEXT, "runAsUser"),
    (_CONTEXT, "runAsGroup"),
    (_CONTEXT, "supplementalGroups"),
    (_CONTEXT, "supplementalGroupsPolicy"),
    (_CONTEXT, "seLinuxChangePolicy"),
)
_PLAIN = ("hostPID", "hostIPC", "sysctls")
"""Not pointers: unset and empty are the same."""

_CONTAINER_FIELDS = (
    "appArmorProfile",
    "seLinuxOptions",
    "seccompProfile",
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
    "runAsUser",
    "runAsGroup",
)


def containers_with_path(spec: Object, path: str) -> Iterator[tuple[Object, str]]:
    """All containers of a spec, init containers first. Upstream:
    `pkg/apis/core/pods/helpers.go` (`VisitContainersWithPath`).
    """
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            yield container, f"{path}.{group}[{index}]"


def validate_os(spec: Object, path: str) -> list[FieldError]:
    """The name of the system, and only fields that mean something there."""
    if spec.get("os") is None:
        return []
    name = spec["os"].get("name", "")
    if not name:
        return [required(f"{path}.os.name")]
    if name not in ("linux", "windows"):
        return [not_supported(f"{path}.os", name, ("linux", "windows"))]
    return (
        _validate_linux(spec, path)
        if name == "linux"
        else _validate_windows(spec, path)
    )


def _validate_linux(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for holder, place in ((spec, path), *containers_with_path(spec, path)):
        if (holder.get("securityContext") or {}).get("windowsOptions") is not None:
            errors.append(
                forbidden(f"{place}.securityContext.windowsOptions", _NOT_ON_LINUX)
            )
    return errors


def _validate_windows(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    context = spec.get("securityContext") or {}
    for where, field in _POD_FIELDS:
        value = (spec if where == _SPEC else context).get(field)
        if value if field in _PLAIN else value is not None:
            errors.append(forbidden(f"{path}.{where}{field}", _NOT_ON_WINDOWS))
    for container, place in containers_with_path(spec, path):
        own = container.get("securityContext") or {}
        for field in _CONTAINER_FIELDS:
            if own.get(field) is not None:
                errors.append(
                    forbidden(f"{place}.securityContext.{field}", _NOT_ON_WINDOWS)
                )
    return errors


def _host_process(holder: Object) -> bool | None:
    return ((holder.get("securityContext") or {}).get("windowsOptions") or {}).get(
        "hostProcess"
    )


def validate_host_process(spec: Object, path: str) -> list[FieldError]:
    """Windows containers that are processes of the host: all of a pod or none, and in
    the host's network.
    """
    errors: list[FieldError] = []
    of_pod = _host_process(spec)
    count = total = 0
    for container, place in containers_with_path(spec, path):
        total += 1
        own = _host_process(container)
        if of_pod is not None and own is not None and of_pod != own:
            why = (
                "pod hostProcess value must be identical if both are specified, was"
                f" {str(of_pod).lower()}"
            )
            errors.append(
                invalid(f"{place}.securityContext.windowsOptions.hostProcess", own, why)
            )
        count += bool(of_pod if own is None else own)
    if count and count != total:
        why = (
            "If pod contains any hostProcess containers then all containers must be"
            " HostProcess containers"
        )
        errors.append(invalid(path, "", why))
    if count and not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(invalid(f"{path}.hostNetwork", False, why))
    return errors
