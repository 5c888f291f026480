"""APIServices: who serves a group and version.

Upstream: `kube-aggregator/pkg/apis/apiregistration/v1/defaults.go`,
`kube-aggregator/pkg/registry/apiservice/strategy.go`,
`kube-aggregator/pkg/apis/apiregistration/validation/validation.go`,
`kube-aggregator/pkg/registry/apiservice/etcd/etcd.go` (`ConvertToTable`), v1.36.
"""

from __future__ import annotations

import base64

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_object_meta,
    validate_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)
from lifecycle.apiserver.registry.rest.webhook_clients import (
    set_service_reference_defaults,
)

# --- defaults -------------------------------------------------------------------------


def set_defaults(service: Object) -> None:
    """Port 443."""
    set_service_reference_defaults(service.get("spec"))


# --- validation -----------------------------------------------------------------------


def validate(service: Object) -> list[FieldError]:
    """Its name is `version.group`; it is local, or a Service in the cluster."""
    spec = service.get("spec") or {}
    group, version = spec.get("group", ""), spec.get("version", "")
    required_name = f"{version}.{group}"

    def name_rule(name: str, prefix: bool) -> content.Messages:
        return content.name_is_path_segment(name, False) or (
            ()
            if name == required_name
            else (f'must be `spec.version+"."+spec.group`: {go_quote(required_name)}',)
        )

    errors = validate_object_meta(service.get("metadata") or {}, False, name_rule)
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


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed API service."""
    return validate_object_meta_update(new["metadata"], old["metadata"]) + validate(new)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
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


# --- table ----------------------------------------------------------------------------


def print_api_service(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get apiservices`."""
    service = (obj.get("spec") or {}).get("service")
    conditions = (obj.get("status") or {}).get("conditions") or ()
    available = next((c for c in conditions if c["type"] == "Available"), None)
    state = "Unknown"
    if available is not None:
        state = available["status"]
        if state != "True" and available.get("reason"):
            state = f"{state} ({available['reason']})"
    where = (
        "Local"
        if service is None
        else f"{service.get('namespace', '')}/{service.get('name', '')}"
    )
    return [obj["metadata"]["name"], where, state, age(obj, now)]


PRINTER = Printer(
    (
        NAME,
        Column("Service", "The reference to the service that hosts this API endpoint."),
        Column("Available", "Whether this service is available."),
        AGE,
    ),
    print_api_service,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    allow_unconditional_update=False,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_only_update,
            validate_status_update,
            reset_fields=METADATA_AND_SPEC_FIELDS,
        )
    },
    printer=PRINTER,
)
