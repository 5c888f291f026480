"""ServiceCIDRs: the ranges that the addresses of Services are taken from.

Upstream: `pkg/registry/networking/servicecidr/strategy.go`,
`pkg/apis/networking/validation/validation.go` (`ValidateServiceCIDR` …),
`pkg/printers/internalversion/printers.go` (`printServiceCIDR`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import is_ipv6, parse_network, validate_cidr
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
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)


def validate(service_cidr: Object) -> list[FieldError]:
    """One network, or one of each family."""
    errors = validate_core_object_meta(
        service_cidr.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    return errors + _validate_spec(service_cidr.get("spec") or {})


def _validate_spec(spec: Object) -> list[FieldError]:
    networks = spec.get("cidrs") or []
    if not networks:
        return [required("spec.cidrs", "at least one CIDR required")]
    if len(networks) > 2:
        shown = internal_value("networking/v1.ServiceCIDRSpec", spec)
        return [invalid("spec.cidrs", shown, "may only hold up to 2 values")]
    errors: list[FieldError] = []
    for index, network in enumerate(networks):
        errors += validate_cidr(network, f"spec.cidrs[{index}]")
    families = [
        None if parse_network(network) is None else is_ipv6(network.partition("/")[0])
        for network in networks
    ]
    if len(families) == 2 and families[0] == families[1] is not None:
        why = (
            "may specify no more than one IP for each IP family, i.e 192.168.0.0/24"
            " and 2001:db8::/64"
        )
        errors.append(invalid("spec.cidrs", networks, why))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The networks stay; one may get a second beside it."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec = new.get("spec") or {}
    networks, before = (one.get("cidrs") or [] for one in (spec, old.get("spec") or {}))
    changed = [
        invalid(f"spec.cidrs[{index}]", network, IMMUTABLE)
        for index, (network, was) in enumerate(zip(networks, before, strict=False))
        if network != was
    ]
    if len(networks) == len(before):
        return errors + changed
    if (len(before), len(networks)) == (1, 2):
        return errors + changed + _validate_spec(spec)
    return [*errors, invalid("spec.cidrs", spec.get("cidrs"), IMMUTABLE)]


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
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_only_update, reset_fields=METADATA_AND_SPEC_FIELDS
        )
    },
    printer=PRINTER,
)
