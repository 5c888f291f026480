"""Ingresses, ingress classes, network policies, endpoint slices.

Upstream: `pkg/apis/networking/validation/validation.go`,
`pkg/apis/discovery/validation/validation.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
    too_many,
)
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    is_ipv6,
    parse_ip,
    parse_network,
    validate_cidr,
    validate_legacy_cidr,
    validate_legacy_ip,
    validate_non_special_ip,
)
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_labels,
)
from lifecycle.apiserver.registry.rest.references import (
    validate_domain_prefixed_path,
    validate_kind_and_name,
)
from lifecycle.apiserver.registry.unmigrated.validation.containers import PROTOCOLS

_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")
_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")
_BAD_SUFFIXES = ("/..", "/.")
_CLASS_ANNOTATION = "kubernetes.io/ingress.class"


def validate_ingress(ingress: Object) -> list[FieldError]:
    """A default backend or rules; hosts, paths, secrets."""
    errors = validate_core_object_meta(
        ingress.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    spec = ingress.get("spec") or {}
    rules, backend = spec.get("rules") or [], spec.get("defaultBackend")
    if not rules and backend is None:
        errors.append(
            invalid(
                "spec", None, "either `defaultBackend` or `rules` must be specified"
            )
        )
    if backend is not None:
        errors += _validate_backend(backend, "spec.defaultBackend")
    for index, rule in enumerate(rules):
        errors += _validate_ingress_rule(rule, f"spec.rules[{index}]")
    for index, tls in enumerate(spec.get("tls") or ()):
        for position, host in enumerate(tls.get("hosts") or ()):
            rule_of = (
                content.wildcard_dns1123_subdomain
                if "*" in host
                else content.dns1123_subdomain
            )
            errors += [
                invalid(f"spec.tls[{index}].hosts[{position}]", host, why)
                for why in rule_of(host)
            ]
        name = tls.get("secretName", "")
        if name:
            errors += [
                invalid(f"spec.tls[{index}].secretName", name, why)
                for why in content.dns1123_subdomain(name)
            ]
    class_ = spec.get("ingressClassName")
    if class_ is not None:
        errors += [
            invalid("spec.ingressClassName", class_, why)
            for why in content.dns1123_subdomain(class_)
        ]
    return errors


def validate_ingress_create(ingress: Object) -> list[FieldError]:
    """A new Ingress: the old annotation must not contradict the class."""
    errors = validate_ingress(ingress)
    annotation = ((ingress.get("metadata") or {}).get("annotations") or {}).get(
        _CLASS_ANNOTATION
    )
    class_ = (ingress.get("spec") or {}).get("ingressClassName")
    if annotation is not None and class_ is not None and annotation != class_:
        why = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{_CLASS_ANNOTATION}", annotation, why))
    return errors


def validate_ingress_update(new: Object, old: Object) -> list[FieldError]:
    """A changed Ingress."""
    return validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate_ingress(new)


def _validate_ingress_rule(rule: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    host = rule.get("host", "")
    if host:
        if parse_ip(host) is not None:
            errors.append(
                invalid(f"{path}.host", host, "must be a DNS name, not an IP address")
            )
        rule_of = (
            content.wildcard_dns1123_subdomain
            if "*" in host
            else content.dns1123_subdomain
        )
        errors += [invalid(f"{path}.host", host, why) for why in rule_of(host)]
    http = rule.get("http")
    if http is not None:
        if not http.get("paths"):
            errors.append(required(f"{path}.http.paths"))
        for index, entry in enumerate(http.get("paths") or ()):
            errors += _validate_http_path(entry, f"{path}.http.paths[{index}]")
    return errors


def _validate_http_path(entry: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    type_, value = entry.get("pathType"), entry.get("path", "")
    if type_ is None:
        return [required(f"{path}.pathType", "pathType must be specified")]
    if type_ in ("Exact", "Prefix"):
        if not value.startswith("/"):
            errors.append(invalid(f"{path}.path", value, "must be an absolute path"))
        errors += [
            invalid(f"{path}.path", value, f"must not contain '{bad}'")
            for bad in _BAD_SEQUENCES
            if bad in value
        ]
        errors += [
            invalid(f"{path}.path", value, f"cannot end with '{bad}'")
            for bad in _BAD_SUFFIXES
            if value.endswith(bad)
        ]
    elif type_ == "ImplementationSpecific":
        if value and not value.startswith("/"):
            errors.append(invalid(f"{path}.path", value, "must be an absolute path"))
    else:
        errors.append(not_supported(f"{path}.pathType", type_, _PATH_TYPES))
    return errors + _validate_backend(entry.get("backend") or {}, f"{path}.backend")


def _validate_backend(backend: Object, path: str) -> list[FieldError]:
    resource, service = backend.get("resource"), backend.get("service")
    if resource is not None and service is not None:
        return [invalid(path, "", "cannot set both resource and service backends")]
    if resource is not None:
        return _validate_reference(resource, f"{path}.resource")
    if service is None:
        return [invalid(path, "", "resource or service backend is required")]
    errors: list[FieldError] = []
    name, port = service.get("name", ""), service.get("port") or {}
    if not name:
        errors.append(required(f"{path}.service.name"))
    else:
        errors += [
            invalid(f"{path}.service.name", name, why)
            for why in content.dns1123_label(name)
        ]
    if port.get("name") and port.get("number"):
        errors.append(invalid(path, "", "cannot set both port name & port number"))
    elif port.get("name"):
        errors += [
            invalid(f"{path}.service.port.name", port["name"], why)
            for why in content.port_name(port["name"])
        ]
    elif port.get("number"):
        errors += [
            invalid(f"{path}.service.port.number", port["number"], why)
            for why in content.port_number(port["number"])
        ]
    else:
        errors.append(required(path, "port name or number is required"))
    return errors


def _validate_reference(reference: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    group = reference.get("apiGroup")
    if group is not None:
        errors += [
            invalid(f"{path}.apiGroup", group, why)
            for why in content.dns1123_subdomain(group)
        ]
    return errors + validate_kind_and_name(reference, path, explain=True)


def validate_ingress_class(ingress_class: Object) -> list[FieldError]:
    """A controller, and perhaps parameters."""
    errors = validate_core_object_meta(
        ingress_class.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    spec = ingress_class.get("spec") or {}
    controller, parameters = spec.get("controller", ""), spec.get("parameters")
    here = "spec.controller"
    if not controller:
        errors.append(required(here))
    else:
        if len(controller) > 250:
            errors.append(too_long(here, 250))
        errors += validate_domain_prefixed_path(controller, here)
    if parameters is not None:
        errors += _validate_reference(parameters, "spec.parameters")
        scope, namespace = parameters.get("scope"), parameters.get("namespace")
        if scope is None:
            errors.append(required("spec.parameters.scope"))
        elif scope not in ("Cluster", "Namespace"):
            errors.append(
                not_supported("spec.parameters.scope", scope, ("Cluster", "Namespace"))
            )
        elif scope == "Namespace" and namespace is None:
            errors.append(
                required(
                    "spec.parameters.namespace",
                    "`parameters.scope` is set to 'Namespace'",
                )
            )
        elif scope == "Namespace":
            errors += [
                invalid("spec.parameters.namespace", namespace, why)
                for why in content.dns1123_label(namespace)
            ]
        elif scope == "Cluster" and namespace is not None:
            errors.append(
                forbidden(
                    "spec.parameters.namespace",
                    "`parameters.scope` is set to 'Cluster'",
                )
            )
    return errors


def validate_ingress_class_update(new: Object, old: Object) -> list[FieldError]:
    """The controller stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    controller = (new.get("spec") or {}).get("controller", "")
    if controller != (old.get("spec") or {}).get("controller", ""):
        errors.append(invalid("spec.controller", controller, IMMUTABLE))
    return errors + validate_ingress_class(new)


