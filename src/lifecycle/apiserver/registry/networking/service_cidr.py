"""ServiceCIDRs: the ranges that the addresses of Services are taken from.

Upstream: `pkg/registry/networking/servicecidr/strategy.go`,
`pkg/apis/networking/validation/validation.go` (`ValidateServiceCIDR` …),
`pkg/printers/internalversion/printers.go` (`printServiceCIDR`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import validate_cidr
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy


def validate(service_cidr: Object) -> list[FieldError]:
    """One network, or one of each family."""
    errors = validate_core_object_meta(
        service_cidr.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    networks = (service_cidr.get("spec") or {}).get("cidrs") or []
    if not networks:
        return [*errors, required("spec.cidrs", "at least one CIDR required")]
    if len(networks) > 2:
        return [
            *errors,
            invalid(
                "spec",
                internal_value("networking/v1.ServiceCIDRSpec", service_cidr["spec"]),
                "may only hold up to 2 values",
            ),
        ]
    for index, network in enumerate(networks):
        errors += validate_cidr(network, f"spec.cidrs[{index}]")
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Only its metadata."""
    return validate_core_object_meta_update(new["metadata"], old["metadata"])


def print_service_cidr(service_cidr: Object, now: float) -> Cells:
    """The cells of `kubectl get servicecidrs`."""
    return [
        service_cidr["metadata"]["name"],
        ",".join((service_cidr.get("spec") or {}).get("cidrs") or ()),
        age(service_cidr, now),
    ]


PRINTER = Printer(
    (NAME, Column("CIDRs", field("networking/v1.ServiceCIDRSpec", "cidrs")), AGE),
    print_service_cidr,
)

STRATEGY = Strategy(
    validate=validate,
    validate_update=validate_update,
    subresources={"status": UpdateStrategy(update.prepare_for_status_only_update)},
    printer=PRINTER,
)
