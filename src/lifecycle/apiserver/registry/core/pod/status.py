"""The subresource `status` of a pod: what its kubelet says of it.

Upstream: `pkg/registry/core/pod/strategy.go` (`podStatusStrategy`),
`pkg/apis/core/validation/validation.go` (`ValidatePodStatusUpdate`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.field_errors import FieldError, Named, forbidden, internal, invalid
from lifecycle.api.fieldpath.field_sets import LEAF
from lifecycle.api.http.wire import Object
from lifecycle.api.pods.restart_policy import (
    all_containers_could_restart,
    container_should_restart,
)
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import (
    is_ipv6,
    parse_ip,
    validate_legacy_ip,
    warnings_for_ip,
)
from lifecycle.apiserver.registry.core.pod.annotations import (
    validate_annotation_updates,
)
from lifecycle.apiserver.registry.core.pod.container_statuses import (
    GROUPS,
    validate_claim_statuses,
    validate_container_statuses,
)
from lifecycle.apiserver.registry.core.pod.disabled_fields import (
    drop_disabled_status_fields,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta_update,
)
from lifecycle.apiserver.registry.rest.strategy import UpdateStrategy


def prepare_for_update(new: Object, old: Object) -> None:
    """Owners and the end of its life are not the status's business."""
    update.prepare_for_status_update(new, old)
    for key in ("ownerReferences", "deletionTimestamp"):
        update.take_over(new["metadata"], old["metadata"], key)
    status = new.get("status") or {}
    if not status.get("qosClass") and (old.get("status") or {}).get("qosClass"):
        new["status"] = {**status, "qosClass": old["status"]["qosClass"]}
    _keep_observed_generations(new, old)
    new["status"] = dict(new.get("status") or {})
    drop_disabled_status_fields(new["status"], old.get("status") or {})


def _keep_observed_generations(new: Object, old: Object) -> None:
    """A client that does not know `observedGeneration` must not erase it."""
    old_status = old.get("status") or {}
    status = new.get("status") or {}
    known: dict[str, list[int]] = {}
    for condition in old_status.get("conditions") or ():
        known.setdefault(condition.get("type", ""), []).append(
            condition.get("observedGeneration", 0)
        )
    if not any(map(any, known.values())) and not old_status.get("observedGeneration"):
        return
    conditions = []
    for condition in status.get("conditions") or ():
        generations = known.get(condition.get("type", ""))
        generation = generations.pop(0) if generations else 0
        if generation and not condition.get("observedGeneration"):
            condition = {**condition, "observedGeneration": generation}
        conditions.append(condition)
    status = dict(status)
    if conditions:
        status["conditions"] = conditions
    if not status.get("observedGeneration") and old_status.get("observedGeneration"):
        status["observedGeneration"] = old_status["observedGeneration"]
    new["status"] = status


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """What a kubelet may say: terminated containers of a pod that does not restart stay
    terminated.
    """
    errors = validate_core_object_meta_update(new["metadata"], old["metadata"])
    errors += validate_annotation_updates(new, old)
    status, before = new.get("status") or {}, old.get("status") or {}
    for index, condition in enumerate(status.get("conditions") or ()):
        here, type_ = f"status.conditions[{index}]", condition.get("type", "")
        errors += _not_negative_generation(condition, here)
        errors += [
            invalid(f"{here}.Type", type_, why) for why in content.qualified_name(type_)
        ]
    errors += _not_negative_generation(status, "status")
    nominated = status.get("nominatedNodeName", "")
    if nominated and nominated != before.get("nominatedNodeName", ""):
        errors += [
            invalid("status.nominatedNodeName", nominated, why)
            for why in content.dns1123_subdomain(nominated)
        ]
        if (new.get("spec") or {}).get("nodeName"):
            why = "may not be set on pods that are already bound to a node"
            errors.append(forbidden("status.nominatedNodeName", why))
    if (status.get("qosClass") or "") != (before.get("qosClass") or ""):
        errors.append(
            invalid("status.qosClass", Named(status.get("qosClass") or ""), IMMUTABLE)
        )
    for group in GROUPS:
        errors += _validate_stays_terminated(
            status, before, old.get("spec") or {}, group
        )
    spec = new.get("spec") or {}
    errors += validate_claim_statuses(status, spec)
    errors += _validate_addresses(status, before, "podIPs", "core/v1.PodIP")
    hosts = status.get("hostIPs") or []
    if hosts and status.get("hostIP", "") != hosts[0].get("ip", ""):
        first, why = hosts[0].get("ip", ""), "must be equal to `hostIP`"
        errors.append(invalid("status.hostIPs[0].ip", first, why))
    errors += _validate_addresses(status, before, "hostIPs", "core/v1.HostIP")
    return errors + validate_container_statuses(status, spec)


