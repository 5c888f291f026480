"""Services and Endpoints.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateService`,
`ValidateServiceClusterIPsRelatedFields`, `ValidateServiceUpdate`, `ValidateEndpoints`),
v1.36, gate `RelaxedServiceNameValidation` on: a name may begin with a digit. Left out:
what only the allocators can know (ranges, collisions).
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
)
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    is_ipv6,
    parse_ip,
    validate_legacy_cidr,
    validate_legacy_ip,
    validate_non_special_ip,
)
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_labels,
)
from lifecycle.apiserver.registry.unmigrated.defaults.core import externally_accessible
from lifecycle.apiserver.registry.unmigrated.validation.containers import PROTOCOLS
from lifecycle.apiserver.registry.unmigrated.validation.probes import (
    validate_port_number_or_name,
)

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")
_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")
_ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'"
_NOT_EXTERNAL_NAME = "may not be set for ExternalName services"
_ONCE = "may not change once set"
MAX_AFFINITY_SECONDS = 86400


def _headless(spec: Object) -> bool:
    return spec.get("clusterIPs") == ["None"]


def validate_service(service: Object) -> list[FieldError]:
    """A new Service."""
    meta = service.get("metadata") or {}
    return validate_core_object_meta(
        meta, True, content.name_is_dns_label
    ) + _validate_service(service, {})


def _validate_topology_annotations(annotations: Object) -> list[FieldError]:
    hints, mode = (
        annotations.get(f"service.kubernetes.io/topology-{name}")
        for name in ("aware-hints", "mode")
    )
    if hints is None or mode is None or hints == mode:
        return []
    why = (
        "must match annotations[service.kubernetes.io/topology-aware-hints] when both"
        " are specified"
    )
    return [
        invalid("metadata.annotations[service.kubernetes.io/topology-mode]", mode, why)
    ]


def _validate_service(service: Object, old: Object) -> list[FieldError]:
    """A Service as it would be stored, in upstream's order. `old` is empty for a new
    one: addresses that stand there may stay.
    """
    meta, spec, before = (
        service.get("metadata") or {},
        service.get("spec") or {},
        old.get("spec") or {},
    )
    errors = _validate_topology_annotations(meta.get("annotations") or {})
    type_, ports = spec.get("type", ""), spec.get("ports") or []
    if not ports and not _headless(spec) and type_ != "ExternalName":
        errors.append(required("spec.ports"))
    errors += _validate_by_type(spec, type_)
    names: set[str] = set()
    for index, port in enumerate(ports):
        errors += _validate_port(port, len(ports) > 1, names, f"spec.ports[{index}]")
    if spec.get("selector"):
        errors += validate_labels(spec["selector"], "spec.selector")
    errors += _validate_affinity(spec)
    errors += validate_cluster_ips(spec, before.get("clusterIPs") or ())
    for index, address in enumerate(spec.get("externalIPs") or ()):
        here = f"spec.externalIPs[{index}]"
        found = validate_legacy_ip(address, here, before.get("externalIPs") or ())
        errors += found or validate_non_special_ip(address, here)
    if not type_:
        errors.append(required("spec.type"))
    elif type_ not in TYPES:
        errors.append(not_supported("spec.type", type_, TYPES))
    errors += _validate_port_numbers(ports, type_)
    errors += _validate_load_balancer(meta, spec, type_, old)
    return errors + _validate_traffic(spec, type_)


def _validate_by_type(spec: Object, type_: str) -> list[FieldError]:
    if type_ in ("LoadBalancer", "NodePort"):
        why = f"may not be set to 'None' for {type_} services"
        return [invalid("spec.clusterIPs[0]", "None", why)] if _headless(spec) else []
    if type_ != "ExternalName":
        return []
    errors = [
        forbidden(f"spec.{key}", _NOT_EXTERNAL_NAME)
        for key in ("clusterIPs", "ipFamilies", "ipFamilyPolicy")
        if spec.get(key) or (key == "ipFamilyPolicy" and spec.get(key) is not None)
    ]
    name = spec.get("externalName", "").removesuffix(".")
    if not name:
        return [*errors, required("spec.externalName")]
    return errors + [
        invalid("spec.externalName", name, why)
        for why in content.dns1123_subdomain(name)
    ]


def _validate_port(
    port: Object, named: bool, names: set[str], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    name = port.get("name", "")
    if named and not name:
        errors.append(required(f"{path}.name"))
    elif name:
        errors += [
            invalid(f"{path}.name", name, why) for why in content.dns1123_label(name)
        ]
        if name in names:
            errors.append(duplicate(f"{path}.name", name))
        names.add(name)
    errors += _validate_number_and_protocol(port, path)
    errors += validate_port_number_or_name(
        port.get("targetPort", 0), f"{path}.targetPort"
    )
    return errors + _validate_app_protocol(port, path)


def _validate_number_and_protocol(port: Object, path: str) -> list[FieldError]:
    number, protocol = port.get("port", 0), port.get("protocol", "")
    errors = [
        invalid(f"{path}.port", number, why) for why in content.port_number(number)
    ]
    if not protocol:
        errors.append(required(f"{path}.protocol"))
    elif protocol not in PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", protocol, PROTOCOLS))
    return errors


def _validate_app_protocol(port: Object, path: str) -> list[FieldError]:
    protocol = port.get("appProtocol")
    if protocol is None:
        return []
    return [
        invalid(f"{path}.appProtocol", protocol, why)
        for why in content.qualified_name(protocol)
    ]


def _validate_affinity(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    affinity, config = (
        spec.get("sessionAffinity", ""),
        spec.get("sessionAffinityConfig"),
    )
    if not affinity:
        errors.append(required("spec.sessionAffinity"))
    elif affinity not in ("ClientIP", "None"):
        errors.append(
            not_supported("spec.sessionAffinity", affinity, ("ClientIP", "None"))
        )
    here = "spec.sessionAffinityConfig"
    if affinity == "ClientIP":
        why = "when session affinity type is ClientIP"
        if config is None:
            errors.append(required(here, why))
        elif config.get("clientIP") is None:
            errors.append(required(f"{here}.clientIP", why))
        elif config["clientIP"].get("timeoutSeconds") is None:
            errors.append(required(f"{here}.clientIP.timeoutSeconds", why))
        elif not 0 < config["clientIP"]["timeoutSeconds"] <= MAX_AFFINITY_SECONDS:
            seconds = config["clientIP"]["timeoutSeconds"]
            errors.append(
                invalid(
                    f"{here}.clientIP.timeoutSeconds",
                    seconds,
                    f"must be greater than 0 and less than {MAX_AFFINITY_SECONDS}",
                )
            )
    elif affinity == "None" and config is not None:
        errors.append(forbidden(here, "must not be set when session affinity is None"))
    return errors


def validate_cluster_ips(spec: Object, old: Collection[str] = ()) -> list[FieldError]:
    """`clusterIP`, `clusterIPs`, families and policy must tell one story. Addresses in
    `old` are not judged again.
    """
    if spec.get("type") == "ExternalName":
        return []
    errors: list[FieldError] = []
    ip, ips, families = (
        spec.get("clusterIP", ""),
        spec.get("clusterIPs") or [],
        spec.get("ipFamilies") or [],
    )
    if ip:
        if not ips:
            errors.append(required("spec.clusterIPs"))
        elif ips[0] != ip:
            errors.append(
                invalid("spec.clusterIPs", ips, "first value must match `clusterIP`")
            )
    elif ips:
        errors.append(
            invalid(
                "spec.clusterIPs",
                ips,
                "must be empty when `clusterIP` is not specified",
            )
        )
    for index, family in enumerate(families):
        if family not in ("IPv4", "IPv6"):
            errors.append(
                not_supported(f"spec.ipFamilies[{index}]", family, ("IPv4", "IPv6"))
            )
        if family in families[:index]:
            errors.append(duplicate(f"spec.ipFamilies[{index}]", family))
    policy = spec.get("ipFamilyPolicy")
    policies = ("PreferDualStack", "RequireDualStack", "SingleStack")
    if policy is not None and policy not in policies:
        errors.append(not_supported("spec.ipFamilyPolicy", policy, policies))
    broken = False
    for index, address in enumerate(ips):
        if index == 0 and address == "None":
            if len(ips) > 1:
                broken = True
                errors.append(
                    invalid(
                        "spec.clusterIPs",
                        ips,
                        "'None' must be the first and only value",
                    )
                )
            continue
        found = validate_legacy_ip(address, f"spec.clusterIPs[{index}]", old)
        broken = broken or bool(found)
        errors += found
    if len(ips) > 2:
        errors.append(invalid("spec.clusterIPs", ips, "may only hold up to 2 values"))
    if broken:
        return errors
    if len(ips) > 1 and len({is_ipv6(address) for address in ips}) != 2:
        errors.append(
            invalid(
                "spec.clusterIPs",
                ips,
                "may specify no more than one IP for each IP family",
            )
        )
    if not _headless(spec):
        for index, (address, family) in enumerate(zip(ips, families)):
            if family in ("IPv4", "IPv6") and is_ipv6(address) != (family == "IPv6"):
                why = (
                    f"expected an {family} value as indicated by `ipFamilies[{index}]`"
                )
                errors.append(invalid(f"spec.clusterIPs[{index}]", address, why))
    return errors


def _validate_port_numbers(ports: list[Object], type_: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if type_ == "ClusterIP":
        for index, port in enumerate(ports):
            if port.get("nodePort"):
                errors.append(
                    forbidden(
                        f"spec.ports[{index}].nodePort",
                        "may not be used when `type` is 'ClusterIP'",
                    )
                )
    taken: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("nodePort", 0))
        if key[1] and key in taken:
            errors.append(duplicate(f"spec.ports[{index}].nodePort", key[1]))
        taken.add(key)
    seen: set[tuple[str, int]] = set()
    for index, port in enumerate(ports):
        key = (port.get("protocol", ""), port.get("port", 0))
        if key in seen:
            shown = internal_value(
                "core/v1.ServicePort", {"protocol": key[0], "port": key[1]}
            )
            errors.append(duplicate(f"spec.ports[{index}]", shown))
        seen.add(key)
    return errors


def _validate_load_balancer(
    meta: Object, spec: Object, type_: str, old: Object
) -> list[FieldError]:
    errors: list[FieldError] = []
    known = [
        value.strip()
        for value in (old.get("spec") or {}).get("loadBalancerSourceRanges") or ()
    ]
    old_annotations = (old.get("metadata") or {}).get("annotations") or {}
    balanced = type_ == "LoadBalancer"
    ranges = spec.get("loadBalancerSourceRanges") or []
    annotation = "service.beta.kubernetes.io/load-balancer-source-ranges"
    if ranges:
        here = "spec.LoadBalancerSourceRanges"
        if not balanced:
            errors.append(forbidden(here, _ONLY_LOAD_BALANCER))
        for index, value in enumerate(ranges):
            errors += validate_legacy_cidr(value.strip(), f"{here}[{index}]", known)
    elif annotation in (meta.get("annotations") or ()):
        here = f"metadata.annotations[{annotation}]"
        if not balanced:
            errors.append(forbidden(here, _ONLY_LOAD_BALANCER))
        given = meta["annotations"][annotation]
        if given.strip() and given != old_annotations.get(annotation):
            for value in given.strip().split(","):
                errors += validate_legacy_cidr(value.strip(), here)
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        errors.append(
            forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_LOAD_BALANCER)
        )
    if balanced and spec.get("allocateLoadBalancerNodePorts") is None:
        errors.append(required("allocateLoadBalancerNodePorts"))
    class_ = spec.get("loadBalancerClass")
    if class_ is not None:
        if balanced:
            errors += [
                invalid("spec.loadBalancerClass", class_, why)
                for why in content.qualified_name(class_)
            ]
        else:
            errors.append(forbidden("spec.loadBalancerClass", _ONLY_LOAD_BALANCER))
    return errors


def _validate_traffic(spec: Object, type_: str) -> list[FieldError]:
    errors: list[FieldError] = []
    external, internal, port = (
        spec.get("externalTrafficPolicy", ""),
        spec.get("internalTrafficPolicy"),
        spec.get("healthCheckNodePort", 0),
    )
    here = "spec.externalTrafficPolicy"
    if not externally_accessible(spec):
        if external:
            errors.append(
                invalid(
                    here, external, "may only be set for externally-accessible services"
                )
            )
    elif not external:
        errors.append(required(here))
    elif external not in ("Cluster", "Local"):
        errors.append(not_supported(here, external, ("Cluster", "Local")))
    if type_ == "LoadBalancer" and external == "Local":
        if port:  # upstream's allocator has filled it in by now; ours may come later
            errors += [
                invalid("spec.healthCheckNodePort", port, why)
                for why in content.port_number(port)
            ]
    elif port:
        why = (
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy`"
            " is 'Local'"
        )
        errors.append(invalid("spec.healthCheckNodePort", port, why))
    if internal is None:
        if type_ in ("NodePort", "LoadBalancer", "ClusterIP"):
            errors.append(required("spec.internalTrafficPolicy"))
    elif internal not in ("Cluster", "Local"):
        errors.append(
            not_supported("spec.internalTrafficPolicy", internal, ("Cluster", "Local"))
        )
    distribution = spec.get("trafficDistribution")
    if distribution is not None and distribution not in _DISTRIBUTIONS:
        errors.append(
            not_supported("spec.trafficDistribution", distribution, _DISTRIBUTIONS)
        )
    return errors


def validate_service_update(new: Object, old: Object) -> list[FieldError]:
    """Addresses and families, once given, stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if "ExternalName" not in (spec.get("type"), before.get("type")):
        errors += _validate_ips_kept(spec, before)
        errors += _validate_families_kept(spec, before)
    if spec.get("type") == before.get("type") == "LoadBalancer" and spec.get(
        "loadBalancerClass"
    ) != before.get("loadBalancerClass"):
        errors.append(
            invalid("spec.loadBalancerClass", spec.get("loadBalancerClass"), _ONCE)
        )
    checked = all(
        s.get("type") == "LoadBalancer" and s.get("externalTrafficPolicy") == "Local"
        for s in (spec, before)
    )
    if checked and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
        errors.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return errors + _validate_service(new, old)


