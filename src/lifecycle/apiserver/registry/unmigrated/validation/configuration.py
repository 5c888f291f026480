"""ConfigMaps, Secrets, ServiceAccounts.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateConfigMap`,
`ValidateSecret`, `ValidateServiceAccount`), v1.36.
"""

from __future__ import annotations

import base64

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    required,
    too_long,
)
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.unmigrated.validation.go_json import (
    json_object_complaint,
)

MAX_SIZE = 1024 * 1024
_FROZEN = "field is immutable when `immutable` is set"


def _decoded_size(text: str | None) -> int:
    if not text:  # a null in JSON is no bytes
        return 0
    return len(text) * 3 // 4 - text.count("=", -2)


def validate_config_map(config_map: Object) -> list[FieldError]:
    """Keys that can be file names, in one of the two bags; a megabyte at most."""
    errors = validate_core_object_meta(
        config_map.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    data, binary = config_map.get("data") or {}, config_map.get("binaryData") or {}
    size = 0
    for key, value in data.items():
        errors += [
            invalid(f"data[{key}]", key, why) for why in content.config_map_key(key)
        ]
        if key in binary:
            errors.append(
                invalid(f"data[{key}]", key, "duplicate of key present in binaryData")
            )
        size += len(value) if value.isascii() else len(value.encode())
    for key, value in binary.items():
        errors += [
            invalid(f"binaryData[{key}]", key, why)
            for why in content.config_map_key(key)
        ]
        size += _decoded_size(value)
    if size > MAX_SIZE:
        errors.append(too_long("", MAX_SIZE))
    return errors


def _validate_frozen(
    new: Object, old: Object, bags: tuple[str, ...]
) -> list[FieldError]:
    if not old.get("immutable"):
        return []
    errors = [] if new.get("immutable") else [forbidden("immutable", _FROZEN)]
    return errors + [
        forbidden(bag, _FROZEN)
        for bag in bags
        if (new.get(bag) or {}) != (old.get(bag) or {})
    ]


def validate_config_map_update(new: Object, old: Object) -> list[FieldError]:
    """An immutable ConfigMap stays as it is."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return (
        errors
        + _validate_frozen(new, old, ("data", "binaryData"))
        + validate_config_map(new)
    )


def validate_secret(secret: Object) -> list[FieldError]:
    """Keys, size, and what the type promises."""
    meta, data = secret.get("metadata") or {}, secret.get("data") or {}
    errors = validate_core_object_meta(meta, True, content.name_is_dns_subdomain)
    for key in data:
        errors += [
            invalid(f"data[{key}]", key, why) for why in content.config_map_key(key)
        ]
    if sum(map(_decoded_size, data.values())) > MAX_SIZE:
        errors.append(too_long("data", MAX_SIZE))
    type_ = secret.get("type", "")
    if type_ == "kubernetes.io/service-account-token":
        if not (meta.get("annotations") or {}).get(
            "kubernetes.io/service-account.name"
        ):
            errors.append(
                required("metadata.annotations[kubernetes.io/service-account.name]")
            )
    elif type_ in _DOCKER_KEYS:
        key = _DOCKER_KEYS[type_]
        if key not in data:
            errors.append(required(f"data[{key}]"))
        else:
            complaint = json_object_complaint(base64.b64decode(data[key] or ""))
            if complaint:
                errors.append(
                    invalid(f"data[{key}]", "<secret contents redacted>", complaint)
                )
    elif type_ == "kubernetes.io/basic-auth":
        if "username" not in data and "password" not in data:
            errors += [required("data[username]"), required("data[password]")]
    elif type_ == "kubernetes.io/ssh-auth":
        if not data.get("ssh-privatekey"):
            errors.append(required("data[ssh-privatekey]"))
    elif type_ == "kubernetes.io/tls":
        errors += [
            required(f"data[{key}]")
            for key in ("tls.crt", "tls.key")
            if key not in data
        ]
    return errors


_DOCKER_KEYS = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


def validate_secret_update(new: Object, old: Object) -> list[FieldError]:
    """The type never changes; an immutable Secret stays as it is."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("type", "") != old.get("type", ""):
        errors.append(invalid("type", new.get("type", ""), IMMUTABLE))
    return errors + _validate_frozen(new, old, ("data",)) + validate_secret(new)


def validate_service_account(account: Object) -> list[FieldError]:
    """Only its metadata."""
    return validate_core_object_meta(
        account.get("metadata") or {}, True, content.name_is_dns_subdomain
    )


def validate_service_account_update(new: Object, old: Object) -> list[FieldError]:
    """Only its metadata."""
    return validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate_service_account(new)
