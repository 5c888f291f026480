"""What the server advises against in pods and pod templates.

Upstream: `pkg/api/pod/warnings.go` (`GetWarningsForPod`, `GetWarningsForPodTemplate`),
`pkg/api/node/util.go` (deprecated labels), v1.36.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation.addresses import warnings_for_ip
from lifecycle.api.validation.content import label_value
from lifecycle.apiserver.registry.core.pod.operating_systems import (
    containers_with_path,
)
from lifecycle.apiserver.registry.core.pod.taken_ports import TakenPorts
from lifecycle.apiserver.registry.core.pod.volume_path_warnings import (
    MOST,
    overlapping_paths,
)

DEPRECATED_NODE_LABELS = {
    "beta.kubernetes.io/arch": (
        'deprecated since v1.14; use "kubernetes.io/arch" instead'
    ),
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": (
        'deprecated since v1.17; use "topology.kubernetes.io/region" instead'
    ),
    "failure-domain.beta.kubernetes.io/zone": (
        'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'
    ),
    "beta.kubernetes.io/instance-type": (
        'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'
    ),
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": (
        "deprecated since v1.22; use Taints and Tolerations instead"
    ),
    "node-role.kubernetes.io/master": (
        'use "node-role.kubernetes.io/control-plane" instead'
    ),
}
_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": (
        'non-functional in v1.16+; use the "priorityClassName" field instead'
    ),
    "security.alpha.kubernetes.io/sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
    "security.alpha.kubernetes.io/unsafe-sysctls": (
        'non-functional in v1.11+; use the "sysctls" field instead'
    ),
}
DEPRECATED_VOLUMES = (
    (
        "photonPersistentDisk",
        "photonPersistentDisk",
        "deprecated in v1.11, non-functional in v1.16+",
    ),
    ("gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"),
    ("scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"),
    ("flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"),
    ("storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"),
    ("quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"),
    ("glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"),
    ("cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"),
    ("rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"),
)
_SECCOMP = "seccomp.security.alpha.kubernetes.io/pod"
_CONTAINER_SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_NO_POD = "a null labelSelector results in matching no pod"


def get_warnings_for_pod(holder: Object, path: str = "") -> list[str]:
    """Warnings for a pod (`path` empty) or a template (`path` such as `spec.template.`,
    with its dot).
    """
    meta, spec = holder.get("metadata") or {}, holder.get("spec") or {}
    here = f"{path}spec"
    annotations = meta.get("annotations") or {}
    warnings = [
        f"{here}.nodeSelector[{key}]: {DEPRECATED_NODE_LABELS[key]}"
        for key in sorted(spec.get("nodeSelector") or ())
        if key in DEPRECATED_NODE_LABELS
    ]
    if spec.get("affinity"):
        warnings += _node_affinity(
            spec["affinity"].get("nodeAffinity") or {}, f"{here}.affinity.nodeAffinity"
        )
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        place = f"{here}.topologySpreadConstraints[{index}]"
        warnings += _label(constraint.get("topologyKey", ""), f"{place}.topologyKey")
        if constraint.get("labelSelector") is None:
            warnings.append(f"{place}.labelSelector: {_NO_POD}")
    if annotations:
        warnings += [
            f"{path}metadata.annotations[{key}]: {text}"
            for key, text in _ANNOTATIONS.items()
            if key in annotations
        ]
    warnings += _volume_warnings(spec, here)
    warnings += overlapping_paths(spec.get("volumes") or [])
    warnings += _duplicates(spec, here)
    warnings += fraction_warnings(spec.get("overhead"), f"{here}.overhead")
    if (
        annotations
        and _SECCOMP in annotations
        and not (spec.get("securityContext") or {}).get("seccompProfile")
    ):
        warnings.append(
            f"{path}metadata.annotations[{_SECCOMP}]: non-functional in v1.27+; use the"
            ' "seccompProfile" field instead'
        )
    for container, place in containers_with_path(spec, here):
        if annotations:
            warnings += _profile_warnings(container, spec, annotations, path)
        resources = container.get("resources")
        if resources:
            for name in ("memory", "ephemeral-storage"):
                for kind in ("limits", "requests"):
                    warnings += _fraction(
                        resources.get(kind), name, f"{place}.resources.{kind}"
                    )
        if len(container.get("env") or ()) > 1:
            warnings += _env_warnings(container["env"], f"{place}.env")
    warnings += _port_warnings(spec, here) + _port_name_warnings(spec, here)
    period = spec.get("terminationGracePeriodSeconds")
    if period is not None and period < 0:
        warnings.append(
            f"{here}.terminationGracePeriodSeconds: must be >= 0; negative values are"
            " invalid and will be treated as 1"
        )
    if spec.get("affinity"):
        warnings += _pod_affinity(spec["affinity"], f"{here}.affinity")
    return warnings + _address_warnings(spec, here)


def _label(key: str, path: str) -> list[str]:
    return (
        [f"{path}: {key} is {DEPRECATED_NODE_LABELS[key]}"]
        if key in DEPRECATED_NODE_LABELS
        else []
    )


def _node_affinity(affinity: Object, path: str) -> list[str]:
    warnings: list[str] = []
    for index, term in enumerate(
        (affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()
    ):
        warnings += node_selector_term_warnings(
            term, f"{path}.{_REQUIRED}.nodeSelectorTerms[{index}]"
        )
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        place = f"{path}.{_PREFERRED}[{index}].preference"
        warnings += node_selector_term_warnings(
            weighted.get("preference") or {}, place, check_values=True
        )
    return warnings


def node_selector_term_warnings(
    term: Object, path: str, *, check_values: bool = False
) -> list[str]:
    """Labels of nodes that have a new name by now; with `check_values`, values that no
    label can have.

    Only preferred terms may hold such values (required ones are refused). Upstream:
    `GetWarningsForNodeSelectorTerm`.
    """
    warnings: list[str] = []
    for position, expression in enumerate(term.get("matchExpressions") or ()):
        place = f"{path}.matchExpressions[{position}]"
        warnings += _label(expression.get("key", ""), f"{place}.key")
        if check_values:
            for index, value in enumerate(expression.get("values") or ()):
                warnings += [
                    f"{place}.values[{index}]: {value} is invalid, {why}"
                    for why in label_value(value)
                ]
    return warnings


def _pod_affinity(affinity: Object, path: str) -> list[str]:
    warnings: list[str] = []
    for name in ("podAffinity", "podAntiAffinity"):
        terms = affinity.get(name) or {}
        for index, term in enumerate(terms.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                warnings.append(
                    f"{path}.{name}.{_REQUIRED}[{index}].labelSelector: {_NO_POD}"
                )
        for index, weighted in enumerate(terms.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                warnings.append(
                    f"{path}.{name}.{_PREFERRED}[{index}"
                    "].podAffinityTerm.labelSelector:"
                    f" {_NO_POD}"
                )
    return warnings


def _volume_warnings(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    for index, volume in enumerate(spec.get("volumes") or ()):
        for source, field, text in DEPRECATED_VOLUMES:
            if volume.get(source) is not None:
                warnings.append(f"{path}.volumes[{index}].{field}: {text}")
        if volume.get("ephemeral"):
            claim = (
                (volume["ephemeral"].get("volumeClaimTemplate") or {}).get("spec") or {}
            ).get("resources") or {}
            place = (
                f"{path}.volumes[{index}"
                "].ephemeral.volumeClaimTemplate.spec.resources.requests"
            )
            warnings += _fraction(claim.get("requests"), "storage", place)
    return warnings


def _duplicates(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    aliases, secrets = spec.get("hostAliases") or [], spec.get("imagePullSecrets") or []
    for entries, field, key, what in (
        (aliases, "hostAliases", "ip", "ip"),
        (secrets, "imagePullSecrets", "name", "name"),
    ):
        seen: set[str] = set()
        for index, entry in enumerate(entries):
            value = entry.get(key, "")
            if value in seen:
                warnings.append(
                    f"{path}.{field}[{index}].{key}: duplicate {what} {go_quote(value)}"
                )
            seen.add(value)
    warnings += [
        f'{path}.imagePullSecrets[{i}].name: invalid empty name ""'
        for i, s in enumerate(secrets)
        if not s.get("name")
    ]
    return warnings


def _address_warnings(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    for index, server in enumerate(
        (spec.get("dnsConfig") or {}).get("nameservers") or ()
    ):
        warnings += warnings_for_ip(server, f"{path}.dnsConfig.nameservers[{index}]")
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        warnings += warnings_for_ip(
            alias.get("ip", ""), f"{path}.hostAliases[{index}].ip"
        )
    return warnings


def fraction_warnings(amounts: Object | None, path: str) -> list[str]:
    """Bytes come in whole numbers."""
    return (
        _fraction(amounts, "memory", path)
        + _fraction(amounts, "ephemeral-storage", path)
        if amounts
        else []
    )


def _fraction(amounts: Object | None, name: str, path: str) -> list[str]:
    text = (amounts or {}).get(name)
    if text is None or not parse_quantity(text).milli() % 1000:
        return []
    return [
        f'{path}[{name}]: fractional byte value "{text}" is invalid, must be an integer'
    ]


def _profile_warnings(
    container: Object, spec: Object, annotations: Object, path: str
) -> list[str]:
    warnings: list[str] = []
    name, context = container.get("name", ""), container.get("securityContext") or {}
    key = f"{_CONTAINER_SECCOMP}{name}"
    if key in annotations and not context.get("seccompProfile"):
        warnings.append(
            f"{path}metadata.annotations[{key}]: non-functional in v1.27+; use the"
            ' "seccompProfile" field instead'
        )
    key = f"{_APP_ARMOR}{name}"
    profile = context.get("appArmorProfile") or (spec.get("securityContext") or {}).get(
        "appArmorProfile"
    )
    # a pod itself was warned before its annotations were copied
    if path and key in annotations and not profile:
        warnings.append(
            f"{path}metadata.annotations[{key}]: deprecated since v1.30; use the"
            ' "appArmorProfile" field instead'
        )
    return warnings


def _env_warnings(variables: list[Object], path: str) -> list[str]:
    warnings: list[str] = []
    seen: set[str] = set()
    for index, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        if name in seen:
            reference = f"$({name})"
            if (
                variable.get("valueFrom") is not None
                or value == reference
                or reference not in value
            ):
                warnings.append(
                    f"{path}[{index}]: hides previous definition of {go_quote(name)},"
                    " which may be dropped when using apply"
                )
        seen.add(name)
    return warnings


def _port_warnings(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    taken = TakenPorts()
    for container, place in containers_with_path(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            here, number, ip = (
                f"{place}.ports[{index}]",
                port.get("hostPort", 0),
                port.get("hostIP", ""),
            )
            own, protocol = port.get("containerPort", 0), port.get("protocol", "")
            if ip and not number:
                printed = (
                    f"{{Name:{port.get('name', '')} HostPort:0 ContainerPort:{own}"
                    f" Protocol:{protocol} HostIP:{ip}}}"
                )
                warnings.append(f"{here}: hostIP set without hostPort: {printed}")
            if len(warnings) < MOST:
                warnings += taken.add(own, protocol, ip, number, here)
    return warnings


def _port_name_warnings(spec: Object, path: str) -> list[str]:
    """A name means the first port that has it."""
    warnings: list[str] = []
    known: dict[str, str] = {}
    for container, place in containers_with_path(spec, path):
        for index, port in enumerate(container.get("ports") or ()):
            here, name = f"{place}.ports[{index}]", port.get("name", "")
            if name in known:
                other = known[name]
                why = f"services and probes that select ports by name will use {other}"
                warnings.append(
                    f"{here}: duplicate port name {go_quote(name)} with {other}, {why}"
                )
            elif name:
                known[name] = here
    return warnings
