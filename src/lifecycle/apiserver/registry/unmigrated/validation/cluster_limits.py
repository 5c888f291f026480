"""Namespaces, nodes, limit ranges and resource quotas.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidateNamespace`, `ValidateNode`,
`ValidateLimitRange`, `ValidateResourceQuota`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    DUPLICATE,
    FieldError,
    duplicate,
    forbidden,
    internal,
    invalid,
    required,
)
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    is_ipv6,
    parse_network,
    validate_legacy_cidr,
)
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_kube_finalizer_name,
    validate_label_name,
)
from lifecycle.apiserver.registry.unmigrated.validation.compute_resources import (
    is_overcommit_allowed,
    is_standard_quota_resource,
    validate_limit_range_resource_name,
    validate_quantity,
    validate_quota_resource_name,
)
from lifecycle.apiserver.registry.unmigrated.validation.placement import (
    validate_taint_effect,
)


def _validate_finalizer(name: str, path: str) -> list[FieldError]:
    return [
        invalid(path, name, why) for why in content.qualified_name(name)
    ] + validate_kube_finalizer_name(name, path)


def validate_namespace(namespace: Object) -> list[FieldError]:
    """A DNS label for a name, proper finalizers."""
    errors = validate_core_object_meta(
        namespace.get("metadata") or {}, False, content.name_is_dns_label
    )
    for name in (namespace.get("spec") or {}).get("finalizers") or ():
        errors += _validate_finalizer(name, "spec.finalizers")
    return errors


def validate_namespace_status_update(new: Object, old: Object) -> list[FieldError]:
    """The phase follows the deletion timestamp."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    phase = (new.get("status") or {}).get("phase", "")
    if new["metadata"].get("deletionTimestamp") is None:
        if phase != "Active":
            errors.append(
                invalid(
                    "status.Phase",
                    phase,
                    "may only be 'Active' if `deletionTimestamp` is empty",
                )
            )
    elif phase != "Terminating":
        errors.append(
            invalid(
                "status.Phase",
                phase,
                "may only be 'Terminating' if `deletionTimestamp` is not empty",
            )
        )
    return errors


def validate_namespace_finalize_update(new: Object, old: Object) -> list[FieldError]:
    """Finalizers of the spec, through `/finalize` only."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    for index, name in enumerate((new.get("spec") or {}).get("finalizers") or ()):
        errors += _validate_finalizer(name, f"spec.finalizers[{index}]")
    return errors


def _validate_taints(taints: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        here, key, effect = (
            f"{path}[{index}]",
            taint.get("key", ""),
            taint.get("effect", ""),
        )
        errors += validate_label_name(key, f"{here}.key")
        messages = content.label_value(taint.get("value", ""))
        if messages:
            errors.append(
                invalid(f"{here}.value", taint.get("value", ""), ";".join(messages))
            )
        errors += (
            validate_taint_effect(effect, f"{here}.effect")
            if effect
            else [required(f"{here}.effect")]
        )
        if (key, effect) in seen:
            shown = internal_value("core/v1.Taint", taint)
            errors.append(
                FieldError(
                    DUPLICATE,
                    here,
                    shown,
                    "taints must be unique by key and effect pair",
                )
            )
        seen.add((key, effect))
    return errors


def _validate_node_resources(node: Object) -> list[FieldError]:
    errors: list[FieldError] = []
    for group in ("capacity", "allocatable"):
        for name, amount in ((node.get("status") or {}).get(group) or {}).items():
            errors += validate_quantity(name, amount, f"status.{group}.{name}")
    return errors


def validate_node(node: Object) -> list[FieldError]:
    """Taints, amounts and pod networks."""
    errors = validate_core_object_meta(
        node.get("metadata") or {}, False, content.name_is_dns_subdomain
    )
    spec = node.get("spec") or {}
    errors += _validate_taints(spec.get("taints") or [], "metadata.taints")
    errors += _validate_node_resources(node)
    networks = spec.get("podCIDRs") or []
    for index, network in enumerate(networks):
        errors += validate_legacy_cidr(network, f"spec.podCIDRs[{index}]")
    if len(networks) > 1:
        unread = next(
            (i for i, network in enumerate(networks) if parse_network(network) is None),
            None,
        )
        if unread is not None:
            why = (
                f"error:invalid CIDR[{unread}]: <nil> (invalid CIDR address:"
                f" {networks[unread]})"
            )
            errors.append(
                internal(
                    "spec.podCIDRs",
                    f"invalid PodCIDRs. failed to check with dual stack with {why}",
                )
            )
        families = {is_ipv6(network.partition("/")[0]) for network in networks}
        if unread is not None or len(networks) > 2 or len(families) != 2:
            errors.append(
                invalid(
                    "spec.podCIDRs",
                    networks,
                    "may specify no more than one CIDR for each IP family",
                )
            )
    return errors


def validate_node_update(new: Object, old: Object) -> list[FieldError]:
    """Pod networks and the provider's id, once given, stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    errors += _validate_node_resources(new)
    addresses = (new.get("status") or {}).get("addresses") or []
    for index, address in enumerate(addresses):
        if address in addresses[:index]:
            errors.append(
                duplicate(
                    f"status.addresses[{index}]",
                    internal_value("core/v1.NodeAddress", address),
                )
            )
    if before.get("podCIDRs") and spec.get("podCIDRs") != before["podCIDRs"]:
        errors.append(
            forbidden(
                "spec.podCIDRs",
                'node updates may not change podCIDR except from "" to valid',
            )
        )
    if before.get("providerID") and spec.get("providerID") != before["providerID"]:
        errors.append(
            forbidden(
                "spec.providerID",
                'node updates may not change providerID except from "" to valid',
            )
        )
    errors += _validate_taints(spec.get("taints") or [], "metadata.taints")
    if spec.get("externalID") != before.get("externalID"):
        errors.append(forbidden("spec.externalID", "may not be updated"))
    return errors


