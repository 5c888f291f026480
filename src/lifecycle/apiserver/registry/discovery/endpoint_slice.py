"""EndpointSlices: a part of the addresses behind a Service.

Upstream: `pkg/apis/discovery/v1/defaults.go` (`SetDefaults_EndpointPort`),
`pkg/registry/discovery/endpointslice/strategy.go`,
`pkg/apis/discovery/validation/validation.go` (`ValidateEndpointSlice` …),
`pkg/printers/internalversion/printers.go` (`printEndpointSlice`), v1.36.
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    duplicate,
    invalid,
    named,
    not_supported,
    required,
    too_many,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    is_ipv6,
    validate_ip,
    validate_legacy_ip,
    validate_non_special_ip,
    warnings_for_ip,
)
from lifecycle.apiserver.registry.core.pod.containers import PROTOCOLS
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
    list_with_more,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_labels,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(endpoint_slice: Object) -> None:
    """Ports: the empty name, TCP."""
    for port in endpoint_slice.get("ports") or ():
        set_default(port, "name", "")
        set_default(port, "protocol", "TCP")


# --- strategy -------------------------------------------------------------------------

_HOSTNAME = "kubernetes.io/hostname"


def drop_topology(new: Object, old: Object | None = None) -> None:
    """What older versions called the topology cannot be written any more. Upstream:
    `dropTopologyOnV1`.
    """
    endpoints = new.get("endpoints") or []
    if not any("deprecatedTopology" in endpoint for endpoint in endpoints):
        return
    before = (old or {}).get("endpoints") or []
    if old is not None and endpoints == before:
        return
    known = {(one.get("deprecatedTopology") or {}).get(_HOSTNAME) for one in before}
    new["endpoints"] = [_without_topology(one, known) for one in endpoints]


def prepare_for_update(new: Object, old: Object) -> None:
    """A change counts as it was sent, even if it is dropped behind that."""
    if Generation.CONTENT_AND_LABELS.counts(new, old):
        new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
    drop_topology(new, old)


def _without_topology(endpoint: Object, known: Collection[str | None]) -> Object:
    node = (endpoint.get("deprecatedTopology") or {}).get(_HOSTNAME)
    kept = {
        key: value for key, value in endpoint.items() if key != "deprecatedTopology"
    }
    if node and node in known and kept.get("nodeName") is None:
        kept["nodeName"] = node
    return kept


# --- validation -----------------------------------------------------------------------


_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")

_SLICE_LIMIT, _ADDRESS_LIMIT, _PORT_LIMIT, _HINT_LIMIT = 1000, 100, 20000, 8


def validate(endpoint_slice: Object) -> list[FieldError]:
    """Addresses of one family, named ports."""
    return _validate_endpoint_slice(endpoint_slice)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The address type stays, and endpoints that were stored once may stay."""
    same = (new.get("endpoints") or []) == (old.get("endpoints") or [])
    errors = _validate_endpoint_slice(new, kept=same)
    if new.get("addressType", "") != old.get("addressType", ""):
        errors.append(
            invalid("addressType", named(new.get("addressType", "")), IMMUTABLE)
        )
    return errors


def _validate_endpoint_slice(
    endpoint_slice: Object, *, kept: bool = False
) -> list[FieldError]:
    errors = validate_core_object_meta(
        endpoint_slice.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    type_ = endpoint_slice.get("addressType", "")
    errors += validate_required_enum("addressType", type_, _ADDRESS_TYPES)
    errors += _validate_ports(endpoint_slice.get("ports") or [])
    endpoints = endpoint_slice.get("endpoints") or []
    if kept:
        return errors
    if len(endpoints) > _SLICE_LIMIT:
        return [*errors, too_many("endpoints", len(endpoints), _SLICE_LIMIT)]
    for index, endpoint in enumerate(endpoints):
        errors += _validate_endpoint(endpoint, type_, f"endpoints[{index}]")
    return errors


def _validate_ports(ports: list[Object]) -> list[FieldError]:
    if len(ports) > _PORT_LIMIT:
        return [too_many("ports", len(ports), _PORT_LIMIT)]
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):  # upstream looks at no number
        here, name, protocol = (
            f"ports[{index}]",
            port.get("name") or "",
            port.get("protocol"),
        )
        if name:
            errors += [
                invalid(f"{here}.name", name, why)
                for why in content.dns1123_label(name)
            ]
        if name in names:
            errors.append(duplicate(f"{here}.name", Named(name)))
        names.add(name)
        if protocol is None:
            errors.append(required(f"{here}.protocol"))
        elif protocol not in PROTOCOLS:
            errors.append(not_supported(f"{here}.protocol", protocol, PROTOCOLS))
        application = port.get("appProtocol")
        if application is not None:
            errors += [
                invalid(f"{here}.appProtocol", application, why)
                for why in content.qualified_name(application)
            ]
    return errors


