"""API services: who serves a group and version.

Upstream: `kube-aggregator/pkg/apis/apiregistration/validation/validation.go`, v1.36.
"""

from __future__ import annotations

import base64

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.go_format import go_quote
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)


def validate_api_service(service: Object) -> list[FieldError]:
    """Its name is `version.group`; it is local, or a Service in the cluster."""
    spec = service.get("spec") or {}
    group, version = spec.get("group", ""), spec.get("version", "")
    wanted = f"{version}.{group}"

    def named(name: str, prefix: bool) -> content.Messages:
        found = content.name_is_path_segment(name, False)
        return found or (
            ()
            if name == wanted
            else (f'must be `spec.version+"."+spec.group`: {go_quote(wanted)}',)
        )

    errors = validate_object_meta(service.get("metadata") or {}, False, named)
    if not group and version != "v1":
        errors.append(
            required(
                "spec.group",
                "only v1 may have an empty group and it better be legacy kube",
            )
        )
    if group:
        errors += [
            invalid("spec.group", group, why)
            for why in content.dns1123_subdomain(group)
        ]
    errors += [
        invalid("spec.version", version, why) for why in content.dns1035_label(version)
    ]
    for field, most in (("groupPriorityMinimum", 20000), ("versionPriority", 1000)):
        if not 0 < spec.get(field, 0) <= most:
            errors.append(
                invalid(
                    f"spec.{field}",
                    spec.get(field, 0),
                    f"must be positive and less than {most}",
                )
            )
    return errors + _validate_backend(spec)


def _validate_backend(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    service, bundle, insecure = (
        spec.get("service"),
        spec.get("caBundle"),
        spec.get("insecureSkipTLSVerify"),
    )
    if service is None:
        if bundle:
            size = f"{len(base64.b64decode(bundle))} bytes"
            errors.append(
                invalid(
                    "spec.caBundle", size, "local APIServices may not have a caBundle"
                )
            )
        if insecure:
            why = "local APIServices may not have insecureSkipTLSVerify"
            errors.append(invalid("spec.insecureSkipTLSVerify", True, why))
        return errors
    errors += [
        required(f"spec.service.{field}")
        for field in ("namespace", "name")
        if not service.get(field)
    ]
    messages = content.port_number(service.get("port", 0))
    if messages:
        why = f"port is not valid: {', '.join(messages)}"
        errors.append(invalid("spec.service.port", service.get("port", 0), why))
    if insecure and bundle:
        errors.append(
            invalid(
                "spec.insecureSkipTLSVerify",
                True,
                "may not be true if caBundle is present",
            )
        )
    return errors


def validate_api_service_update(new: Object, old: Object) -> list[FieldError]:
    """A changed API service."""
    return validate_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate_api_service(new)


def validate_api_service_status_update(new: Object, old: Object) -> list[FieldError]:
    """Conditions are true, false or unknown."""
    errors = validate_object_meta_update(new["metadata"], old["metadata"])
    for index, condition in enumerate(
        (new.get("status") or {}).get("conditions") or ()
    ):
        status = condition.get("status", "")
        if status not in ("True", "False", "Unknown"):
            errors.append(
                not_supported(
                    f"status.conditions[{index}].status",
                    status,
                    ("True", "False", "Unknown"),
                )
            )
    return errors
