"""A pod spec, in a Pod or in a workload's template.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePodSpec`,
`ValidatePodTemplateSpec`), v1.36.
"""

from __future__ import annotations

import re

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import validate_legacy_ip
from lifecycle.apiserver.registry.core.pod.containers import (
    PodContext,
    validate_containers,
    validate_ephemeral_containers,
    validate_init_containers,
)
from lifecycle.apiserver.registry.core.pod.operating_systems import (
    containers_with_path,
    validate_host_process,
    validate_os,
)
from lifecycle.apiserver.registry.core.pod.placement import (
    validate_affinity,
    validate_tolerations,
    validate_topology_spread_constraints,
)
from lifecycle.apiserver.registry.core.pod.resources import (
    is_huge_page,
    validate_pod_resource_name,
    validate_resource_requirements,
)
from lifecycle.apiserver.registry.core.pod.security_contexts import (
    validate_host_users,
    validate_pod_security_context,
)
from lifecycle.apiserver.registry.core.pod.volumes import validate_volumes
from lifecycle.apiserver.registry.rest.enum import validate_required_enum
from lifecycle.apiserver.registry.rest.numbers import MAX_INT32
from lifecycle.apiserver.registry.rest.object_meta import (
    validate_annotations,
    validate_labels,
)

RESTART_POLICIES = ("Always", "OnFailure", "Never")
DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_HOSTNAME_LIMIT = 64
_SEARCH = re.compile(
    r"_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*"
)


def validate_pod_spec(
    spec: Object,
    path: str,
    *,
    pod_name: str = "",
    in_pod: bool = False,
    is_mirror: bool = False,
) -> list[FieldError]:
    """Everything wrong with a pod spec, in upstream's order."""
    errors: list[FieldError] = []
    grace_period = spec.get("terminationGracePeriodSeconds")
    if grace_period is None:
        errors.append(required(f"{path}.terminationGracePeriodSeconds"))
    volumes: dict[str, Object] = {}
    if spec.get("volumes"):
        volumes, volume_errors = validate_volumes(
            spec["volumes"], pod_name, f"{path}.volumes"
        )
        errors += volume_errors
    claims: set[str] = set()
    if spec.get("resourceClaims"):
        claims = {claim.get("name", "") for claim in spec["resourceClaims"]} - {""}
        if is_mirror:
            errors += [
                forbidden("[]", "static pods do not support resource claims")
            ] * len(spec["resourceClaims"])
        else:
            errors += _validate_resource_claims(
                spec["resourceClaims"], f"{path}.resourceClaims"
            )
    restart_policy = spec.get("restartPolicy", "")
    pod = PodContext(
        volumes,
        claims,
        grace_period,
        restart_policy,
        spec.get("hostUsers") is not False,
    )
    containers = spec.get("containers") or []
    errors += validate_containers(containers, pod, f"{path}.containers")
    if spec.get("initContainers"):
        errors += validate_init_containers(
            spec["initContainers"], containers, pod, f"{path}.initContainers"
        )
    if spec.get("ephemeralContainers"):
        errors += validate_ephemeral_containers(
            spec["ephemeralContainers"], spec, pod, f"{path}.ephemeralContainers"
        )
    if spec.get("resources") is not None:
        errors += _validate_pod_resources(spec, claims, f"{path}.resources")
    if spec.get("hostNetwork"):
        errors += _validate_host_network_ports(containers, in_pod, f"{path}.containers")
    errors += validate_required_enum(
        f"{path}.restartPolicy", restart_policy, RESTART_POLICIES
    )
    errors += validate_required_enum(
        f"{path}.dnsPolicy", spec.get("dnsPolicy"), DNS_POLICIES
    )
    if spec.get("nodeSelector"):
        errors += validate_labels(spec["nodeSelector"], f"{path}.nodeSelector")
    errors += validate_pod_security_context(spec, path)
    if spec.get("affinity"):
        errors += validate_affinity(spec["affinity"], f"{path}.affinity")
    errors += _validate_dns_config(spec, f"{path}.dnsConfig")
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        condition = gate.get("conditionType", "")
        here = f"{path}.readinessGates[{index}].conditionType"
        errors += [
            invalid(here, condition, why) for why in content.qualified_name(condition)
        ]
    if spec.get("schedulingGates"):
        errors += _validate_scheduling_gates(
            spec["schedulingGates"], f"{path}.schedulingGates"
        )
    if spec.get("topologySpreadConstraints"):
        errors += validate_topology_spread_constraints(
            spec["topologySpreadConstraints"], f"{path}.topologySpreadConstraints"
        )
    errors += validate_host_process(spec, path)
    errors += validate_host_users(spec, path)
    errors += _validate_hostname_override(spec, path)
    return (
        errors
        + _validate_names_and_limits(spec, path)
        + _validate_file_key_volumes(spec, path)
    )