def _validate_endpoint(endpoint: Object, type_: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    addresses, here = endpoint.get("addresses") or [], f"{path}.addresses"
    if not addresses:
        errors.append(required(here, "must contain at least 1 address"))
    elif len(addresses) > _ADDRESS_LIMIT:
        errors.append(too_many(here, len(addresses), _ADDRESS_LIMIT))
    for index, address in enumerate(addresses):
        place = f"{here}[{index}]"
        if type_ in ("IPv4", "IPv6"):
            check = validate_legacy_ip if type_ == "IPv4" else validate_ip
            malformed = check(address, place)
            errors += malformed
            if malformed:
                continue
            if is_ipv6(address) != (type_ == "IPv6"):
                why = f"must be an {type_} address"
                errors.append(invalid(here, address, why))
            errors += validate_non_special_ip(address, place)
        elif type_ == "FQDN":
            errors += _validate_fqdn(address, place)
    node, hostname = endpoint.get("nodeName"), endpoint.get("hostname")
    if node is not None:
        errors += [
            invalid(f"{path}.nodeName", node, why)
            for why in content.dns1123_subdomain(node)
        ]
    topology = endpoint.get("deprecatedTopology") or {}
    if len(topology) > 16:
        errors.append(too_many(f"{path}.deprecatedTopology", len(topology), 16))
    errors += validate_labels(topology, f"{path}.deprecatedTopology")
    if hostname is not None:
        errors += [
            invalid(f"{path}.hostname", hostname, why)
            for why in content.dns1123_label(hostname)
        ]
    return errors + _validate_hints(endpoint.get("hints") or {}, f"{path}.hints")


def _validate_hints(hints: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for key, rule in (
        ("forZones", content.label_value),
        ("forNodes", content.dns1123_subdomain),
    ):
        hinted, here = hints.get(key) or [], f"{path}.{key}"
        if len(hinted) > _HINT_LIMIT:
            return [*errors, too_many(here, len(hinted), _HINT_LIMIT)]
        names: set[str] = set()
        for index, hint in enumerate(hinted):
            name, place = hint.get("name", ""), f"{here}[{index}].name"
            if name in names:
                errors.append(duplicate(place, name))
            names.add(name)
            errors += [invalid(place, name, why) for why in rule(name)]
    return errors


def _validate_fqdn(name: str, path: str) -> list[FieldError]:
    if not name:
        return [required(path)]
    bare = name.removesuffix(".")
    messages = content.dns1123_subdomain(bare)
    if messages:
        return [invalid(path, bare, ",".join(messages))]
    if bare.count(".") < 1:
        return [
            invalid(
                path,
                bare,
                "should be a domain with at least two segments separated by dots",
            )
        ]
    return []


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(slice_: Object) -> list[str]:
    """Of names instead of addresses, and of addresses in unusual spellings."""
    warnings: list[str] = []
    if slice_.get("addressType") == "FQDN":
        warnings.append("spec.addressType: FQDN endpoints are deprecated")
    for index, endpoint in enumerate(slice_.get("endpoints") or ()):
        for position, address in enumerate(endpoint.get("addresses") or ()):
            path = f"endpoints[{index}].addresses[{position}]"
            warnings += warnings_for_ip(address, path)
    return warnings


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- table ----------------------------------------------------------------------------


def print_endpoint_slice(endpoint_slice: Object, now: float) -> Cells:
    """The cells of `kubectl get endpointslices`."""
    ports = [_format_port(port) for port in endpoint_slice.get("ports") or ()]
    addresses = [
        address
        for endpoint in endpoint_slice.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    ]
    return [
        endpoint_slice["metadata"]["name"],
        endpoint_slice.get("addressType", ""),
        list_with_more(ports, len(ports)),
        list_with_more(addresses, len(addresses)),
        age(endpoint_slice, now),
    ]


def _format_port(port: Object) -> str:
    """Its number or, for all numbers, its name, which is empty where it has none."""
    text = port.get("port") if port.get("port") is not None else port.get("name")
    return "*" if text is None else str(text)


PRINTER = Printer(
    (
        NAME,
        Column("AddressType", field("discovery/v1.EndpointSlice", "addressType")),
        Column("Ports", field("discovery/v1.EndpointSlice", "ports")),
        Column("Endpoints", field("discovery/v1.EndpointSlice", "endpoints")),
        AGE,
    ),
    print_endpoint_slice,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.CONTENT_AND_LABELS,
    prepare_for_create=drop_topology,
    prepare_for_update=prepare_for_update,
    validate=validate,
    warnings_on_create=warnings_on_create,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    printer=PRINTER,
)
