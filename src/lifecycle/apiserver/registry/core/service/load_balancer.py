"""What a Service says about load balancers and traffic, and what a cloud reports.

Upstream: `pkg/apis/core/validation/validation.go` (`validateLoadBalancerClassField`,
`validateServiceExternalTrafficPolicy`, `validateServiceInternalTrafficFieldsValue`,
`ValidateLoadBalancerStatus`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    parse_ip,
    validate_legacy_cidr,
    validate_legacy_ip,
)
from lifecycle.apiserver.registry.core.service.types import (
    INTERNAL_TRAFFIC_POLICIES,
    externally_accessible,
)
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta_update,
)

_DISTRIBUTIONS = ("PreferClose", "PreferSameZone", "PreferSameNode")

_ONLY_LOAD_BALANCER = "may only be used when `type` is 'LoadBalancer'"


def validate_load_balancer_class(spec: Object) -> list[FieldError]:
    """Who balances: only of type LoadBalancer."""
    name, here = spec.get("loadBalancerClass"), "spec.loadBalancerClass"
    if name is None:
        return []
    if spec.get("type") != "LoadBalancer":
        return [forbidden(here, _ONLY_LOAD_BALANCER)]
    return [invalid(here, name, why) for why in content.qualified_name(name)]


def validate_load_balancer(
    meta: Object, spec: Object, type_: str, old: Object
) -> list[FieldError]:
    """Source ranges, node ports, class: only of type LoadBalancer."""
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
        annotated = meta["annotations"][annotation]
        if annotated.strip() and annotated != old_annotations.get(annotation):
            for value in annotated.strip().split(","):
                errors += validate_legacy_cidr(value.strip(), here)
    if spec.get("allocateLoadBalancerNodePorts") is not None and not balanced:
        errors.append(
            forbidden("spec.allocateLoadBalancerNodePorts", _ONLY_LOAD_BALANCER)
        )
    if balanced and spec.get("allocateLoadBalancerNodePorts") is None:
        errors.append(required("allocateLoadBalancerNodePorts"))
    errors += validate_load_balancer_class(spec)
    return errors


def validate_traffic(spec: Object, type_: str) -> list[FieldError]:
    """Traffic policies, the health check's port, distribution."""
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
                    here,
                    Named(external),
                    "may only be set for externally-accessible services",
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
    elif internal not in INTERNAL_TRAFFIC_POLICIES:
        path = "spec.internalTrafficPolicy"
        errors.append(not_supported(path, internal, INTERNAL_TRAFFIC_POLICIES))
    distribution = spec.get("trafficDistribution")
    errors += validate_enum(
        "spec.trafficDistribution", distribution, _DISTRIBUTIONS, plain=True
    )
    return errors


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
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
