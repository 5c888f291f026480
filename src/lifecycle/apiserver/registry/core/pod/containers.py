"""Containers: regular, init (with sidecars) and ephemeral.

Upstream: `pkg/apis/core/validation/validation.go` (`validateContainers`,
`validateInitContainers`, `validateEphemeralContainers`, `validateContainerCommon`),
v1.36.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api.field_errors import (
    FieldError,
    duplicate,
    forbidden,
    invalid,
    not_found,
    not_supported,
    required,
    too_long,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.empties import is_empty
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.core.pod.environment import (
    validate_env,
    validate_env_from,
)
from lifecycle.apiserver.registry.core.pod.probes import (
    validate_probes_and_hooks,
)
from lifecycle.apiserver.registry.core.pod.resources import (
    validate_resource_requirements,
)
from lifecycle.apiserver.registry.core.pod.security_contexts import (
    validate_security_context,
)
from lifecycle.apiserver.registry.core.pod.volume_mounts import (
    validate_volume_devices,
    validate_volume_mounts,
)
from lifecycle.apiserver.registry.rest.enum import validate_required_enum

PROTOCOLS = ("SCTP", "TCP", "UDP")
_PULL_POLICIES = ("Always", "IfNotPresent", "Never")
_MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
_RESTART_POLICIES = ("Always", "Never", "OnFailure")
_RULE_ACTIONS = ("Restart", "RestartAllContainers")
_MOST_RULES, _MOST_CODES = 20, 255
_EPHEMERAL_FIELDS = {
    "name",
    "image",
    "command",
    "args",
    "workingDir",
    "envFrom",
    "env",
    "volumeMounts",
    "volumeDevices",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "imagePullPolicy",
    "securityContext",
    "stdin",
    "stdinOnce",
    "tty",
    "targetContainerName",
}
_EPHEMERAL_POINTERS = {
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
    "restartPolicy",
}


@dataclass(slots=True)
class PodContext:
    """What a container's rules must know of its pod."""

    volumes: dict[str, Object]
    claims: set[str]
    grace_period: int | None
    restart_policy: str
    host_users: bool


