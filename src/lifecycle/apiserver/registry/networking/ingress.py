"""Ingresses: which host and path leads to which Service.

Upstream: `pkg/registry/networking/ingress/strategy.go`,
`pkg/apis/networking/validation/validation.go` (`ValidateIngressSpec` …),
`pkg/printers/internalversion/printers.go` (`printIngress`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, not_supported, required
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import parse_ip, validate_legacy_ip
from lifecycle.apiserver.registry.core.service.table import ingress_points
from lifecycle.apiserver.registry.networking.references import validate_reference
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.ingress_points import (
    warnings_on_status_update,
)
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- validation -----------------------------------------------------------------------


_PATH_TYPES = ("Exact", "ImplementationSpecific", "Prefix")

_BAD_SEQUENCES = ("//", "/./", "/../", "%2f", "%2F")

_BAD_SUFFIXES = ("/..", "/.")

_CLASS_ANNOTATION = "kubernetes.io/ingress.class"


def validate(ingress: Object) -> list[FieldError]:
    """A new Ingress: the old annotation must not contradict the class."""
    errors = _validate_ingress(ingress)
    annotation = ((ingress.get("metadata") or {}).get("annotations") or {}).get(
        _CLASS_ANNOTATION
    )
    class_ = (ingress.get("spec") or {}).get("ingressClassName")
    if annotation is not None and class_ is not None and annotation != class_:
        why = "must match `ingressClassName` when both are specified"
        errors.append(invalid(f"annotations.{_CLASS_ANNOTATION}", annotation, why))
    return errors


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """A changed Ingress."""
    return validate_core_object_meta_update(
        new["metadata"], old["metadata"]
    ) + _validate_ingress(new)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """Where the Ingress can be reached: addresses, which may stay as they were, and
    names. Upstream: `ValidateIngressLoadBalancerStatus`.
    """
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    known = [point.get("ip", "") for point in _points(old)]
    for index, point in enumerate(_points(new)):
        here = f"status.loadBalancer.ingress[{index}]"
        if point.get("ip"):
            errors += validate_legacy_ip(point["ip"], f"{here}.ip", known)
        name = point.get("hostname", "")
        if name:
            errors += [
                invalid(f"{here}.hostname", name, why)
                for why in content.dns1123_subdomain(name)
            ]
            if parse_ip(name) is not None:
                why = "must be a DNS name, not an IP address"
                errors.append(invalid(f"{here}.hostname", name, why))
    return errors


def _points(ingress: Object) -> list[Object]:
    balancer = (ingress.get("status") or {}).get("loadBalancer") or {}
    return balancer.get("ingress") or []


def _validate_ingress(ingress: Object) -> list[FieldError]:
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
        return validate_reference(resource, f"{path}.resource")
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


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(ingress: Object) -> list[str]:
    """Of the annotation that `ingressClassName` has replaced."""
    if _CLASS_ANNOTATION in ((ingress.get("metadata") or {}).get("annotations") or {}):
        return [
            f'annotation "{_CLASS_ANNOTATION}" is deprecated, please use'
            " 'spec.ingressClassName' instead"
        ]
    return []


# --- table ----------------------------------------------------------------------------


def print_ingress(ingress: Object, now: float) -> Cells:
    """The cells of `kubectl get ingresses`."""
    spec = ingress.get("spec") or {}
    class_name = spec.get("ingressClassName")
    return [
        ingress["metadata"]["name"],
        "<none>" if class_name is None else class_name,
        _hosts(spec.get("rules") or []),
        ",".join(ingress_points(ingress)),
        "80, 443" if spec.get("tls") else "80",
        age(ingress, now),
    ]


def _hosts(rules: list[Object]) -> str:
    """The first three hosts; the rest is counted in rules, hosts or not."""
    hosts: list[str] = []
    more = False
    for rule in rules:
        more = more or len(hosts) == 3
        if not more and rule.get("host"):
            hosts.append(rule["host"])
    text = ",".join(hosts) or "*"
    return f"{text} + {len(rules) - 3} more..." if more else text


PRINTER = Printer(
    (
        NAME,
        Column(
            "Class",
            "The name of the IngressClass resource that should be used for"
            " additional configuration",
        ),
        Column(
            "Hosts",
            "Hosts that incoming requests are matched against before the ingress rule",
        ),
        Column(
            "Address",
            "Address is a list containing ingress points for the load-balancer",
        ),
        Column("Ports", "Ports of TLS configurations that open"),
        AGE,
    ),
    print_ingress,
)

STRATEGY = Strategy(
    generation=Generation.SPEC,
    validate=validate,
    warnings_on_create=warnings_on_create,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_update,
            validate_status_update,
            warnings_on_update=warnings_on_status_update,
        )
    },
    printer=PRINTER,
)
