"""What bindings of both kinds have: a policy, its parameters, and which requests they
are about.

Upstream: `pkg/apis/admissionregistration/v1/defaults.go`,
`pkg/apis/admissionregistration/validation/validation.go`
(`validateValidatingAdmissionPolicyBindingSpec`, `validateParamRef`),
`pkg/printers/internalversion/printers.go` (`printValidatingAdmissionPolicyBinding`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.go.format import go_label_selector
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.admissionregistration.match_criteria import (
    set_match_resources_defaults,
    validate_match_resources,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)
from lifecycle.apiserver.registry.rest.label_selectors import validate_label_selector
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta

# --- defaults -------------------------------------------------------------------------


def set_policy_binding_defaults(binding: Object) -> None:
    """Equivalent requests everywhere, if the binding narrows down at all."""
    set_match_resources_defaults((binding.get("spec") or {}).get("matchResources"))


# --- validation -----------------------------------------------------------------------


def validate_policy_binding(
    binding: Object, *, mutating: bool = False
) -> list[FieldError]:
    """What is wrong with the part that both kinds have."""
    spec = binding.get("spec") or {}
    errors = validate_object_meta(
        binding.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    name = spec.get("policyName") or ""
    if not name:
        errors.append(required("spec.policyName"))
    errors += [
        invalid("spec.policyName", name, why)
        for why in (content.name_is_dns_subdomain(name, False) if name else ())
    ]
    if spec.get("paramRef") is not None:
        errors += _validate_param_ref(spec["paramRef"])
    if spec.get("matchResources") is not None:
        errors += validate_match_resources(
            spec["matchResources"], "spec.matchResources", mutating=mutating
        )
    return errors


def _validate_param_ref(reference: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    name, selector, path = (
        reference.get("name") or "",
        reference.get("selector"),
        "spec.paramRef",
    )
    if name:
        errors += [
            invalid(f"{path}.name", name, why)
            for why in content.name_is_path_segment(name, False)
        ]
        if selector is not None:
            errors.append(
                forbidden(f"{path}.name", "name and selector are mutually exclusive")
            )
    if selector is not None:
        errors += validate_label_selector(selector, f"{path}.selector")
        if name:
            errors.append(
                forbidden(
                    f"{path}.selector", "name and selector are mutually exclusive"
                )
            )
    if not name and selector is None:
        errors.append(required(path, "one of name or selector must be specified"))
    action = reference.get("parameterNotFoundAction")
    if not action:
        errors.append(required(f"{path}.parameterNotFoundAction"))
    elif action not in ("Allow", "Deny"):
        errors.append(
            not_supported(f"{path}.parameterNotFoundAction", action, ("Deny", "Allow"))
        )
    return errors


# --- table ----------------------------------------------------------------------------


def print_policy_binding(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get validatingadmissionpolicybindings` and the like."""
    spec = obj.get("spec") or {}
    return [
        obj["metadata"]["name"],
        spec.get("policyName", ""),
        _format_param_ref(spec.get("paramRef")),
        age(obj, now),
    ]


def _format_param_ref(param: Object | None) -> str:
    """Whether the parameter is namespaced cannot be told from here, so one without a
    namespace gets `*`.
    """
    if param and param.get("name"):
        return f"{param.get('namespace') or '*'}/{param['name']}"
    if param and param.get("selector") is not None:
        return go_label_selector(param["selector"])
    return "<unset>"


PRINTER = Printer(
    (
        NAME,
        Column(
            "PolicyName",
            "PolicyName indicates the policy definition which the policy binding"
            " binded to",
        ),
        Column(
            "ParamRef",
            "ParamRef indicates the param resource which sets the configration param",
        ),
        AGE,
    ),
    print_policy_binding,
)