def _validate_common(container: Object, pod: PodContext, path: str) -> list[FieldError]:
    name = container.get("name", "")
    errors: list[FieldError] = []
    if not name:
        errors.append(required(f"{path}.name"))
    else:
        errors += [
            invalid(f"{path}.name", name, why) for why in content.dns1123_label(name)
        ]
    if not container.get("image"):
        errors.append(required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy", "")
    errors += validate_required_enum(
        f"{path}.terminationMessagePolicy", policy, _MESSAGE_POLICIES
    )
    if container.get("ports"):
        errors += _validate_ports(container["ports"], f"{path}.ports")
    if container.get("env"):
        errors += validate_env(container["env"], f"{path}.env")
    if container.get("envFrom"):
        errors += validate_env_from(container["envFrom"], f"{path}.envFrom")
    if container.get("volumeMounts"):
        errors += validate_volume_mounts(container, pod.volumes, f"{path}.volumeMounts")
    if container.get("volumeDevices"):
        errors += validate_volume_devices(
            container, pod.volumes, f"{path}.volumeDevices"
        )
    pull = container.get("imagePullPolicy", "")
    errors += validate_required_enum(f"{path}.imagePullPolicy", pull, _PULL_POLICIES)
    if container.get("resources"):
        errors += validate_resource_requirements(
            container["resources"], f"{path}.resources", pod.claims
        )
    if container.get("resizePolicy"):
        errors += _validate_resize_policy(
            container["resizePolicy"], pod.restart_policy, f"{path}.resizePolicy"
        )
    if container.get("securityContext"):
        errors += validate_security_context(
            container["securityContext"], pod.host_users, f"{path}.securityContext"
        )
    return errors


def _validate_ports(ports: list[Object], path: str) -> list[FieldError]:
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, port in enumerate(ports):
        here, name = f"{path}[{index}]", port.get("name", "")
        if name:
            messages = content.port_name(name)
            if messages:
                errors += [invalid(f"{here}.name", name, why) for why in messages]
            elif name in names:
                errors.append(duplicate(f"{here}.name", name))
            else:
                names.add(name)
        number = port.get("containerPort", 0)
        if not number:
            errors.append(required(f"{here}.containerPort"))
        else:
            errors += [
                invalid(f"{here}.containerPort", number, why)
                for why in content.port_number(number)
            ]
        if port.get("hostPort"):
            errors += [
                invalid(f"{here}.hostPort", port["hostPort"], why)
                for why in content.port_number(port["hostPort"])
            ]
        protocol = port.get("protocol", "")
        errors += validate_required_enum(f"{here}.protocol", protocol, PROTOCOLS)
    return errors


def _validate_resize_policy(
    policies: list[Object], restart_policy: str, path: str
) -> list[FieldError]:
    errors: list[FieldError] = []
    seen: set[str] = set()
    for index, policy in enumerate(policies):
        resource, restart = (
            policy.get("resourceName", ""),
            policy.get("restartPolicy", ""),
        )
        if resource in seen:
            errors.append(duplicate(f"{path}[{index}]", resource))
        seen.add(resource)
        for value, known in (
            (resource, ("cpu", "memory")),
            (restart, ("NotRequired", "RestartContainer")),
        ):
            errors += validate_required_enum(path, value, known)
        if restart_policy == "Never" and restart != "NotRequired":
            errors.append(
                invalid(
                    path,
                    restart,
                    "must be 'NotRequired' when pod `restartPolicy` is 'Never'",
                )
            )
    return errors


def _host_port_conflicts(
    containers: list[Object], path: str, first: int = 0
) -> list[FieldError]:
    errors: list[FieldError] = []
    taken: set[str] = set()
    for index, container in enumerate(containers):
        for position, port in enumerate(container.get("ports") or ()):
            number = port.get("hostPort", 0)
            if number:
                key = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{number}"
                if key in taken:
                    errors.append(
                        duplicate(
                            f"{path}[{index + first}].ports[{position}].hostPort", key
                        )
                    )
                taken.add(key)
    return errors


def validate_containers(
    containers: list[Object], pod: PodContext, path: str
) -> list[FieldError]:
    """The regular containers: at least one."""
    if not containers:
        return [required(path)]
    errors: list[FieldError] = []
    names: set[str] = set()
    for index, container in enumerate(containers):
        here = f"{path}[{index}]"
        errors += _validate_common(container, pod, here)
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        errors += validate_probes_and_hooks(container, pod.grace_period, here)
        errors += _validate_restart_policy(container, here)
    return errors + _host_port_conflicts(containers, path)


def _validate_restart_policy(container: Object, path: str) -> list[FieldError]:
    """A container's own restart policy, and the rules by exit code that go before
    it.
    """
    errors: list[FieldError] = []
    policy, rules = (
        container.get("restartPolicy"),
        container.get("restartPolicyRules") or [],
    )
    if policy is None:
        if rules:
            errors.append(required(f"{path}.restartPolicy", _RULES_NEED_A_POLICY))
    elif policy not in _RESTART_POLICIES:
        errors.append(not_supported(f"{path}.restartPolicy", policy, _RESTART_POLICIES))
    if len(rules) > _MOST_RULES:
        errors.append(too_long(f"{path}.restartPolicyRules", _MOST_RULES))
    for index, rule in enumerate(rules):
        here = f"{path}.restartPolicyRules[{index}]"
        action, codes = rule.get("action", ""), rule.get("exitCodes")
        if action not in _RULE_ACTIONS:
            errors.append(not_supported(f"{here}.action", action, _RULE_ACTIONS))
        if codes is None:
            errors.append(required(f"{here}.exitCodes", "must be specified"))
            continue
        if codes.get("operator", "") not in ("In", "NotIn"):
            errors.append(
                not_supported(
                    f"{here}.exitCodes.operator",
                    codes.get("operator", ""),
                    ("In", "NotIn"),
                )
            )
        if len(codes.get("values") or ()) > _MOST_CODES:
            errors.append(too_long(f"{here}.exitCodes.values", _MOST_CODES))
    return errors


_RULES_NEED_A_POLICY = "must specify restartPolicy when restart rules are used"
_ONLY_SIDECARS = "may not be set for init containers without restartPolicy=Always"
_NO_SIDECAR_RULES = (
    "restartPolicyRules are not allowed for init containers with restart policy Always"
)


def validate_init_containers(
    containers: list[Object], regular: list[Object], pod: PodContext, path: str
) -> list[FieldError]:
    """Init containers; with `restartPolicy: Always` they are sidecars and may have
    probes and hooks.
    """
    errors: list[FieldError] = []
    names = {container.get("name", "") for container in regular}
    for index, container in enumerate(containers):
        here = f"{path}[{index}]"
        errors += _validate_common(container, pod, here)
        policy = container.get("restartPolicy")
        if policy == "Always":
            if container.get("restartPolicyRules"):
                errors.append(
                    forbidden(f"{here}.restartPolicyRules", _NO_SIDECAR_RULES)
                )
        elif policy is not None:
            errors += _validate_restart_policy(container, here)
        elif container.get("restartPolicyRules"):
            errors.append(required(f"{here}.restartPolicy", _RULES_NEED_A_POLICY))
        name = container.get("name", "")
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        elif name:
            names.add(name)
        errors += _host_port_conflicts([container], path)
        if policy == "Always":
            errors += validate_probes_and_hooks(container, pod.grace_period, here)
        else:
            for field in (
                "lifecycle",
                "livenessProbe",
                "readinessProbe",
                "startupProbe",
            ):
                if container.get(field) is not None:
                    errors.append(forbidden(f"{here}.{field}", _ONLY_SIDECARS))
    return errors


def validate_ephemeral_containers(
    containers: list[Object], spec: Object, pod: PodContext, path: str
) -> list[FieldError]:
    """Ephemeral containers: a short list of allowed fields."""
    errors: list[FieldError] = []
    others = {
        c.get("name", "")
        for group in ("containers", "initContainers")
        for c in spec.get(group) or ()
    }
    names = set(others)
    for index, container in enumerate(containers):
        here, name = f"{path}[{index}]", container.get("name", "")
        errors += _validate_common(container, pod, here)
        errors += validate_image_whitespace(container, here)
        if name in names:
            errors.append(duplicate(f"{here}.name", name))
        names.add(name)
        target = container.get("targetContainerName", "")
        if target and target not in others:
            errors.append(not_found(f"{here}.targetContainerName", target))
        for field, value in container.items():
            if field in _EPHEMERAL_FIELDS or value is None:
                continue
            pointer = field in _EPHEMERAL_POINTERS
            if value or pointer or value == []:
                errors.append(
                    forbidden(
                        f"{here}.{field}",
                        "cannot be set for an Ephemeral Container",
                        of_empty=not pointer and is_empty(value),
                    )
                )
        for position, mount in enumerate(container.get("volumeMounts") or ()):
            for field in ("subPath", "subPathExpr"):
                if mount.get(field):
                    errors.append(
                        forbidden(
                            f"{here}.volumeMounts[{position}].{field}",
                            "cannot be set for an Ephemeral Container",
                        )
                    )
    return errors


def validate_image_whitespace(container: Object, path: str) -> list[FieldError]:
    """What only real pods are judged for."""
    image = container.get("image", "")
    if image != image.strip():
        return [
            invalid(
                f"{path}.image", image, "must not have leading or trailing whitespace"
            )
        ]
    return []
