"""Endpoints: the addresses behind a Service, all in one object. EndpointSlices have
replaced them.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_Endpoints`),
`pkg/registry/core/endpoint/strategy.go`, `pkg/apis/core/validation/validation.go`
(`ValidateEndpoints`), `pkg/printers/internalversion/printers.go` (`printEndpoints`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.go.net import join_host_port
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    validate_legacy_ip,
    validate_non_special_ip,
    warnings_for_ip,
)
from lifecycle.apiserver.registry.core.service.ports import (
    validate_app_protocol,
    validate_number_and_protocol,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
    list_with_more,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(endpoints: Object) -> None:
    """Ports are TCP unless they say otherwise."""
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            if not port.get("protocol"):
                port["protocol"] = "TCP"


# --- validation -----------------------------------------------------------------------


def validate(endpoints: Object) -> list[FieldError]:
    """Endpoints: every subset has addresses, every port a number."""
    errors = validate_core_object_meta(
        endpoints.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        here, ports = f"subsets[{index}]", subset.get("ports") or []
        if not subset.get("addresses") and not subset.get("notReadyAddresses"):
            errors.append(
                required(here, "must specify `addresses` or `notReadyAddresses`")
            )
        for group in ("addresses", "notReadyAddresses"):
            for position, address in enumerate(subset.get(group) or ()):
                errors += _validate_endpoint_address(
                    address, f"{here}.{group}[{position}]"
                )
        for position, port in enumerate(ports):
            place, name = f"{here}.ports[{position}]", port.get("name", "")
            if len(ports) > 1 and not name:
                errors.append(required(f"{place}.name"))
            elif name:
                errors += [
                    invalid(f"{place}.name", name, why)
                    for why in content.dns1123_label(name)
                ]
            errors += validate_number_and_protocol(port, place)
            errors += validate_app_protocol(port, place)
    return errors


def _validate_endpoint_address(address: Object, path: str) -> list[FieldError]:
    ip, name, node = (
        address.get("ip", ""),
        address.get("hostname", ""),
        address.get("nodeName"),
    )
    errors = validate_legacy_ip(ip, f"{path}.ip")
    if name:
        errors += [
            invalid(f"{path}.hostname", name, why)
            for why in content.dns1123_label(name)
        ]
    if node is not None:
        errors += [
            invalid(f"{path}.nodeName", node, why)
            for why in content.dns1123_subdomain(node)
        ]
    return errors + validate_non_special_ip(ip, f"{path}.ip")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Nothing but the metadata is bound to the old object."""
    return validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate(new)


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(endpoints: Object) -> list[str]:
    """Of addresses in unusual spellings."""
    warnings: list[str] = []
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        for group in ("addresses", "notReadyAddresses"):
            for position, address in enumerate(subset.get(group) or ()):
                warnings += warnings_for_ip(
                    address.get("ip", ""), f"subsets[{index}].{group}[{position}].ip"
                )
    return warnings


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- table ----------------------------------------------------------------------------


def print_endpoints(endpoints: Object, now: float) -> Cells:
    """The cells of `kubectl get endpoints`."""
    return [
        endpoints["metadata"]["name"],
        _format_subsets(endpoints.get("subsets") or ()),
        age(endpoints, now),
    ]


def _format_subsets(subsets: list[Object] | tuple[()]) -> str:
    if not subsets:
        return "<none>"
    pairs: list[str] = []
    for subset in subsets:
        addresses = [address["ip"] for address in subset.get("addresses") or ()]
        ports = [port["port"] for port in subset.get("ports") or ()]
        if not ports:  # headless without ports
            pairs += addresses
        for port in ports:
            pairs += [join_host_port(ip, port) for ip in addresses]
    return list_with_more(pairs, len(pairs), empty="")


PRINTER = Printer(
    (NAME, Column("Endpoints", field("core/v1.Endpoints", "subsets")), AGE),
    print_endpoints,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    warnings_on_create=warnings_on_create,
    allow_create_on_update=True,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    printer=PRINTER,
    deprecation=(
        "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"
    ),
)
