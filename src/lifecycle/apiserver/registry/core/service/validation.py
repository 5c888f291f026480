"""What a Service may be.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateService`,
`ValidateServiceUpdate`), v1.36, gate `RelaxedServiceNameValidation` on: a name may
begin with a digit.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    validate_legacy_ip,
    validate_non_special_ip,
)
from lifecycle.apiserver.registry.core.pod.probes import (
    validate_port_number_or_name,
)
from lifecycle.apiserver.registry.core.service.cluster_ips import (
    IMMUTABLE_ONCE_SET,
    is_headless,
    validate_cluster_ips,
    validate_cluster_ips_stay,
    validate_ip_families_stay,
)
from lifecycle.apiserver.registry.core.service.load_balancer import (
    validate_load_balancer,
    validate_load_balancer_class,
    validate_traffic,
)
from lifecycle.apiserver.registry.core.service.ports import (
    validate_app_protocol,
    validate_number_and_protocol,
)
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_labels,
)

TYPES = ("ClusterIP", "ExternalName", "LoadBalancer", "NodePort")

_NOT_EXTERNAL_NAME = "may not be set for ExternalName services"

MAX_AFFINITY_SECONDS = 86400


def validate(service: Object) -> list[FieldError]:
    """A new Service."""
    meta = service.get("metadata") or {}
    return validate_core_object_meta(
        meta, True, content.name_is_dns_label
    ) + _validate_service(service, {})


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
    if not ports and not is_headless(spec) and type_ != "ExternalName":
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
        address_errors = validate_legacy_ip(
            address, here, before.get("externalIPs") or ()
        )
        errors += address_errors or validate_non_special_ip(address, here)
    errors += validate_required_enum("spec.type", type_, TYPES)
    errors += _validate_port_numbers(ports, type_)
    errors += validate_load_balancer(meta, spec, type_, old)
    return errors + validate_traffic(spec, type_)


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


def _validate_by_type(spec: Object, type_: str) -> list[FieldError]:
    if type_ in ("LoadBalancer", "NodePort"):
        why = f"may not be set to 'None' for {type_} services"
        return [invalid("spec.clusterIPs[0]", "None", why)] if is_headless(spec) else []
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
    errors += validate_number_and_protocol(port, path)
    errors += validate_port_number_or_name(
        port.get("targetPort", 0), f"{path}.targetPort"
    )
    return errors + validate_app_protocol(port, path)


def _validate_affinity(spec: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    affinity, config = (
        spec.get("sessionAffinity", ""),
        spec.get("sessionAffinityConfig"),
    )
    errors += validate_required_enum(
        "spec.sessionAffinity", affinity, ("ClientIP", "None")
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
            value = internal_value(
                "core/v1.ServicePort", {"protocol": key[0], "port": key[1]}
            )
            errors.append(duplicate(f"spec.ports[{index}]", value))
        seen.add(key)
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Addresses and families, once given, stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    if "ExternalName" not in (spec.get("type"), before.get("type")):
        errors += validate_cluster_ips_stay(spec, before)
        errors += validate_ip_families_stay(spec, before)
    if spec.get("type") == before.get("type") == "LoadBalancer" and spec.get(
        "loadBalancerClass"
    ) != before.get("loadBalancerClass"):
        errors.append(
            invalid(
                "spec.loadBalancerClass",
                spec.get("loadBalancerClass"),
                IMMUTABLE_ONCE_SET,
            )
        )
    errors += validate_load_balancer_class(spec)
    checked = all(
        s.get("type") == "LoadBalancer" and s.get("externalTrafficPolicy") == "Local"
        for s in (spec, before)
    )
    if checked and spec.get("healthCheckNodePort") != before.get("healthCheckNodePort"):
        errors.append(forbidden("spec.healthCheckNodePort", "field is immutable"))
    return errors + _validate_service(new, old)
