"""Where a pod may run: affinity, tolerations, topology spread.

Upstream: `pkg/apis/core/validation/validation.go` (`validateAffinity`,
`ValidateTolerations`, `validateTopologySpreadConstraints`, `ValidateNodeSelector`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    Named,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.rest.enum import validate_enum
from lifecycle.apiserver.registry.rest.label_selectors import (
    validate_label_selector,
    validate_requirement,
)
from lifecycle.apiserver.registry.rest.object_meta import validate_label_name

REQUIRED_RULE = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_RULE = "preferredDuringSchedulingIgnoredDuringExecution"
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_BOTH = "exists in both matchLabelKeys and labelSelector"


def validate_affinity(affinity: Object, path: str) -> list[FieldError]:
    """Node affinity, pod affinity and anti-affinity."""
    errors: list[FieldError] = []
    node = affinity.get("nodeAffinity")
    if node is not None:
        here = f"{path}.nodeAffinity"
        if node.get(REQUIRED_RULE) is not None:
            errors += validate_node_selector(
                node[REQUIRED_RULE], f"{here}.{REQUIRED_RULE}"
            )
        for index, term in enumerate(node.get(PREFERRED_RULE) or ()):
            place = f"{here}.{PREFERRED_RULE}[{index}]"
            errors += _validate_weight(term, place)
            errors += _validate_node_term(
                term.get("preference") or {}, f"{place}.preference", check_values=False
            )
    for name in ("podAffinity", "podAntiAffinity"):
        pods = affinity.get(name)
        if pods is None:
            continue
        for index, term in enumerate(pods.get(REQUIRED_RULE) or ()):
            errors += _validate_pod_term(
                term, f"{path}.{name}.{REQUIRED_RULE}[{index}]"
            )
        for index, weighted in enumerate(pods.get(PREFERRED_RULE) or ()):
            place = f"{path}.{name}.{PREFERRED_RULE}[{index}]"
            errors += _validate_weight(weighted, place)
            errors += _validate_pod_term(
                weighted.get("podAffinityTerm") or {}, f"{place}.podAffinityTerm"
            )
    return errors


def _validate_weight(term: Object, path: str) -> list[FieldError]:
    weight = term.get("weight", 0)
    return (
        []
        if 1 <= weight <= 100
        else [invalid(f"{path}.weight", weight, "must be in the range 1-100")]
    )


def validate_node_selector(selector: Object, path: str) -> list[FieldError]:
    """At least one term."""
    terms = selector.get("nodeSelectorTerms") or []
    if not terms:
        return [
            required(
                f"{path}.nodeSelectorTerms", "must have at least one node selector term"
            )
        ]
    errors: list[FieldError] = []
    for index, term in enumerate(terms):
        errors += _validate_node_term(
            term, f"{path}.nodeSelectorTerms[{index}]", check_values=True
        )
    return errors


def _validate_node_term(
    term: Object, path: str, *, check_values: bool
) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        errors += validate_requirement(
            requirement, here, compares=True, check_values=check_values
        )
    for index, requirement in enumerate(term.get("matchFields") or ()):
        errors += _validate_node_field(requirement, f"{path}.matchFields[{index}]")
    return errors


def _validate_node_field(requirement: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    operator, values, key = (
        requirement.get("operator", ""),
        requirement.get("values") or [],
        requirement.get("key", ""),
    )
    if operator in ("In", "NotIn"):
        if len(values) != 1:
            why = (
                "must be only one value when `operator` is 'In' or 'NotIn' for node"
                " field selector"
            )
            errors.append(required(f"{path}.values", why))
    else:
        errors.append(
            invalid(
                f"{path}.operator", Named(operator), "not a valid selector operator"
            )
        )
    if key != "metadata.name":
        errors.append(invalid(f"{path}.key", key, "not a valid field selector key"))
    else:
        for index, value in enumerate(values):
            errors += [
                invalid(f"{path}.values[{index}]", value, why)
                for why in content.dns1123_subdomain(value)
            ]
    return errors


def _validate_pod_term(term: Object, path: str) -> list[FieldError]:
    errors = validate_label_selector(term.get("labelSelector"), f"{path}.labelSelector")
    errors += validate_label_selector(
        term.get("namespaceSelector"), f"{path}.namespaceSelector"
    )
    for name in term.get("namespaces") or ():
        errors += [
            invalid(f"{path}.namespace", name, why)
            for why in content.dns1123_label(name)
        ]
    errors += _validate_label_keys(term, path)
    key = term.get("topologyKey", "")
    if not key:
        errors.append(required(f"{path}.topologyKey", "can not be empty"))
    return errors + validate_label_name(key, f"{path}.topologyKey")


def _validate_label_keys(term: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    match, mismatch = (
        term.get("matchLabelKeys") or [],
        term.get("mismatchLabelKeys") or [],
    )
    selector = term.get("labelSelector")
    for name, keys in (("matchLabelKeys", match), ("mismatchLabelKeys", mismatch)):
        if keys and selector is None:
            errors.append(
                forbidden(
                    f"{path}.{name}",
                    "must not be specified when labelSelector is not set",
                )
            )
            continue
        for index, key in enumerate(keys):
            errors += validate_label_name(key, f"{path}.{name}[{index}]")
    if selector is not None and match:
        known = set(selector.get("matchLabels") or ())
        for requirement in selector.get("matchExpressions") or ():
            key = requirement.get("key", "")
            if key in match and key in known:
                last = len(match) - 1 - match[::-1].index(key)
                errors.append(invalid(f"{path}[{last}]", key, _BOTH))
            known.add(key)
    for index, key in enumerate(match):
        if key in mismatch:
            errors.append(
                invalid(
                    f"{path}.matchLabelKeys[{index}]",
                    key,
                    "exists in both matchLabelKeys and mismatchLabelKeys",
                )
            )
    return errors


def validate_tolerations(tolerations: list[Object], path: str) -> list[FieldError]:
    """Key, operator, value, effect and seconds must go together."""
    errors: list[FieldError] = []
    for index, toleration in enumerate(tolerations):
        here = f"{path}[{index}]"
        key, operator, value = (
            toleration.get("key", ""),
            toleration.get("operator", ""),
            toleration.get("value", ""),
        )
        effect = toleration.get("effect", "")
        if key:
            errors += validate_label_name(key, f"{here}.key")
        elif operator != "Exists":
            why = (
                'operator must be Exists when `key` is empty, which means "match all'
                ' values and all keys"'
            )
            errors.append(invalid(f"{here}.operator", Named(operator), why))
        if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
            errors.append(
                invalid(
                    f"{here}.effect",
                    effect,
                    "effect must be 'NoExecute' when `tolerationSeconds` is set",
                )
            )
        if operator in ("Equal", ""):
            messages = content.label_value(value)
            if messages:
                errors.append(invalid(f"{here}.operator", value, ";".join(messages)))
        elif operator == "Exists":
            if value:
                errors.append(
                    invalid(
                        f"{here}.operator",
                        value,
                        "value must be empty when `operator` is 'Exists'",
                    )
                )
        else:
            # who asks to compare is shown what will be once the gate
            # TaintTolerationComparisonOperators is open
            known = ["Equal", "Exists"]
            if operator in ("Lt", "Gt"):
                known += ["Lt", "Gt"]
            errors.append(not_supported(f"{here}.operator", operator, known))
        if effect:
            errors += validate_taint_effect(effect, f"{here}.effect")
    return errors


def validate_taint_effect(effect: str, path: str) -> list[FieldError]:
    """One of the three effects."""
    return [] if effect in _EFFECTS else [not_supported(path, effect, _EFFECTS)]


def validate_topology_spread_constraints(
    constraints: list[Object], path: str
) -> list[FieldError]:
    """Skew, topology and what to do when it cannot be kept."""
    errors: list[FieldError] = []
    for index, constraint in enumerate(constraints):
        here = f"{path}[{index}]"
        skew, key = constraint.get("maxSkew", 0), constraint.get("topologyKey", "")
        action = constraint.get("whenUnsatisfiable", "")
        if skew <= 0:
            errors.append(invalid(f"{here}.maxSkew", skew, "must be greater than zero"))
        if not key:
            errors.append(required(f"{here}.topologyKey", "can not be empty"))
        if action not in ("DoNotSchedule", "ScheduleAnyway"):
            errors.append(
                not_supported(
                    f"{here}.whenUnsatisfiable",
                    action,
                    ("DoNotSchedule", "ScheduleAnyway"),
                )
            )
        for other in constraints[index + 1 :]:
            if (
                other.get("topologyKey", "") == key
                and other.get("whenUnsatisfiable", "") == action
            ):
                errors.append(
                    duplicate(
                        f"{here}.{{topologyKey, whenUnsatisfiable}}",
                        f"{{{key}, {action}}}",
                    )
                )
                break
        domains = constraint.get("minDomains")
        if domains is not None:
            if domains <= 0:
                errors.append(
                    invalid(f"{here}.minDomains", domains, "must be greater than zero")
                )
            if action != "DoNotSchedule":
                why = (
                    "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not"
                    f" {action}"
                )
                errors.append(invalid(f"{here}.minDomains", domains, why))
        for name in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
            policy = constraint.get(name)
            errors += validate_enum(f"{here}.{name}", policy, ("Honor", "Ignore"))
        errors += _validate_label_keys(constraint, here)
        errors += validate_label_selector(
            constraint.get("labelSelector"), f"{here}.labelSelector"
        )
    return errors