def _validate_names_and_limits(spec: Object, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    for field in ("serviceAccountName", "nodeName"):
        if spec.get(field):
            errors += [
                invalid(f"{path}.{field}", spec[field], why)
                for why in content.dns1123_subdomain(spec[field])
            ]
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= MAX_INT32:
        errors.append(
            invalid(
                f"{path}.activeDeadlineSeconds",
                deadline,
                content.range_error(1, MAX_INT32),
            )
        )
    for field in ("hostname", "subdomain"):
        if spec.get(field):
            errors += [
                invalid(f"{path}.{field}", spec[field], why)
                for why in content.dns1123_label(spec[field])
            ]
    if spec.get("tolerations"):
        errors += validate_tolerations(spec["tolerations"], f"{path}.tolerations")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        here = f"{path}.hostAliases[{index}]"
        errors += validate_legacy_ip(alias.get("ip", ""), f"{here}.ip")
        for position, name in enumerate(alias.get("hostnames") or ()):
            errors += [
                invalid(f"{here}.hostnames[{position}]", name, why)
                for why in content.dns1123_subdomain(name)
            ]
    name, runtime = spec.get("priorityClassName"), spec.get("runtimeClassName")
    if name:
        errors += [
            invalid(f"{path}.priorityClassName", name, why)
            for why in content.dns1123_subdomain(name)
        ]
    if runtime is not None:
        errors += [
            invalid(f"{path}.runtimeClassName", runtime, why)
            for why in content.dns1123_subdomain(runtime)
        ]
    policy = spec.get("preemptionPolicy")
    if policy is not None:
        errors += validate_required_enum(
            f"{path}.preemptionPolicy", policy, PREEMPTION_POLICIES
        )
    if spec.get("overhead"):
        errors += validate_resource_requirements(
            {"limits": spec["overhead"]}, f"{path}.overhead"
        )
    return errors + validate_os(spec, path)


def _validate_hostname_override(spec: Object, path: str) -> list[FieldError]:
    """A whole name of at most what Linux takes, for a pod that has its own host name at
    all.
    """
    name, here = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if name is None:
        return []
    errors: list[FieldError] = []
    for field in ("setHostnameAsFQDN", "hostNetwork"):
        if spec.get(field):
            errors.append(forbidden(here, f"may not be specified when {field} is true"))
    if len(name.encode()) > _HOSTNAME_LIMIT:
        errors.append(too_long(here, _HOSTNAME_LIMIT))
    return errors + [
        invalid(here, name, why) for why in content.dns1123_subdomain(name)
    ]


def _validate_file_key_volumes(spec: Object, path: str) -> list[FieldError]:
    """A variable read from a file reads it from an `emptyDir`. Upstream:
    `validateFileKeyRefVolumes`.
    """
    errors: list[FieldError] = []
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    for container, place in containers_with_path(spec, path):
        for index, variable in enumerate(container.get("env") or ()):
            key = (variable.get("valueFrom") or {}).get("fileKeyRef")
            if key is None:
                continue
            name, here = (
                key.get("volumeName", ""),
                f"{place}.env[{index}].valueFrom.fileKeyRef.volumeName",
            )
            if name not in volumes:
                errors.append(not_found(here, name))
            elif volumes[name].get("emptyDir") is None:
                errors.append(
                    invalid(here, name, "referenced volume must be of type emptyDir")
                )
    return errors


def _validate_resource_claims(claims: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, claim in enumerate(claims):
        here, name = f"{path}[{index}]", claim.get("name", "")
        if not name:
            errors.append(required(f"{here}.name"))
        elif name in names:
            errors.append(duplicate(f"{here}.name", name))
        else:
            errors += [
                invalid(f"{here}.name", name, why)
                for why in content.dns1123_label(name)
            ]
            names.add(name)
        sources = [
            field
            for field in ("resourceClaimName", "resourceClaimTemplateName")
            if claim.get(field) is not None
        ]
        value = internal_value("core/v1.PodResourceClaim", claim)
        if len(sources) == 2:
            errors.append(
                invalid(
                    here,
                    value,
                    "at most one of `resourceClaimName` or `resourceClaimTemplateName`"
                    " may be specified",
                )
            )
        if not sources:
            errors.append(
                invalid(
                    here,
                    value,
                    "must specify one of: `resourceClaimName`,"
                    " `resourceClaimTemplateName`",
                )
            )
        for field in sources:
            errors += [
                invalid(f"{here}.{field}", claim[field], why)
                for why in content.dns1123_subdomain(claim[field])
            ]
    return errors


def _validate_pod_resources(
    spec: Object, claims: set[str], path: str
) -> list[FieldError]:
    from lifecycle.api.pods.resources import (
        aggregate_container_limits,
        aggregate_container_requests,
    )
    from lifecycle.api.quantity import parse_quantity

    resources = spec["resources"]
    if (spec.get("os") or {}).get("name") == "windows":
        return [forbidden(path, "may not be set for a windows pod")]
    errors: list[FieldError] = []
    if resources.get("claims") is not None:
        errors.append(
            forbidden(
                f"{path}.claims",
                "claims may not be set for Resources at pod-level",
                of_empty=not resources["claims"],
            )
        )
    errors += validate_resource_requirements(
        resources, path, claims, validate_pod_resource_name
    )
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, amount in aggregate_container_requests({"spec": spec}).items():
        if name in requests and amount > parse_quantity(requests[name]):
            why = (
                "must be greater than or equal to aggregate container requests of"
                f" {amount}"
            )
            errors.append(invalid(f"{path}.requests[{name}]", requests[name], why))
    for name, amount in aggregate_container_limits({"spec": spec}).items():
        if (
            is_huge_page(name)
            and name in limits
            and amount > parse_quantity(limits[name])
        ):
            why = (
                "must be greater than or equal to aggregate container limits of"
                f" {amount}"
            )
            errors.append(invalid(f"{path}.limits[{name}]", limits[name], why))
    for index, container in enumerate(spec.get("containers") or ()):
        for name, amount in (
            (container.get("resources") or {}).get("limits") or {}
        ).items():
            if name in limits and parse_quantity(amount) > parse_quantity(limits[name]):
                why = f"must be less than or equal to pod limits of {limits[name]}"
                errors.append(
                    invalid(f"{path}.containers[{index}][{name}].limits", amount, why)
                )
    return errors


def _validate_host_network_ports(
    containers: list[Object], in_pod: bool, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports") or ()):
            host, own = port.get("hostPort", 0), port.get("containerPort", 0)
            if (in_pod or host) and host != own:
                here = f"{path}[{index}].ports[{position}].hostPort"
                errors.append(
                    invalid(
                        here,
                        host,
                        "must match `containerPort` when `hostNetwork` is true",
                    )
                )
    return errors


def _validate_dns_config(spec: Object, path: str) -> list[FieldError]:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            return [
                required(
                    f"{path}.nameservers",
                    "must provide at least one DNS nameserver when `dnsPolicy` is None",
                )
            ]
    if config is None:
        return []
    errors: list[FieldError] = []
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > 3:
        errors.append(
            invalid(
                f"{path}.nameservers", servers, "must not have more than 3 nameservers"
            )
        )
    for index, server in enumerate(servers):
        errors += validate_legacy_ip(server, f"{path}.nameservers[{index}]")
    if len(searches) > 32:
        errors.append(
            invalid(
                f"{path}.searches", searches, "must not have more than 32 search paths"
            )
        )
    if len(" ".join(searches)) > 2048:
        why = (
            "must not have more than 2048 characters (including spaces) in the search"
            " list"
        )
        errors.append(invalid(f"{path}.searches", searches, why))
    for index, search in enumerate(searches):
        if search != ".":
            errors += _validate_search(
                search.removesuffix("."), f"{path}.searches[{index}]"
            )
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(required(f"{path}.options[{index}]", "must not be empty"))
    return errors


def _validate_search(search: str, path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    if len(search) > 253:
        errors.append(invalid(path, search, "must be no more than 253 characters"))
    if not _SEARCH.fullmatch(search):
        why = (
            "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric"
            " characters, '_', '-' or '.', and must start and end with an alphanumeric"
            " character"
        )
        errors.append(
            invalid(
                path, search, content.regex_error(why, _SEARCH.pattern, "example.com")
            )
        )
    return errors


def _validate_scheduling_gates(gates: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        errors += [
            invalid(f"{path}[{index}]", name, why)
            for why in content.qualified_name(name)
        ]
        if name in seen:
            errors.append(duplicate(f"{path}[{index}]", name))
        seen.add(name)
    return errors


def validate_pod_template_spec(template: Object, path: str) -> list[FieldError]:
    """A template inside a workload: labels, annotations and the spec; no name is
    needed.
    """
    from lifecycle.apiserver.registry.core.pod.annotations import (
        validate_pod_annotations,
        validate_profile_annotations,
    )

    meta, spec = template.get("metadata") or {}, template.get("spec") or {}
    errors: list[FieldError] = []
    if meta.get("labels"):
        errors += validate_labels(meta["labels"], f"{path}.labels")
    if meta.get("annotations"):
        errors += validate_annotations(meta["annotations"], f"{path}.annotations")
        errors += validate_pod_annotations(
            meta["annotations"], spec, f"{path}.annotations"
        )
    errors += validate_pod_spec(spec, f"{path}.spec")
    errors += validate_profile_annotations(
        meta.get("annotations"), spec, f"{path}.spec"
    )
    if spec.get("ephemeralContainers"):
        errors.append(
            forbidden(
                f"{path}.spec.ephemeralContainers",
                "ephemeral containers not allowed in pod template",
            )
        )
    return errors
