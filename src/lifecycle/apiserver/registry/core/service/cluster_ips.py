"""`clusterIP`, `clusterIPs`, families and policy of a Service: one story, that goes on.

Upstream: `pkg/apis/core/validation/validation.go`
(`ValidateServiceClusterIPsRelatedFields`, `validateUpgradeDowngradeClusterIPs`,
`validateUpgradeDowngradeIPFamilies`), v1.36. Left out: what only the allocators can
know (ranges, collisions).
"""

from __future__ import annotations

from collections.abc import Collection

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    invalid,
    not_supported,
    required,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation.addresses import is_ipv6, validate_legacy_ip
from lifecycle.apiserver.registry.rest.enum import validate_enum

IMMUTABLE_ONCE_SET = "may not change once set"


def is_headless(spec: Object) -> bool:
    """Without an address of its own."""
    return spec.get("clusterIPs") == ["None"]


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
    errors += validate_enum("spec.ipFamilyPolicy", policy, policies)
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
        address_errors = validate_legacy_ip(address, f"spec.clusterIPs[{index}]", old)
        broken = broken or bool(address_errors)
        errors += address_errors
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
    if not is_headless(spec):
        for index, (address, family) in enumerate(zip(ips, families)):
            if family in ("IPv4", "IPv6") and is_ipv6(address) != (family == "IPv6"):
                why = (
                    f"expected an {family} value as indicated by `ipFamilies[{index}]`"
                )
                errors.append(invalid(f"spec.clusterIPs[{index}]", address, why))
    return errors


def validate_cluster_ips_stay(spec: Object, before: Object) -> list[FieldError]:
    """The first address stays; a second one may come or go."""
    if is_headless(spec) and is_headless(before):
        return []
    after, old = spec.get("clusterIPs") or [], before.get("clusterIPs") or []
    if len(after) == len(old):
        return [
            invalid(f"spec.clusterIPs[{i}]", after, IMMUTABLE_ONCE_SET)
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
        errors.append(invalid("spec.clusterIPs[0]", after, IMMUTABLE_ONCE_SET))
    if len(old) > len(after) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        why = "must be set to 'SingleStack' when releasing the secondary clusterIP"
        errors.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), why))
    return errors


def validate_ip_families_stay(spec: Object, before: Object) -> list[FieldError]:
    """The same of the families."""
    if is_headless(spec) or is_headless(before):
        return []
    after, old = spec.get("ipFamilies") or [], before.get("ipFamilies") or []
    if len(after) == len(old):
        return [
            invalid("spec.ipFamilies[0]", after, IMMUTABLE_ONCE_SET)
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
        errors.append(
            invalid("spec.ipFamilies[0]", spec.get("clusterIPs"), IMMUTABLE_ONCE_SET)
        )
    if len(old) > len(after) == 1 and spec.get("ipFamilyPolicy") != "SingleStack":
        why = "must be set to 'SingleStack' when releasing the secondary ipFamily"
        errors.append(invalid("spec.ipFamilyPolicy", spec.get("ipFamilyPolicy"), why))
    return errors
