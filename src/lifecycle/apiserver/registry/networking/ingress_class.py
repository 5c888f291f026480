"""IngressClasses: which controller looks after which ingresses.

Upstream: `pkg/apis/networking/v1/defaults.go` (`SetDefaults_IngressClass`),
`pkg/registry/networking/ingressclass/strategy.go`,
`pkg/apis/networking/validation/validation.go` (`ValidateIngressClass` …),
`pkg/printers/internalversion/printers.go` (`printIngressClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.networking.references import validate_reference
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest.defaults import set_default
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.references import validate_domain_prefixed_path
from lifecycle.apiserver.registry.rest.strategy import Strategy

# --- defaults -------------------------------------------------------------------------


def set_defaults(ingress_class: Object) -> None:
    """Parameters are cluster-wide unless they say otherwise."""
    parameters = (ingress_class.get("spec") or {}).get("parameters")
    if parameters is not None:
        set_default(parameters, "scope", "Cluster")


# --- validation -----------------------------------------------------------------------


def validate(ingress_class: Object) -> list[FieldError]:
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
        errors += validate_reference(parameters, "spec.parameters")
        scope, namespace = parameters.get("scope"), parameters.get("namespace")
        if scope is None:
            errors.append(required("spec.parameters.scope"))
        elif scope not in ("Cluster", "Namespace"):
            errors.append(
                not_supported(
                    "spec.parameters.scope", scope, ("Cluster", "Namespace"), plain=True
                )
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


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The controller stays."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    controller = (new.get("spec") or {}).get("controller", "")
    if controller != (old.get("spec") or {}).get("controller", ""):
        errors.append(invalid("spec.controller", controller, IMMUTABLE))
    return errors + validate(new)


# --- table ----------------------------------------------------------------------------


def print_ingress_class(ingress_class: Object, now: float) -> Cells:
    """The cells of `kubectl get ingressclasses`."""
    spec = ingress_class.get("spec") or {}
    parameters, text = spec.get("parameters"), "<none>"
    if parameters is not None:
        group = (
            "" if parameters.get("apiGroup") is None else f".{parameters['apiGroup']}"
        )
        text = f"{parameters['kind']}{group}/{parameters['name']}"
    return [
        ingress_class["metadata"]["name"],
        spec.get("controller", ""),
        text,
        age(ingress_class, now),
    ]


PRINTER = Printer(
    (
        NAME,
        Column("Controller", "Controller that is responsible for handling this class"),
        Column("Parameters", "A reference to a resource with additional parameters"),
        AGE,
    ),
    print_ingress_class,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.SPEC,
    validate=validate,
    validate_update=validate_update,
    printer=PRINTER,
)
