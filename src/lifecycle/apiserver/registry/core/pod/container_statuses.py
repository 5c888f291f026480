"""What a kubelet says of containers and of the claims that were made for them.

Upstream: `pkg/apis/core/validation/validation.go`
(`validateContainerStatusAllocatedResourcesStatus`, `validateContainerStatusUsers`,
`validatePodResourceClaimStatuses`, `validatePodExtendedResourceClaimStatus`), v1.36.
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
from lifecycle.apiserver.registry.rest.numbers import MAX_INT32

GROUPS = {
    "containerStatuses": "containers",
    "initContainerStatuses": "initContainers",
    "ephemeralContainerStatuses": "ephemeralContainers",
}
"""Lists of a pod's status, and of its spec what they are about."""

_MAPPED = ("containerName", "resourceName", "requestName")
_HEALTH = ("Healthy", "Unhealthy", "Unknown")


def validate_container_statuses(status: Object, spec: Object) -> list[FieldError]:
    """Devices and users of all containers."""
    errors = []
    for index, entry in enumerate(status.get("ephemeralContainerStatuses") or ()):
        if entry.get("allocatedResourcesStatus") is not None:
            here = f"status.ephemeralContainerStatuses[{index}]"
            why = "must not be specified in container status"
            errors.append(forbidden(f"{here}.allocatedResourcesStatus", why))
    for group in ("initContainerStatuses", "containerStatuses"):
        containers = {c.get("name"): c for c in spec.get(GROUPS[group]) or ()}
        for index, entry in enumerate(status.get(group) or ()):
            errors += _validate_allocated(
                entry, containers.get(entry.get("name")), f"status.{group}[{index}]"
            )
    windows = (spec.get("os") or {}).get("name") == "windows"
    for group in GROUPS:
        for index, entry in enumerate(status.get(group) or ()):
            user, here = entry.get("user") or {}, f"status.{group}[{index}]"
            linux = user.get("linux")
            if linux is not None and windows:
                why = "cannot be set for a windows pod"
                errors.append(forbidden(f"{here}.linux", why))
            elif linux is not None:
                errors += _validate_linux_user(linux, f"{here}.user.linux")
    return errors


def _validate_allocated(
    entry: Object, container: Object | None, path: str
) -> list[FieldError]:
    """The state of each device, of which a resource has each once. A container that
    the pod has not is not asked for them.
    """
    errors = []
    for index, allocated in enumerate(entry.get("allocatedResourcesStatus") or ()):
        here = f"{path}.allocatedResourcesStatus[{index}]"
        name = allocated.get("name", "")
        why = ""
        if container is not None:
            why = _not_asked_for(name, container.get("resources") or {})
        if why:
            errors.append(invalid(f"{here}.name", Named(name), why))
        devices: set[str] = set()
        for position, device in enumerate(allocated.get("resources") or ()):
            health, device_id = device.get("health", ""), device.get("resourceID", "")
            there = f"{here}.resources[{position}]"
            if health not in _HEALTH:
                errors.append(not_supported(f"{there}.health", health, _HEALTH))
            if device_id in devices:
                errors.append(duplicate(f"{there}.resourceID", Named(device_id)))
            devices.add(device_id)
    return errors


def _not_asked_for(name: str, resources: Object) -> str:
    if not name.startswith("claim:"):
        known = name in (resources.get("requests") or {})
        return "" if known else "must match one of the container's resource requests"
    claims = {
        "/".join(filter(None, (claim.get("name", ""), claim.get("request"))))
        for claim in resources.get("claims") or ()
    }
    if name.removeprefix("claim:") in claims:
        return ""
    return (
        "must match one of the container's resource claims in a format"
        " 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
    )


def _validate_linux_user(user: Object, path: str) -> list[FieldError]:
    ids = [(f"{path}.{key}", user.get(key, 0)) for key in ("uid", "gid")]
    ids += [
        (f"{path}.supplementalGroups[{index}]", group)
        for index, group in enumerate(user.get("supplementalGroups") or ())
    ]
    why = content.range_error(0, MAX_INT32)
    return [invalid(where, id_, why) for where, id_ in ids if not 0 <= id_ <= MAX_INT32]


def validate_claim_statuses(status: Object, spec: Object) -> list[FieldError]:
    """Claims that were made for the pod's own entries."""
    errors = []
    known = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    seen: set[str] = set()
    for index, entry in enumerate(status.get("resourceClaimStatuses") or ()):
        here, name = f"status.resourceClaimStatuses[{index}]", entry.get("name", "")
        if name not in known:
            why = "must match the name of an entry in `spec.resourceClaims`"
            errors.append(invalid(f"{here}.name", name, why))
        if name in seen:
            errors.append(duplicate(f"{here}.name", name))
        seen.add(name)
        made = entry.get("resourceClaimName")
        if made is not None:
            errors += [
                invalid(f"{here}.resourceClaimName", Named(made), why)
                for why in content.dns1123_subdomain(made)
            ]
    extended = status.get("extendedResourceClaimStatus")
    return errors + ([] if extended is None else _validate_extended(extended, spec))


def _validate_extended(extended: Object, spec: Object) -> list[FieldError]:
    """The claim that stands for extended resources: which request is for whom."""
    errors = []
    path = "status.extendedResourceClaimStatus"
    mappings = extended.get("requestMappings") or []
    if not mappings:
        why = "at least one request mapping is required"
        errors.append(required(f"{path}.requestMappings", why))
    asked = {
        container.get("name", ""): (container.get("resources") or {}).get("requests")
        for group in ("initContainers", "containers")
        for container in spec.get(group) or ()
    }
    seen: set[tuple[str, ...]] = set()
    for index, mapping in enumerate(mappings):
        here = f"{path}.requestMappings[{index}]"
        names = {key: mapping.get(key, "") for key in _MAPPED}
        container, resource, request = names.values()
        if container not in asked:
            why = (
                "must match the name of an entry in spec.initContainers.name or"
                " spec.containers.name"
            )
            errors.append(invalid(f"{here}.containerName", container, why))
        elif resource not in (asked[container] or ()):
            why = (
                "must match the extended resource name of an entry in"
                " spec.initContainers.resources.requests or"
                " spec.containers.resources.requests"
            )
            errors.append(invalid(f"{here}.resourceName", resource, why))
        errors += [
            invalid(f"{path}.requestName", request, why)
            for why in content.dns1123_label(request)
        ]
        if (container, resource, request) in seen:
            errors += [duplicate(f"{here}.{key}", name) for key, name in names.items()]
        seen.add((container, resource, request))
    name = extended.get("resourceClaimName", "")
    if not name:
        return [*errors, required(f"{path}.resourceClaimName")]
    return errors + [
        invalid(f"{path}.resourceClaimName", name, why)
        for why in content.dns1123_subdomain(name)
    ]