# --- network policies -----------------------------------------------------------------


def validate_network_policy(policy: Object) -> list[FieldError]:
    """Selectors, ports and peers."""
    errors = validate_core_object_meta(
        policy.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + _validate_network_policy_spec(policy.get("spec") or {})


def validate_network_policy_update(new: Object, old: Object) -> list[FieldError]:
    """A changed policy. Networks that stood in the old one, anywhere, may stand in the
    new one.
    """
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    return errors + _validate_network_policy_spec(
        new.get("spec") or {}, _networks_of(old.get("spec") or {})
    )


def _networks_of(spec: Object) -> list[str]:
    rules = [rule.get("from") for rule in spec.get("ingress") or ()] + [
        r.get("to") for r in spec.get("egress") or ()
    ]
    blocks = [peer.get("ipBlock") or {} for peers in rules for peer in peers or ()]
    return [
        text
        for block in blocks
        for text in (block.get("cidr", ""), *(block.get("except") or ()))
    ]


def _validate_network_policy_spec(
    spec: Object, old_networks: Collection[str] = ()
) -> list[FieldError]:
    errors = validate_label_selector(spec.get("podSelector"), "spec.podSelector")
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            here = f"spec.{direction}[{index}]"
            for position, port in enumerate(rule.get("ports") or ()):
                errors += _validate_policy_port(port, f"{here}.ports[{position}]")
            for position, peer in enumerate(rule.get(peers) or ()):
                errors += _validate_policy_peer(
                    peer, old_networks, f"{here}.{peers}[{position}]"
                )
    types = spec.get("policyTypes") or []
    if len(types) > 2:
        return [
            *errors,
            invalid(
                "spec.policyTypes", types, "may not specify more than two policyTypes"
            ),
        ]
    for index, type_ in enumerate(types):
        if type_ not in ("Ingress", "Egress"):
            errors.append(
                not_supported(
                    f"spec.policyTypes[{index}]", type_, ("Ingress", "Egress")
                )
            )
    return errors


def _validate_policy_port(entry: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    protocol, port, end = entry.get("protocol"), entry.get("port"), entry.get("endPort")
    if protocol is not None and protocol not in PROTOCOLS:
        errors.append(
            not_supported(f"{path}.protocol", protocol, ("TCP", "UDP", "SCTP"))
        )
    if port is None:
        if end is not None:
            errors.append(
                invalid(
                    f"{path}.endPort",
                    end,
                    "may not be specified when `port` is not specified",
                )
            )
    elif isinstance(port, int):
        errors += [
            invalid(f"{path}.port", port, why) for why in content.port_number(port)
        ]
        if end is not None:
            if end < port:
                errors.append(
                    invalid(
                        f"{path}.endPort",
                        end,
                        "must be greater than or equal to `port`",
                    )
                )
            errors += [
                invalid(f"{path}.endPort", end, why) for why in content.port_number(end)
            ]
    else:
        if end is not None:
            errors.append(
                invalid(
                    f"{path}.endPort",
                    end,
                    "may not be specified when `port` is non-numeric",
                )
            )
        errors += [
            invalid(f"{path}.port", port, why) for why in content.port_name(port)
        ]
    return errors


def _validate_policy_peer(
    peer: Object, old_networks: Collection[str], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    given = 0
    for field in ("podSelector", "namespaceSelector"):
        if peer.get(field) is not None:
            given += 1
            errors += validate_label_selector(peer[field], f"{path}.{field}")
    block = peer.get("ipBlock")
    if block is not None:
        given += 1
        errors += _validate_ip_block(block, old_networks, f"{path}.ipBlock")
    if not given:
        errors.append(required(path, "must specify a peer"))
    elif given > 1 and block is not None:
        errors.append(forbidden(path, "may not specify both ipBlock and another peer"))
    return errors


def _validate_ip_block(
    block: Object, old_networks: Collection[str], path: str
) -> list[FieldError]:
    cidr = block.get("cidr", "")
    if not cidr:
        return [required(f"{path}.cidr")]
    errors = validate_legacy_cidr(cidr, f"{path}.cidr", old_networks)
    whole = parse_network(cidr)
    if whole is None:
        return errors
    for index, text in enumerate(block.get("except") or ()):
        here = f"{path}.except[{index}]"
        errors += validate_legacy_cidr(text, here, old_networks)
        part = parse_network(text)
        if part is None:
            continue
        inside = (
            part[1].version == whole[1].version and part[1].network_address in whole[1]
        )
        if not inside or whole[1].prefixlen >= part[1].prefixlen:
            errors.append(invalid(here, text, "must be a strict subset of `cidr`"))
    return errors


# --- endpoint slices ------------------------------------------------------------------

_ADDRESS_TYPES = ("FQDN", "IPv4", "IPv6")
_SLICE_LIMIT, _ADDRESS_LIMIT, _PORT_LIMIT = 1000, 100, 20000


def validate_endpoint_slice(endpoint_slice: Object) -> list[FieldError]:
    """Addresses of one family, named ports."""
    return _validate_endpoint_slice(endpoint_slice, ())


def _validate_endpoint_slice(
    endpoint_slice: Object, old_addresses: Collection[str]
) -> list[FieldError]:
    errors = validate_core_object_meta(
        endpoint_slice.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    type_ = endpoint_slice.get("addressType", "")
    if not type_:
        errors.append(required("addressType"))
    elif type_ not in _ADDRESS_TYPES:
        errors.append(not_supported("addressType", type_, _ADDRESS_TYPES))
    errors += _validate_slice_ports(endpoint_slice.get("ports") or [])
    endpoints = endpoint_slice.get("endpoints") or []
    if len(endpoints) > _SLICE_LIMIT:
        return [*errors, too_many("endpoints", len(endpoints), _SLICE_LIMIT)]
    for index, endpoint in enumerate(endpoints):
        errors += _validate_slice_endpoint(
            endpoint, type_, old_addresses, f"endpoints[{index}]"
        )
    return errors


def _validate_slice_ports(ports: list[Object]) -> list[FieldError]:
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
            errors.append(duplicate(f"{here}.name", name))
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


def _validate_slice_endpoint(
    endpoint: Object, type_: str, old_addresses: Collection[str], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    addresses, here = endpoint.get("addresses") or [], f"{path}.addresses"
    if not addresses:
        errors.append(required(here, "must contain at least 1 address"))
    elif len(addresses) > _ADDRESS_LIMIT:
        errors.append(too_many(here, len(addresses), _ADDRESS_LIMIT))
    for index, address in enumerate(addresses):
        place = f"{here}[{index}]"
        if type_ in ("IPv4", "IPv6"):
            found = validate_legacy_ip(address, place, old_addresses)
            if not found and is_ipv6(address) != (type_ == "IPv6"):
                found.append(invalid(here, address, f"must be an {type_} address"))
            errors += found or validate_non_special_ip(address, place)
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


def validate_endpoint_slice_update(new: Object, old: Object) -> list[FieldError]:
    """The address type stays, and addresses that stood in the old slice may stay."""
    known = {
        address
        for endpoint in old.get("endpoints") or ()
        for address in endpoint.get("addresses") or ()
    }
    errors = _validate_endpoint_slice(new, known)
    if new.get("addressType", "") != old.get("addressType", ""):
        errors.append(invalid("addressType", new.get("addressType", ""), IMMUTABLE))
    return errors


def validate_service_cidr(service_cidr: Object) -> list[FieldError]:
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
