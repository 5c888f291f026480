"""Which families of addresses a Service has, and how many it must have; our clusters
have IPv4 to give out.

Whoever says nothing gets one address of the cluster's family. A headless Service
without selector may name any family: whoever writes its endpoints decides. An update
that says nothing keeps what there was.

Upstream: `pkg/registry/core/service/storage/alloc.go` (`initIPFamilyFields`,
`isMatchingPreferDualStackClusterIPFields`), v1.36. Left out: clusters with a second
range.
"""

from __future__ import annotations

from lifecycle.api import status
from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.service.cluster_ips import validate_cluster_ips

HEADLESS = "None"
CONFIGURED = ("IPv4",)
OTHER = {"IPv4": "IPv6", "IPv6": "IPv4"}


def init_ip_family_fields(service: Object, old: Object | None) -> None:
    """Fill in policy and families. `old`: what is updated. Raises StatusError 422."""
    spec, before = service["spec"], (old or {}).get("spec") or {}
    if old is not None and _matching_prefer_dual_stack(spec, before):
        return
    selectorless = spec.get("clusterIP") == HEADLESS and not spec.get("selector")
    if spec.get("ipFamilyPolicy") is None:
        inferred = "RequireDualStack" if selectorless else "SingleStack"
        spec["ipFamilyPolicy"] = before.get("ipFamilyPolicy") or inferred
    _refuse(service, validate_cluster_ips(spec, before.get("clusterIPs") or ()))
    errors = _fit_policy(spec, before) if old is not None else []
    _refuse(service, [*errors, *_infer_families(spec)])
    families = spec.get("ipFamilies") or []
    if selectorless:
        families = families or list(CONFIGURED)
        more = (
            [OTHER[families[0]]]
            if len(families) < 2 and spec["ipFamilyPolicy"] != "SingleStack"
            else []
        )
        spec["ipFamilies"] = [*families, *more]
        return
    if spec["ipFamilyPolicy"] == "RequireDualStack":
        why = "this cluster is not configured for dual-stack services"
        errors.append(invalid("spec.ipFamilyPolicy", spec["ipFamilyPolicy"], why))
    for index, family in enumerate(families):
        if family not in CONFIGURED:
            errors.append(
                invalid(
                    f"spec.ipFamilies[{index}]",
                    family,
                    "not configured on this cluster",
                )
            )
    _refuse(service, errors)
    spec["ipFamilies"] = families or list(CONFIGURED)


def _refuse(service: Object, errors: list[FieldError]) -> None:
    if errors:
        raise status.invalid(
            "Service",
            service["metadata"].get("name", ""),
            [error.cause() for error in errors],
        )


def _matching_prefer_dual_stack(spec: Object, before: Object) -> bool:
    """Whether nothing about addresses changes; a Service that would like two is not
    given the second by any odd update.
    """
    if (
        spec.get("type") != before.get("type")
        or spec.get("ipFamilyPolicy") != "PreferDualStack"
    ):
        return False
    same = all(
        (spec.get(key) or []) == (before.get(key) or [])
        for key in ("clusterIPs", "ipFamilies")
    )
    return same and before.get("ipFamilyPolicy") in (None, "PreferDualStack")


def _fit_policy(spec: Object, before: Object) -> list[FieldError]:
    """An update to a single stack lets the second of each go; under another policy
    nothing may be taken away.
    """
    errors: list[FieldError] = []
    for key, what in (("clusterIPs", "cluster IP"), ("ipFamilies", "IP family")):
        now, then = spec.get(key) or [], before.get(key) or []
        if spec["ipFamilyPolicy"] == "SingleStack":
            if now == then and len(now) > 1:
                spec[key] = now[:1]
        elif now and len(now) < len(then):
            why = f"must be 'SingleStack' to release the secondary {what}"
            errors.append(invalid("spec.ipFamilyPolicy", spec["ipFamilyPolicy"], why))
    return errors


def _infer_families(spec: Object) -> list[FieldError]:
    """Families that follow from the addresses; and a single stack has one of each."""
    errors: list[FieldError] = []
    ips, families = spec.get("clusterIPs") or [], list(spec.get("ipFamilies") or [])
    if spec["ipFamilyPolicy"] == "SingleStack":
        for values, what in ((ips, "cluster IPs"), (families, "IP families")):
            if len(values) == 2:
                why = (
                    "must be 'RequireDualStack' or 'PreferDualStack' when multiple"
                    f" {what} are specified"
                )
                errors.append(
                    invalid("spec.ipFamilyPolicy", spec["ipFamilyPolicy"], why)
                )
    for index, address in enumerate(ips):
        if address == HEADLESS:
            break
        family = "IPv6" if ":" in address else "IPv4"
        if index < len(families):
            continue
        if family in CONFIGURED:
            families.append(family)
        else:
            errors.append(
                invalid(
                    f"spec.clusterIPs[{index}]",
                    ips,
                    f"{family} is not configured on this cluster",
                )
            )
    if families:
        spec["ipFamilies"] = families
    return errors
