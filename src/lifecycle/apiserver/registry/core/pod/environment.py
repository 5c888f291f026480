"""Environment variables and where their values come from.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateEnv`, `ValidateEnvFrom`,
`validateObjectFieldSelector`, `validateContainerResourceFieldSelector`),
`pkg/apis/core/pods/helpers.go` (`ConvertDownwardAPIFieldLabel`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.file_paths import (
    validate_no_backsteps,
)

ENV_FIELDS = (
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
)
VOLUME_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_POD_FIELDS = {
    *ENV_FIELDS,
    *VOLUME_FIELDS,
    "spec.restartPolicy",
    "spec.schedulerName",
    "status.phase",
}
_RESOURCE_FIELDS = (
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
)
_SIZES = (
    "1",
    "1k",
    "1M",
    "1G",
    "1T",
    "1P",
    "1E",
    "1Ki",
    "1Mi",
    "1Gi",
    "1Ti",
    "1Pi",
    "1Ei",
)
_SOURCES = (
    "fieldRef",
    "resourceFieldRef",
    "configMapKeyRef",
    "secretKeyRef",
    "fileKeyRef",
)
_SUBSCRIPT = re.compile(r"(.*?)\['(.*)'\]")


def validate_env(variables: list[Object], path: str) -> list[FieldError]:
    """Names, and exactly one source of the value."""
    errors: list[FieldError] = []
    for index, variable in enumerate(variables):
        name = variable.get("name", "")
        if not name:
            errors.append(required(f"{path}[{index}].name"))
        else:
            errors += [
                invalid(f"{path}[{index}].name", name, why)
                for why in content.relaxed_env_name(name)
            ]
        if variable.get("valueFrom") is not None:
            errors += _validate_value_from(variable, f"{path}[{index}].valueFrom")
    return errors


def _validate_value_from(variable: Object, path: str) -> list[FieldError]:
    source = variable["valueFrom"]
    errors: list[FieldError] = []
    specified = [name for name in _SOURCES if source.get(name) is not None]
    if "fieldRef" in specified:
        errors += validate_object_field_selector(
            source["fieldRef"], ENV_FIELDS, f"{path}.fieldRef"
        )
    if "resourceFieldRef" in specified:
        errors += validate_resource_field_selector(
            source["resourceFieldRef"], f"{path}.resourceFieldRef", in_volume=False
        )
    for name in ("configMapKeyRef", "secretKeyRef"):
        if name in specified:
            errors += _validate_key_selector(source[name], f"{path}.{name}")
    if "fileKeyRef" in specified:
        errors += _validate_file_key_selector(
            source["fileKeyRef"], f"{path}.fileKeyRef"
        )
    if not specified:
        why = (
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`,"
            " `secretKeyRef` or `fileKeyRef`"
        )
        errors.append(invalid(path, "", why))
    elif variable.get("value"):
        errors.append(
            invalid(path, "", "may not be specified when `value` is not empty")
        )
    elif len(specified) > 1:
        errors.append(
            invalid(path, "", "may not have more than one field specified at a time")
        )
    return errors


def _validate_key_selector(selector: Object, path: str) -> list[FieldError]:
    name, key = selector.get("name", ""), selector.get("key", "")
    errors = [
        invalid(f"{path}.name", name, why) for why in content.dns1123_subdomain(name)
    ]
    if not key:
        errors.append(required(f"{path}.key"))
    else:
        errors += [
            invalid(f"{path}.key", key, why) for why in content.config_map_key(key)
        ]
    return errors


def _validate_file_key_selector(selector: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    key, volume, file = (
        selector.get("key", ""),
        selector.get("volumeName", ""),
        selector.get("path", ""),
    )
    if not key:
        errors.append(required(f"{path}.key"))
    else:
        errors += [
            invalid(f"{path}.key", key, why) for why in content.relaxed_env_name(key)
        ]
    if not volume:
        errors.append(required(f"{path}.volumeName"))
    else:
        errors += [
            invalid(f"{path}.volumeName", volume, why)
            for why in content.dns1123_label(volume)
        ]
    if not file:
        errors.append(required(f"{path}.path"))
    return errors + validate_no_backsteps(file, f"{path}.path")


def validate_object_field_selector(
    selector: Object, supported: tuple[str, ...], path: str
) -> list[FieldError]:
    """A pod's own field, by path."""
    version, field = selector.get("apiVersion", ""), selector.get("fieldPath", "")
    if not version:
        return [required(f"{path}.apiVersion")]
    if not field:
        return [required(f"{path}.fieldPath")]
    subscripted = _SUBSCRIPT.fullmatch(field)
    complaint = ""
    if version != "v1":
        complaint = f"unsupported pod version: {version}"
    elif subscripted:
        if subscripted[1] not in ("metadata.annotations", "metadata.labels"):
            complaint = f"field label does not support subscript: {field}"
    elif field == "spec.host":
        field = "spec.nodeName"
    elif field not in _POD_FIELDS:
        complaint = f"field label not supported: {field}"
    if complaint:
        return [
            invalid(
                f"{path}.fieldPath",
                selector["fieldPath"],
                f"error converting fieldPath: {complaint}",
            )
        ]
    if subscripted:
        key = (
            subscripted[2].lower()
            if subscripted[1] == "metadata.annotations"
            else subscripted[2]
        )
        return [invalid(path, key, why) for why in content.qualified_name(key)]
    return (
        []
        if field in supported
        else [not_supported(f"{path}.fieldPath", field, sorted(supported), plain=True)]
    )