def _validate_ips_kept(spec: Object, before: Object) -> list[FieldError]:
    if _headless(spec) and _headless(before):
        return []
    after, old = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    if len(after) == len(old):
        return [
            invalid(f"spec.clusterIPs[{i}]", after, _ONCE)
            for i, ip in enumerate(old)
            if ip != after[i]
        ]
    errors: list[FieldError] = []
    if not after:
        errors.append(
            invalid(
                "spec.clusterIPs[0]",
                after or None,
                "primary clusterIP can not be unset",
            )
        )
    if old and after and after[0] != old[0]:
        errors.append(invalid("spec.clusterIPs[0]", after, _ONCE))
    if len(old) > len(after) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        why = "must be set to 'SingleStack' when releasing the secondary clusterIP"
        errors.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), why))
    return errors


def _validate_families_kept(spec: Object, before: Object) -> list[FieldError]:
    if _headless(spec) or _headless(before):
        return []
    after, old = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
    if len(after) == len(old):
        return [
            invalid("spec.ipFamilies[0]", after, _ONCE)
            for i, family in enumerate(old)
            if family != after[i]
        ]
    errors: list[FieldError] = []
    if len(old) > len(after) and not spec.get("clusterIPs"):
        errors.append(
            invalid(
                "spec.ipFamilies[0]", after or None, "primary ipFamily can not be unset"
            )
        )
    if old and after and after[0] != old[0]:
        errors.append(invalid("spec.ipFamilies[0]", spec.get("clusterIPs"), _ONCE))
    if len(old) > len(after) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        why = "must be set to 'SingleStack' when releasing the secondary ipFamily"
        errors.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), why))
    return errors