def _validate_addresses(
    status: Object, before: Object, group: str, type_: str
) -> list[FieldError]:
    """Each is one, and of two each has a family of its own. Upstream: `validatePodIPs`,
    `validateHostIPs`.
    """
    path = f"status.{group}"
    known = [entry.get("ip", "") for entry in before.get(group) or ()]
    ips = [entry.get("ip", "") for entry in status.get(group) or ()]
    errors = [
        error
        for index, ip in enumerate(ips)
        for error in validate_legacy_ip(ip, f"{path}[{index}]", known)
    ]
    if len(ips) < 2:
        return errors
    unread = next((i for i, ip in enumerate(ips) if parse_ip(ip) is None), None)
    if unread is not None:
        why = f"error:invalid IP[{unread}]: {ips[unread]}"
        errors.append(internal(path, f"failed to check for dual stack with {why}"))
    if unread is not None or len(ips) > 2 or is_ipv6(ips[0]) == is_ipv6(ips[1]):
        shown = internal_value(f"[]{type_}", status[group])
        why = "may specify no more than one IP for each IP family"
        errors.append(invalid(path, shown, why))
    return errors


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """Addresses that are not written as everybody does."""
    status = new.get("status") or {}
    return [
        warning
        for group in ("podIPs", "hostIPs")
        for index, entry in enumerate(status.get(group) or ())
        for warning in warnings_for_ip(
            entry.get("ip", ""), f"status.{group}[{index}].ip"
        )
    ]


def _not_negative_generation(holder: Object, path: str) -> list[FieldError]:
    generation = holder.get("observedGeneration", 0)
    if generation >= 0:
        return []
    why = "must be a non-negative integer"
    return [invalid(f"{path}.observedGeneration", generation, why)]


def _validate_stays_terminated(
    status: Object, before: Object, spec: Object, group: str
) -> list[FieldError]:
    """What has ended stays so, unless its policy starts it again. An ephemeral
    container has none.
    """
    containers: dict[Any, Object] = {}
    if group != "ephemeralContainerStatuses":
        if all_containers_could_restart(spec):
            return []
        containers = {
            container.get("name"): container
            for container in spec.get(GROUPS[group]) or ()
        }
    alive = {
        s.get("name")
        for s in status.get(group) or ()
        if (s.get("state") or {}).get("terminated") is None
    }
    errors: list[FieldError] = []
    for index, entry in enumerate(before.get(group) or ()):
        ended = (entry.get("state") or {}).get("terminated")
        if ended is None or entry.get("name") not in alive:
            continue
        container = containers.get(entry.get("name"))
        if container is None or not container_should_restart(
            spec, container, ended.get("exitCode") or 0
        ):
            why = "may not be transitioned to non-terminated state"
            errors.append(forbidden(f"status.{group}[{index}].state", why))
    return errors


STATUS = UpdateStrategy(
    prepare_for_update,
    validate_update,
    warnings_on_update=warnings_on_update,
    reset_fields={
        "f:metadata": {"f:deletionTimestamp": LEAF, "f:ownerReferences": LEAF},
        "f:spec": LEAF,
    },
)
