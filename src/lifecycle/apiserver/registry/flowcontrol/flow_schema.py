"""FlowSchemas: which requests go to which priority level.

Upstream: `pkg/apis/flowcontrol/v1/defaults.go`,
`pkg/registry/flowcontrol/flowschema/strategy.go`,
`pkg/apis/flowcontrol/validation/validation.go` (`ValidateFlowSchema` …),
`pkg/printers/internalversion/printers.go` (`printFlowSchema`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.field_errors import (
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.flowcontrol.conditions import validate_conditions
from lifecycle.apiserver.registry.flowcontrol.mandatory import (
    EXEMPT,
    validate_mandatory_schema,
)
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.object_meta import validate_core_object_meta
from lifecycle.apiserver.registry.rest.strategy import (
    METADATA_AND_SPEC_FIELDS,
    Strategy,
    UpdateStrategy,
)

_HIGHEST_PRECEDENCE = 10000
_VERBS = (
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "proxy",
    "update",
    "watch",
)
_KINDS = {"Group": "group", "ServiceAccount": "serviceAccount", "User": "user"}


# --- defaults -------------------------------------------------------------------------


def set_defaults(schema: Object) -> None:
    """Precedence 1000."""
    spec = schema.setdefault("spec", {})
    if not spec.get("matchingPrecedence"):
        spec["matchingPrecedence"] = 1000


# --- validation -----------------------------------------------------------------------


def validate(schema: Object) -> list[FieldError]:
    """Precedence, the level it leads to, and whom it is about."""
    meta, spec = schema.get("metadata") or {}, schema.get("spec") or {}
    errors = validate_core_object_meta(meta, False, content.name_is_dns_subdomain)
    path, precedence = "spec.matchingPrecedence", spec.get("matchingPrecedence", 0)
    if precedence <= 0:
        errors.append(invalid(path, precedence, "must be a positive value"))
    if precedence > _HIGHEST_PRECEDENCE:
        errors.append(
            invalid(path, precedence, f"must not be greater than {_HIGHEST_PRECEDENCE}")
        )
    if precedence == 1 and meta.get("name") != EXEMPT:
        errors.append(
            invalid(
                path,
                precedence,
                "only the schema named 'exempt' may have matchingPrecedence 1",
            )
        )
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in ("ByNamespace", "ByUser"):
        method_value = {"Type": method.get("type", "")}
        errors.append(
            not_supported(
                "spec.distinguisherMethod.type", method_value, ("ByNamespace", "ByUser")
            )
        )
    level = (spec.get("priorityLevelConfiguration") or {}).get("name", "")
    if not level:
        errors.append(
            required(
                "spec.priorityLevelConfiguration.name",
                "must reference a priority level",
            )
        )
    else:
        errors += _content_errors(
            "spec.priorityLevelConfiguration.name", level, content.dns1123_subdomain
        )
    for index, rule in enumerate(spec.get("rules") or ()):
        errors += _validate_rule(rule, f"spec.rules[{index}]")
    errors += validate_mandatory_schema(meta.get("name", ""), spec)
    return errors + validate_conditions(schema)


def validate_status_update(new: Object, old: Object) -> list[FieldError]:
    """The conditions. Upstream: `ValidateFlowSchemaStatusUpdate`."""
    return validate_conditions(new)


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """The same."""
    return validate(new)


def _content_errors(
    path: str, value: str, rule: Callable[[str], tuple[str, ...]]
) -> list[FieldError]:
    return [invalid(path, value, why) for why in rule(value)]


def _validate_rule(rule: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if not rule.get("subjects"):
        errors.append(
            required(f"{path}.subjects", "subjects must contain at least one value")
        )
    for index, subject in enumerate(rule.get("subjects") or ()):
        errors += _validate_subject(subject, f"{path}.subjects[{index}]")
    resources, urls = (
        rule.get("resourceRules") or [],
        rule.get("nonResourceRules") or [],
    )
    if not resources and not urls:
        errors.append(
            required(
                path,
                "at least one of resourceRules and nonResourceRules has to be"
                " non-empty",
            )
        )
    for index, one in enumerate(resources):
        errors += _validate_resource_rule(one, f"{path}.resourceRules[{index}]")
    for index, one in enumerate(urls):
        errors += _validate_url_rule(one, f"{path}.nonResourceRules[{index}]")
    return errors


def _validate_subject(subject: Object, path: str) -> list[FieldError]:
    kind = subject.get("kind", "")
    field = _KINDS.get(kind)
    if field is None:
        return [not_supported(f"{path}.kind", kind, _KINDS)]
    errors: list[FieldError] = []
    member, here = subject.get(field), f"{path}.{field}"
    if member is None:
        errors.append(
            required(here, f"{field} is required when subject kind is '{kind}'")
        )
    else:
        name, namespace = member.get("name", ""), member.get("namespace", "")
        if not name:
            errors.append(required(f"{here}.name"))
        elif kind == "ServiceAccount" and name != "*":
            errors += _content_errors(f"{here}.name", name, content.dns1123_subdomain)
        if kind == "ServiceAccount" and namespace:
            errors += _content_errors(
                f"{here}.namespace", namespace, content.dns1123_label
            )
        elif kind == "ServiceAccount":
            errors.append(
                required(
                    f"{here}.namespace", "must specify namespace for service account"
                )
            )
    for other in ("serviceAccount", "user", "group"):
        if other != field and subject.get(other) is not None:
            required_kind = next(kind for kind, name in _KINDS.items() if name == other)
            errors.append(
                forbidden(
                    f"{path}.{other}",
                    f"{other} is forbidden when subject kind is not '{required_kind}'",
                )
            )
    return errors


def _validate_verbs(rule: Object, path: str) -> list[FieldError]:
    verbs = rule.get("verbs") or []
    if not verbs:
        return [required(f"{path}.verbs", "verbs must contain at least one value")]
    if "*" in verbs:
        return _validate_star_alone(verbs, f"{path}.verbs", "verbs")
    return (
        []
        if set(verbs) <= set(_VERBS)
        else [not_supported(f"{path}.verbs", verbs, _VERBS)]
    )


def _validate_star_alone(values: list[str], path: str, what: str) -> list[FieldError]:
    if "*" in values and len(values) > 1:
        return [
            invalid(path, values, f"if '*' is present, must not specify other {what}")
        ]
    return []


def _validate_resource_rule(rule: Object, path: str) -> list[FieldError]:
    errors = _validate_verbs(rule, path)
    for key, what in (("apiGroups", "api group"), ("resources", "resource")):
        values = rule.get(key) or []
        if not values:
            errors.append(
                required(
                    f"{path}.{key}", f"resource rules must supply at least one {what}"
                )
            )
        errors += _validate_star_alone(values, f"{path}.{key}", f"{what}s")
    namespaces = rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        why = (
            "resource rules that are not cluster scoped must supply at least one"
            " namespace"
        )
        errors.append(required(f"{path}.namespaces", why))
    elif "*" in namespaces:
        errors += _validate_star_alone(namespaces, f"{path}.namespaces", "namespaces")
    else:
        for index, name in enumerate(namespaces):
            for why in content.dns1123_label(name):
                why = f"each member of this list must be '*' or a DNS-1123 label; {why}"
                errors.append(invalid(f"{path}.namespaces[{index}]", name, why))
    return errors


def _validate_url_rule(rule: Object, path: str) -> list[FieldError]:
    errors = _validate_verbs(rule, path)
    urls = rule.get("nonResourceURLs") or []
    if not urls:
        errors.append(
            required(
                f"{path}.nonResourceURLs",
                "nonResourceURLs must contain at least one value",
            )
        )
    elif "*" in urls:
        errors += _validate_star_alone(
            urls, f"{path}.nonResourceURLs", "non-resource URLs"
        )
    else:
        for index, url in enumerate(urls):
            why = _url_problem(url)
            if why:
                errors.append(invalid(f"{path}.nonResourceURLs[{index}]", url, why))
    return errors


def _url_problem(url: str) -> str:
    if not url:
        return "must not be empty"
    if not url.startswith("/"):
        return "must start with slash"
    if " " in url:
        return "must not contain white-space"
    if "//" in url:
        return "must not contain double slash"
    stars = url.count("*")
    return (
        "wildcard can only do suffix matching"
        if stars > 1 or (stars and not url.endswith("/*"))
        else ""
    )


# --- table ----------------------------------------------------------------------------


def print_flow_schema(obj: Object, now: float) -> Cells:
    """The cells of `kubectl get flowschemas`."""
    spec = obj.get("spec") or {}
    method = spec.get("distinguisherMethod")
    conditions = (obj.get("status") or {}).get("conditions") or ()
    return [
        obj["metadata"]["name"],
        (spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        spec.get("matchingPrecedence", 0),
        "<none>" if method is None else method.get("type", ""),
        age(obj, now),
        next(
            (c.get("status", "") for c in conditions if c.get("type") == "Dangling"),
            "?",
        ),
    ]


_SPEC = "flowcontrol/v1.FlowSchemaSpec"

PRINTER = Printer(
    (
        NAME,
        Column(
            "PriorityLevel",
            field("flowcontrol/v1.PriorityLevelConfigurationReference", "name"),
        ),
        Column("MatchingPrecedence", field(_SPEC, "matchingPrecedence")),
        Column("DistinguisherMethod", field(_SPEC, "distinguisherMethod")),
        AGE,
        Column(
            "MissingPL",
            "references a broken or non-existent PriorityLevelConfiguration",
        ),
    ),
    print_flow_schema,
    order=lambda schema: (
        (schema.get("spec") or {}).get("matchingPrecedence", 0),
        schema["metadata"]["name"],
    ),
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    generation=Generation.SPEC,
    validate=validate,
    validate_update=validate_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_alone,
            validate_status_update,
            reset_fields=METADATA_AND_SPEC_FIELDS,
        )
    },
    printer=PRINTER,
)