def validate_service_status_update(new: Object, old: Object) -> list[FieldError]:
    """What a cloud may report."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec = new.get("spec") or {}
    ingresses = ((new.get("status") or {}).get("loadBalancer") or {}).get(
        "ingress"
    ) or []
    if ingresses and spec.get("type") != "LoadBalancer":
        return [
            *errors,
            forbidden(
                "status.loadBalancer.ingress",
                "may only be used when `spec.type` is 'LoadBalancer'",
            ),
        ]
    before = ((old.get("status") or {}).get("loadBalancer") or {}).get("ingress") or []
    known = [ingress.get("ip", "") for ingress in before]
    for index, ingress in enumerate(ingresses):
        here, ip, mode = (
            f"status.loadBalancer.ingress[{index}]",
            ingress.get("ip", ""),
            ingress.get("ipMode"),
        )
        if ip:
            errors += validate_legacy_ip(ip, f"{here}.ip", known)
        if mode is None and ip:
            errors.append(
                required(f"{here}.ipMode", "must be specified when `ip` is set")
            )
        elif mode is not None and not ip:
            errors.append(
                forbidden(f"{here}.ipMode", "may not be specified when `ip` is not set")
            )
        elif mode is not None and mode not in ("Proxy", "VIP"):
            errors.append(not_supported(f"{here}.ipMode", mode, ("Proxy", "VIP")))
        name = ingress.get("hostname", "")
        if name:
            errors += [
                invalid(f"{here}.hostname", name, why)
                for why in content.dns1123_subdomain(name)
            ]
            if parse_ip(name) is not None:
                errors.append(
                    invalid(
                        f"{here}.hostname",
                        name,
                        "must be a DNS name, not an IP address",
                    )
                )
    return errors


def validate_endpoints(endpoints: Object) -> list[FieldError]:
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
            errors += _validate_number_and_protocol(port, place)
            errors += _validate_app_protocol(port, place)
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


def validate_endpoints_update(new: Object, old: Object) -> list[FieldError]:
    """Nothing but the metadata is bound to the old object."""
    return validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + validate_endpoints(new)
