"""Secrets: what is not for everybody's eyes, with a type that promises certain keys.

Upstream: `pkg/apis/core/v1/{defaults,conversion}.go`,
`pkg/registry/core/secret/strategy.go`, `pkg/apis/core/validation/validation.go`
(`ValidateSecret` …), `pkg/printers/internalversion/printers.go` (`printSecret`), v1.36.
"""

from __future__ import annotations

import base64

from lifecycle.api.field_errors import FieldError, Named, invalid, required, too_long
from lifecycle.api.go.json.decode import unmarshal_object
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.key_value_data import (
    MAX_SIZE,
    decoded_size,
    validate_immutable,
)
from lifecycle.apiserver.registry.core.secret.key_pairs import key_pair_error
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(secret: Object) -> None:
    """A Secret without a type is `Opaque`; `stringData` is write-only and becomes
    `data` (upstream: in conversion).
    """
    if not secret.get("type"):
        secret["type"] = "Opaque"
    plain = secret.pop("stringData", None)
    if plain:
        encoded = {
            key: base64.b64encode(value.encode()).decode()
            for key, value in plain.items()
        }
        secret["data"] = {**(secret.get("data") or {}), **encoded}


# --- strategy -------------------------------------------------------------------------


def prepare_for_update(new: Object, old: Object) -> None:
    """A write that does not name the type keeps it."""
    if not new.get("type"):
        update.take_over(new, old, "type")


# --- validation -----------------------------------------------------------------------


_DOCKER_KEYS = {
    "kubernetes.io/dockercfg": ".dockercfg",
    "kubernetes.io/dockerconfigjson": ".dockerconfigjson",
}


def validate(secret: Object) -> list[FieldError]:
    """Keys, size, and what the type promises."""
    meta, data = secret.get("metadata") or {}, secret.get("data") or {}
    errors = validate_core_object_meta(meta, True, content.name_is_dns_subdomain)
    for key in data:
        errors += [
            invalid(f"data[{key}]", key, why) for why in content.config_map_key(key)
        ]
    if sum(map(decoded_size, data.values())) > MAX_SIZE:
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
            try:
                unmarshal_object(base64.b64decode(data[key] or ""))
            except ValueError as error:
                errors.append(
                    invalid(f"data[{key}]", "<secret contents redacted>", str(error))
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


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The type never changes; an immutable Secret stays as it is."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("type", "") != old.get("type", ""):
        errors.append(invalid("type", Named(new.get("type", "")), IMMUTABLE))
    return errors + validate_immutable(new, old, ("data",)) + validate(new)


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(secret: Object) -> list[str]:
    """Of a TLS key that does not fit its certificate."""
    if secret.get("type") != "kubernetes.io/tls":
        return []
    data = secret.get("data") or {}
    complaint = key_pair_error(data.get("tls.crt") or "", data.get("tls.key") or "")
    return [complaint] if complaint else []


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- field labels, table --------------------------------------------------------------


def _selectable_fields(secret: Object) -> dict[str, str]:
    return {"type": secret.get("type", "")}


FIELD_LABELS = FieldLabels(
    ("metadata.name", "metadata.namespace", "type"),
    _selectable_fields,
    field_label_not_supported,
)


def print_secret(secret: Object, now: float) -> Cells:
    """The cells of `kubectl get secrets`."""
    return [
        secret["metadata"]["name"],
        secret.get("type", ""),
        len(secret.get("data") or ()),
        age(secret, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Type", field("core/v1.Secret", "type")),
        Column("Data", field("core/v1.Secret", "data")),
        AGE,
    ),
    print_secret,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
