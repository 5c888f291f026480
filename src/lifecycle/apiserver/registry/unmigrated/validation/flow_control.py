"""Priority and fairness: flow schemas and priority levels.

Upstream: `pkg/apis/flowcontrol/validation/validation.go`, v1.36. Left out: the
comparison of the mandatory objects (`exempt`, `catch-all`) with their fixed specs.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.validation import content
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import validate_core_object_meta

_HIGHEST_PRECEDENCE = 10000
_MOST_QUEUES = 10_000_000
_HASH_BITS = 60
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


def validate_flow_schema(schema: Object) -> list[FieldError]:
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
    if precedence == 1 and meta.get("name") != "exempt":
        errors.append(
            invalid(
                path,
                precedence,
                "only the schema named 'exempt' may have matchingPrecedence 1",
            )
        )
    method = spec.get("distinguisherMethod")
    if method is not None and method.get("type") not in ("ByNamespace", "ByUser"):
        shown = {"Type": method.get("type", "")}
        errors.append(
            not_supported(
                "spec.distinguisherMethod.type", shown, ("ByNamespace", "ByUser")
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
        errors += _complaints(
            "spec.priorityLevelConfiguration.name", level, content.dns1123_subdomain
        )
    for index, rule in enumerate(spec.get("rules") or ()):
        errors += _validate_rule(rule, f"spec.rules[{index}]")
    return errors + _validate_conditions(schema)


def _complaints(
    path: str, value: str, rule: Callable[[str], tuple[str, ...]]
) -> list[FieldError]:
    return [invalid(path, value, why) for why in rule(value)]


def _validate_conditions(obj: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, condition in enumerate(
        (obj.get("status") or {}).get("conditions") or ()
    ):
        type_, path = condition.get("type", ""), f"status.conditions[{index}].type"
        if type_ in seen:
            errors.append(duplicate(path, type_))
        seen.add(type_)
        if not type_:
            errors.append(required(path, "must not be empty"))
    return errors


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
    given, here = subject.get(field), f"{path}.{field}"
    if given is None:
        errors.append(
            required(here, f"{field} is required when subject kind is '{kind}'")
        )
    else:
        name, namespace = given.get("name", ""), given.get("namespace", "")
        if not name:
            errors.append(required(f"{here}.name"))
        elif kind == "ServiceAccount" and name != "*":
            errors += _complaints(f"{here}.name", name, content.dns1123_subdomain)
        if kind == "ServiceAccount" and namespace:
            errors += _complaints(f"{here}.namespace", namespace, content.dns1123_label)
        elif kind == "ServiceAccount":
            errors.append(
                required(
                    f"{here}.namespace", "must specify namespace for service account"
                )
            )
    for other in ("serviceAccount", "user", "group"):
        if other != field and subject.get(other) is not None:
            wanted = next(kind for kind, name in _KINDS.items() if name == other)
            errors.append(
                forbidden(
                    f"{path}.{other}",
                    f"{other} is forbidden when subject kind is not '{wanted}'",
                )
            )
    return errors


def _validate_verbs(rule: Object, path: str) -> list[FieldError]:
    verbs = rule.get("verbs") or []
    if not verbs:
        return [required(f"{path}.verbs", "verbs must contain at least one value")]
    if "*" in verbs:
        return _alone(verbs, f"{path}.verbs", "verbs")
    return (
        []
        if set(verbs) <= set(_VERBS)
        else [not_supported(f"{path}.verbs", verbs, _VERBS)]
    )


def _alone(values: list[str], path: str, what: str) -> list[FieldError]:
    if "*" in values and len(values) > 1:
        return [
            invalid(path, values, f"if '*' is present, must not specify other {what}")
        ]
    return []


def _validate_resource_rule(rule: Object, path: str) -> list[FieldError]:
    errors = _validate_verbs(rule, path)
    for field, what in (("apiGroups", "api group"), ("resources", "resource")):
        values = rule.get(field) or []
        if not values:
            errors.append(
                required(
                    f"{path}.{field}", f"resource rules must supply at least one {what}"
                )
            )
        errors += _alone(values, f"{path}.{field}", f"{what}s")
    namespaces = rule.get("namespaces") or []
    if not namespaces and not rule.get("clusterScope"):
        why = (
            "resource rules that are not cluster scoped must supply at least one"
            " namespace"
        )
        errors.append(required(f"{path}.namespaces", why))
    elif "*" in namespaces:
        errors += _alone(namespaces, f"{path}.namespaces", "namespaces")
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
        errors += _alone(urls, f"{path}.nonResourceURLs", "non-resource URLs")
    else:
        for index, url in enumerate(urls):
            why = _url_complaint(url)
            if why:
                errors.append(invalid(f"{path}.nonResourceURLs[{index}]", url, why))
    return errors


def _url_complaint(url: str) -> str:
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


# --- priority levels ------------------------------------------------------------------


def validate_priority_level(level: Object) -> list[FieldError]:
    """Exempt, or limited in some way."""
    meta, spec = level.get("metadata") or {}, level.get("spec") or {}
    errors = validate_core_object_meta(meta, False, content.name_is_dns_subdomain)
    type_, exempt, limited = (
        spec.get("type", ""),
        spec.get("exempt"),
        spec.get("limited"),
    )
    if (meta.get("name") == "exempt") != (type_ == "Exempt"):
        errors.append(
            invalid(
                "spec.type",
                type_,
                "type must be 'Exempt' if and only if name is 'exempt'",
            )
        )
    if type_ == "Exempt":
        if limited is not None:
            errors.append(
                forbidden("spec.limited", "must be nil if the type is not Limited")
            )
        if exempt is None:
            errors.append(
                required("spec.exempt", "must not be empty when type is Exempt")
            )
        else:
            errors += _validate_shares(exempt, "spec.exempt") + _validate_lending(
                exempt, "spec.exempt"
            )
    elif type_ == "Limited":
        if exempt is not None:
            errors.append(
                forbidden("spec.exempt", "must be nil if the type is Limited")
            )
        if limited is None:
            errors.append(
                required("spec.limited", "must not be empty when type is Limited")
            )
        else:
            errors += _validate_limited(limited, "spec.limited")
    else:
        errors.append(not_supported("spec.type", type_, ("Exempt", "Limited")))
    return errors + _validate_conditions(level)


def _validate_shares(one: Object, path: str) -> list[FieldError]:
    shares = one.get("nominalConcurrencyShares")
    if shares is not None and shares < 0:
        return [
            invalid(
                f"{path}.nominalConcurrencyShares",
                shares,
                "must be a non-negative integer",
            )
        ]
    return []


def _validate_lending(one: Object, path: str) -> list[FieldError]:
    percent = one.get("lendablePercent")
    if percent is not None and not 0 <= percent <= 100:
        return [
            invalid(f"{path}.lendablePercent", percent, content.range_error(0, 100))
        ]
    return []


def _validate_limited(limited: Object, path: str) -> list[FieldError]:
    errors = _validate_shares(limited, path)
    response, here = limited.get("limitResponse") or {}, f"{path}.limitResponse"
    type_, queuing = response.get("type", ""), response.get("queuing")
    if type_ == "Reject":
        if queuing is not None:
            errors.append(
                forbidden(
                    f"{here}.queuing",
                    "must be nil if limited.limitResponse.type is not Limited",
                )
            )
    elif type_ == "Queue":
        if queuing is None:
            why = "must not be empty if limited.limitResponse.type is Limited"
            errors.append(required(f"{here}.queuing", why))
        else:
            errors += _validate_queuing(queuing, f"{here}.queuing")
    else:
        errors.append(not_supported(f"{here}.type", type_, ("Queue", "Reject")))
    errors += _validate_lending(limited, path)
    borrowing = limited.get("borrowingLimitPercent")
    if borrowing is not None and borrowing < 0:
        why = "if specified, must be a non-negative integer"
        errors.append(invalid(f"{path}.borrowingLimitPercent", borrowing, why))
    return errors


def _validate_queuing(queuing: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    limit, queues, hand = (
        queuing.get(field, 0) for field in ("queueLengthLimit", "queues", "handSize")
    )
    if limit <= 0:
        errors.append(invalid(f"{path}.queueLengthLimit", limit, "must be positive"))
    if queues <= 0:
        errors.append(invalid(f"{path}.queues", queues, "must be positive"))
    elif queues > _MOST_QUEUES:
        errors.append(
            invalid(
                f"{path}.queues", queues, f"must not be greater than {_MOST_QUEUES}"
            )
        )
    if hand <= 0:
        errors.append(invalid(f"{path}.handSize", hand, "must be positive"))
    elif hand > queues:
        errors.append(
            invalid(
                f"{path}.handSize",
                hand,
                f"should not be greater than queues ({queues})",
            )
        )
    elif math.ceil(math.log2(queues) * hand) > _HASH_BITS:
        why = (
            f"required entropy bits of deckSize {queues} and handSize {hand} should not"
            f" be greater than {_HASH_BITS}"
        )
        errors.append(invalid(f"{path}.handSize", hand, why))
    return errors