_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")


def validate_limit_range(limit_range: Object) -> list[FieldError]:
    """Minimum ≤ default request ≤ default ≤ maximum."""
    errors = validate_core_object_meta(
        limit_range.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    types: set[str] = set()
    for index, limit in enumerate((limit_range.get("spec") or {}).get("limits") or ()):
        here, type_ = f"spec.limits[{index}]", limit.get("type", "")
        found = [
            invalid(f"{here}.type", type_, why) for why in content.qualified_name(type_)
        ]
        if not found and "/" not in type_ and type_ not in _LIMIT_TYPES:
            found.append(
                invalid(
                    f"{here}.type",
                    type_,
                    "must be a standard limit type or fully qualified",
                )
            )
        errors += found
        if type_ in types:
            errors.append(duplicate(f"{here}.type", type_))
        types.add(type_)
        errors += _validate_limit_item(limit, type_, here)
    return errors


def _validate_limit_item(limit: Object, type_: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    groups = {
        name: limit.get(name) or {}
        for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
    }

    def names(group: str) -> None:
        for name in groups[group]:
            errors.extend(
                validate_limit_range_resource_name(
                    type_, name, f"{path}.{group}[{name}]"
                )
            )

    names("max")
    names("min")
    if type_ == "Pod":
        for group in ("default", "defaultRequest"):
            if groups[group]:
                errors.append(
                    forbidden(
                        f"{path}.{group}", "may not be specified when `type` is 'Pod'"
                    )
                )
                groups[group] = {}
    else:
        names("default")
        names("defaultRequest")
    if (
        type_ == "PersistentVolumeClaim"
        and "storage" not in groups["min"]
        and "storage" not in groups["max"]
    ):
        why = (
            "either minimum or maximum storage value is required, but neither was"
            " provided"
        )
        errors.append(required(f"{path}.limits", why))
    names("maxLimitRequestRatio")
    for name in sorted({name for group in groups.values() for name in group}):
        errors += _validate_limit_order(name, groups, path)
    return errors


def _validate_limit_order(
    name: str, groups: dict[str, Object], path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    low, high = groups["min"].get(name), groups["max"].get(name)
    default, request, ratio = (
        groups["default"].get(name),
        groups["defaultRequest"].get(name),
        groups["maxLimitRequestRatio"].get(name),
    )

    def greater(one: str | None, other: str | None) -> bool:
        return (
            one is not None
            and other is not None
            and parse_quantity(one) > parse_quantity(other)
        )

    def complain(group: str, value: str | None, why: str) -> None:
        errors.append(invalid(f"{path}.{group}[{name}]", value, why))

    if greater(low, high):
        complain("min", low, f"min value {low} is greater than max value {high}")
    if greater(low, request):
        complain(
            "defaultRequest",
            request,
            f"min value {low} is greater than default request value {request}",
        )
    if greater(request, high):
        complain(
            "defaultRequest",
            request,
            f"default request value {request} is greater than max value {high}",
        )
    if greater(request, default):
        complain(
            "defaultRequest",
            request,
            f"default request value {request} is greater than default limit value"
            f" {default}",
        )
    if greater(low, default):
        complain(
            "default", low, f"min value {low} is greater than default value {default}"
        )
    if greater(default, high):
        complain(
            "default", high, f"default value {default} is greater than max value {high}"
        )
    if ratio is not None:
        if parse_quantity(ratio) < parse_quantity("1"):
            complain("maxLimitRequestRatio", ratio, f"ratio {ratio} is less than 1")
        if low is not None and high is not None and parse_quantity(low).milli():
            limit = parse_quantity(high).milli() / parse_quantity(low).milli()
            if parse_quantity(ratio).milli() / 1000 > limit:
                complain(
                    "maxLimitRequestRatio",
                    ratio,
                    f"ratio {ratio} is greater than max/min = {limit:f}",
                )
    if (
        not is_overcommit_allowed(name)
        and default is not None
        and request is not None
        and (greater(default, request) or greater(request, default))
    ):
        complain(
            "defaultRequest",
            request,
            f"default value {default} must equal to defaultRequest value {request} in"
            f" {name}",
        )
    return errors


_SCOPES = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)
_POD_QUOTA = {
    "pods",
    "cpu",
    "memory",
    "limits.cpu",
    "limits.memory",
    "requests.cpu",
    "requests.memory",
}


def _scope_fits(scope: str, resource: str) -> bool:
    if scope == "BestEffort":
        return resource == "pods"
    if scope in (
        "Terminating",
        "NotTerminating",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
    ):
        return resource in _POD_QUOTA
    if scope == "VolumeAttributesClass":
        return resource in ("persistentvolumeclaims", "requests.storage")
    return True


def _validate_quota_amounts(amounts: Object | None, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for name, amount in (amounts or {}).items():
        errors += validate_quota_resource_name(name, f"{path}[{name}]")
        errors += validate_quantity(name, amount, f"{path}[{name}]")
    return errors


def _conflicting(scopes: list[str]) -> int:
    pairs = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})
    return sum(pair <= set(scopes) for pair in pairs)


def validate_resource_quota_spec(spec: Object) -> list[FieldError]:
    """Known resources, amounts, and scopes that fit them."""
    errors = _validate_quota_amounts(spec.get("hard"), "spec.hard")
    scopes = spec.get("scopes") or []
    standard = [
        name
        for name in sorted(spec.get("hard") or ())
        if is_standard_quota_resource(name)
    ]
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(invalid("spec.scopes", scopes, "unsupported scope"))
        errors += [
            invalid("spec.scopes", scopes, "unsupported scope applied to resource")
            for name in standard
            if not _scope_fits(scope, name)
        ]
    errors += [invalid("spec.scopes", scopes, "conflicting scopes")] * _conflicting(
        scopes
    )
    selector = spec.get("scopeSelector")
    if selector is not None:
        errors += _validate_scope_selector(selector, standard, scopes)
    return errors


def _validate_scope_selector(
    selector: Object, standard: list[str], scopes: list[str]
) -> list[FieldError]:
    errors: list[FieldError] = []
    path = "spec.scopeSelector.matchExpressions"
    requirements = selector.get("matchExpressions") or []
    for requirement in requirements:
        scope, operator, values = (
            requirement.get("scopeName", ""),
            requirement.get("operator", ""),
            requirement.get("values") or [],
        )
        if scope not in _SCOPES:
            errors.append(invalid(f"{path}.scopeName", scope, "unsupported scope"))
        shown = internal_value("core/v1.ScopeSelector", selector)
        errors += [
            invalid(path, shown, "unsupported scope applied to resource")
            for name in standard
            if not _scope_fits(scope, name)
        ]
        if (
            scope in _SCOPES
            and scope not in ("PriorityClass", "VolumeAttributesClass")
            and operator != "Exists"
        ):
            why = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating,"
                " ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort,"
                " ResourceQuotaScopeNotBestEffort or"
                " ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            errors.append(invalid(f"{path}.operator", operator, why))
        if operator in ("In", "NotIn"):
            if not values:
                why = (
                    "must be at least one value when `operator` is 'In' or 'NotIn' for"
                    " scope selector"
                )
                errors.append(required(f"{path}.values", why))
        elif operator in ("Exists", "DoesNotExist"):
            if values:
                why = (
                    "must be no value when `operator` is 'Exist' or 'DoesNotExist' for"
                    " scope selector"
                )
                errors.append(invalid(f"{path}.values", values, why))
        else:
            errors.append(
                invalid(f"{path}.operator", operator, "not a valid selector operator")
            )
    count = _conflicting(
        [requirement.get("scopeName", "") for requirement in requirements]
    )
    return errors + [invalid(path, scopes, "conflicting scopes")] * count


def validate_resource_quota(quota: Object) -> list[FieldError]:
    """A new quota."""
    errors = validate_core_object_meta(
        quota.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    return errors + validate_resource_quota_spec(quota.get("spec") or {})


def validate_resource_quota_update(new: Object, old: Object) -> list[FieldError]:
    """Scopes stay."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += validate_resource_quota_spec(new.get("spec") or {})
    scopes, before = (
        (new.get("spec") or {}).get("scopes") or [],
        (old.get("spec") or {}).get("scopes") or [],
    )
    if set(scopes) != set(before):
        errors.append(invalid("spec.scopes", scopes or None, "field is immutable"))
    return errors


def validate_resource_quota_status_update(new: Object, old: Object) -> list[FieldError]:
    """Amounts only."""
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    status = new.get("status") or {}
    return (
        errors
        + _validate_quota_amounts(status.get("hard"), "status.hard")
        + _validate_quota_amounts(status.get("used"), "status.used")
    )