def validate_resource_field_selector(
    selector: Object, path: str, *, in_volume: bool
) -> list[FieldError]:
    """A container's own request or limit, and the unit to print it in."""
    errors: list[FieldError] = []
    resource = selector.get("resource", "")
    if in_volume and not selector.get("containerName"):
        errors.append(required(f"{path}.containerName"))
    elif not resource:
        errors.append(required(f"{path}.resource"))
    elif resource not in _RESOURCE_FIELDS and not resource.startswith(
        ("requests.hugepages-", "limits.hugepages-")
    ):
        errors.append(
            not_supported(f"{path}.resource", resource, _RESOURCE_FIELDS, plain=True)
        )
    divisor = selector.get("divisor") or "0"
    if parse_quantity(divisor) == parse_quantity("0"):
        return errors
    sizes = "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
    kind = resource.partition(".")[2]
    if kind == "cpu" and divisor not in ("1m", "1"):
        errors.append(
            invalid(
                f"{path}.divisor",
                resource,
                "only divisor's values 1m and 1 are supported with the cpu resource",
            )
        )
    elif kind in ("memory", "ephemeral-storage") and divisor not in _SIZES:
        what = "memory" if kind == "memory" else "local ephemeral storage"
        errors.append(
            invalid(
                f"{path}.divisor",
                resource,
                f"only divisor's values {sizes} are supported with the {what} resource",
            )
        )
    elif kind.startswith("hugepages-") and divisor not in _SIZES:
        errors.append(
            invalid(
                f"{path}.divisor",
                resource,
                f"only divisor's values {sizes} are supported with the hugepages"
                " resource",
            )
        )
    return errors


def validate_env_from(sources: list[Object], path: str) -> list[FieldError]:
    """Whole ConfigMaps and Secrets as variables."""
    errors: list[FieldError] = []
    for index, source in enumerate(sources):
        prefix = source.get("prefix", "")
        if prefix:
            errors += [
                invalid(f"{path}[{index}].prefix", prefix, why)
                for why in content.relaxed_env_name(prefix)
            ]
        specified = [
            name
            for name in ("configMapRef", "secretRef")
            if source.get(name) is not None
        ]
        for name in specified:
            referred = source[name].get("name", "")
            here = f"{path}[{index}].{name}.name"
            if not referred:
                errors.append(required(here))
            else:
                errors += [
                    invalid(here, referred, why)
                    for why in content.name_is_dns_subdomain(referred, True)
                ]
        if not specified:
            errors.append(
                invalid(path, "", "must specify one of: `configMapRef` or `secretRef`")
            )
        elif len(specified) > 1:
            errors.append(
                invalid(
                    path, "", "may not have more than one field specified at a time"
                )
            )
    return errors
