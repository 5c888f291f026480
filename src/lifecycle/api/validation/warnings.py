"""Warnings: what the server accepts but advises against (`Warning: 299` headers).

Upstream: `pkg/api/pod/warnings.go` (`GetWarningsForPod`), `pkg/api/service/warnings.go`, `pkg/api/node/util.go` (deprecated labels), each
strategy's `WarningsOnCreate`; deprecated versions: `zz_generated.prerelease-lifecycle.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.field_errors import quote
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation import content
from lifecycle.api.validation.addresses import parse_ip, warnings_for_ip
from lifecycle.api.wire import Object

_NODE_LABELS = {
    "beta.kubernetes.io/arch": ("v1.14", 'use "kubernetes.io/arch" instead'),
    "beta.kubernetes.io/os": ("v1.14", 'use "kubernetes.io/os" instead'),
    "failure-domain.beta.kubernetes.io/region": ("v1.17", 'use "topology.kubernetes.io/region" instead'),
    "failure-domain.beta.kubernetes.io/zone": ("v1.17", 'use "topology.kubernetes.io/zone" instead'),
    "beta.kubernetes.io/instance-type": ("v1.17", 'use "node.kubernetes.io/instance-type" instead'),
}
_GONE_VOLUMES = {
    "gitRepo": "spec.volumes[{i}].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
    "photonPersistentDisk": "spec.volumes[{i}].photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "spec.volumes[{i}].scaleIO: deprecated in v1.16, non-functional in v1.22+",
    "flocker": "spec.volumes[{i}].flocker: deprecated in v1.22, non-functional in v1.25+",
    "storageos": "spec.volumes[{i}].storageOS: deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "spec.volumes[{i}].quobyte: deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "spec.volumes[{i}].glusterfs: deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "spec.volumes[{i}].cephfs: deprecated in v1.28, non-functional in v1.31+",
    "rbd": "spec.volumes[{i}].rbd: deprecated in v1.28, non-functional in v1.31+",
}
_SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
_APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"


def deprecation_warning(api_version: str, kind: str) -> str:
    """What every request for a deprecated kind is told; empty for all others."""
    return _DEPRECATED.get((api_version, kind), "")


_DEPRECATED = {
    ("v1", "Endpoints"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ("v1", "EndpointsList"): "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice",
    ("v1", "ComponentStatus"): "v1 ComponentStatus is deprecated in v1.19+",
    ("v1", "ComponentStatusList"): "v1 ComponentStatus is deprecated in v1.19+",
}


def warnings_for(obj: Object) -> list[str]:
    """The warnings that creating an object raises, in upstream's order; deprecated kinds included."""
    warnings = []
    deprecated = deprecation_warning(obj.get("apiVersion", ""), obj.get("kind", ""))
    if deprecated:
        warnings.append(deprecated)
    rule = _RULES.get((obj.get("apiVersion", ""), obj.get("kind", "")))
    return warnings + rule(obj) if rule is not None else warnings


def _pod(pod: Object) -> list[str]:
    meta, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    warnings: list[str] = []
    messages = content.dns1123_label(meta.get("name", ""))
    if messages:
        why = "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
        warnings.append(f"metadata.name: {why}: [{' '.join(messages)}]")
    return warnings + _pod_spec(spec, meta, "spec", "metadata")


def _template(path: str) -> Callable[[Object], list[str]]:
    keys = path.split(".")

    def rule(obj: Object) -> list[str]:
        template = obj
        for key in keys:
            template = template.get(key) or {}
        return _pod_spec(template.get("spec") or {}, template.get("metadata") or {}, f"{path}.spec", f"{path}.metadata")

    return rule


def _label_warning(key: str, path: str) -> list[str]:
    found = _NODE_LABELS.get(key)
    return [f"{path}: deprecated since {found[0]}; {found[1]}"] if found else []


def _key_warning(key: str, path: str) -> list[str]:
    found = _NODE_LABELS.get(key)
    return [f"{path}: {key} is deprecated since {found[0]}; {found[1]}"] if found else []


def _pod_spec(spec: Object, meta: Object, path: str, meta_path: str) -> list[str]:
    warnings: list[str] = []
    for key in sorted(spec.get("nodeSelector") or ()):
        warnings += _label_warning(key, f"{path}.nodeSelector[{key}]")
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    here = f"{path}.affinity.nodeAffinity"
    terms = (affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        for position, expression in enumerate(term.get("matchExpressions") or ()):
            place = f"{here}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[{index}].matchExpressions[{position}].key"
            warnings += _key_warning(expression.get("key", ""), place)
    for index, weighted in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        for position, expression in enumerate((weighted.get("preference") or {}).get("matchExpressions") or ()):
            place = f"{here}.preferredDuringSchedulingIgnoredDuringExecution[{index}].preference.matchExpressions[{position}].key"
            warnings += _key_warning(expression.get("key", ""), place)
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        key = constraint.get("topologyKey", "")
        warnings += _key_warning(key, f"{path}.topologySpreadConstraints[{index}].topologyKey")
        if constraint.get("labelSelector") is None:
            why = "a null labelSelector results in matching no pod"
            warnings.append(f"{path}.topologySpreadConstraints[{index}].labelSelector: {why}")
    annotations = meta.get("annotations") or {}
    if "scheduler.alpha.kubernetes.io/critical-pod" in annotations:
        place = f"{meta_path}.annotations[scheduler.alpha.kubernetes.io/critical-pod]"
        warnings.append(f'{place}: non-functional in v1.16+; use the "priorityClassName" field instead')
    if _SECCOMP_POD in annotations and not (spec.get("securityContext") or {}).get("seccompProfile"):
        place = f"{meta_path}.annotations[{_SECCOMP_POD}]"
        warnings.append(f'{place}: non-functional in v1.27+; use the "seccompProfile" field instead')
    warnings += _host_alias_warnings(spec, path)
    warnings += _volume_warnings(spec, path)
    warnings += _pull_secret_warnings(spec, path)
    warnings += _fraction_warnings(spec.get("overhead") or {}, f"{path}.overhead")
    period = spec.get("terminationGracePeriodSeconds")
    if period is not None and period < 0:
        warnings.append(
            f"{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        )
    warnings += _container_warnings(spec, annotations, path, meta_path)
    return warnings


def _host_alias_warnings(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    seen: set[str] = set()
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        ip = alias.get("ip", "")
        if ip in seen:
            warnings.append(f"{path}.hostAliases[{index}].ip: duplicate ip {quote(ip)}")
        seen.add(ip)
    for index, alias in enumerate(spec.get("hostAliases") or ()):
        warnings += warnings_for_ip(alias.get("ip", ""), f"{path}.hostAliases[{index}].ip")
    for index, server in enumerate((spec.get("dnsConfig") or {}).get("nameservers") or ()):
        warnings += warnings_for_ip(server, f"{path}.dnsConfig.nameservers[{index}]")
    return warnings


def _volume_warnings(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    for index, volume in enumerate(spec.get("volumes") or ()):
        for source, text in _GONE_VOLUMES.items():
            if volume.get(source) is not None:
                warnings.append(text.format(i=index).replace("spec.", f"{path}.", 1))
        claim = (((volume.get("ephemeral") or {}).get("volumeClaimTemplate") or {}).get("spec") or {}).get(
            "resources"
        ) or {}
        warnings += _fraction_warnings(
            claim.get("requests") or {},
            f"{path}.volumes[{index}].ephemeral.volumeClaimTemplate.spec.resources.requests",
        )
    return warnings


def _pull_secret_warnings(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    seen: set[str] = set()
    for index, reference in enumerate(spec.get("imagePullSecrets") or ()):
        name = reference.get("name", "")
        if not name:
            warnings.append(f'{path}.imagePullSecrets[{index}].name: invalid empty name ""')
        elif name in seen:
            warnings.append(f"{path}.imagePullSecrets[{index}].name: duplicate name {quote(name)}")
        seen.add(name)
    return warnings


def _fraction_warnings(amounts: Object, path: str) -> list[str]:
    warnings = []
    for name in ("memory", "ephemeral-storage", "storage"):
        text = amounts.get(name)
        if text is not None and parse_quantity(text).milli() % 1000:
            warnings.append(f'{path}[{name}]: fractional byte value "{text}" is invalid, must be an integer')
    return warnings


def _container_warnings(spec: Object, annotations: Object, path: str, meta_path: str) -> list[str]:
    warnings: list[str] = []
    for group in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(group) or ()):
            here, name = f"{path}.{group}[{index}]", container.get("name", "")
            profile = container.get("securityContext") or {}
            if f"container.seccomp.security.alpha.kubernetes.io/{name}" in annotations and not profile.get(
                "seccompProfile"
            ):
                place = f"{meta_path}.annotations[container.seccomp.security.alpha.kubernetes.io/{name}]"
                warnings.append(f'{place}: non-functional in v1.27+; use the "seccompProfile" field instead')
            if f"{_APP_ARMOR}{name}" in annotations and not profile.get("appArmorProfile"):
                place = f"{meta_path}.annotations[{_APP_ARMOR}{name}]"
                warnings.append(f'{place}: deprecated since v1.30; use the "appArmorProfile" field instead')
            resources = container.get("resources") or {}
            for kind in ("limits", "requests"):
                warnings += _fraction_warnings(resources.get(kind) or {}, f"{here}.resources.{kind}")
            warnings += _env_warnings(container, here)
            warnings += _port_warnings(container, here)
    return warnings + _shared_port_warnings(spec, path)


def _env_warnings(container: Object, path: str) -> list[str]:
    warnings: list[str] = []
    seen: set[str] = set()
    for index, variable in enumerate(container.get("env") or ()):
        name = variable.get("name", "")
        if name in seen and f"$({name})" not in (variable.get("value") or ""):
            warnings.append(
                f"{path}.env[{index}]: hides previous definition of {quote(name)}, which may be dropped when using apply"
            )
        seen.add(name)
    return warnings


def _port_warnings(container: Object, path: str) -> list[str]:
    warnings: list[str] = []
    seen: dict[tuple[int, str], int] = {}
    for index, port in enumerate(container.get("ports") or ()):
        key = (port.get("containerPort", 0), port.get("protocol", ""))
        if key in seen and not port.get("hostPort"):
            warnings.append(f"{path}.ports[{index}]: duplicate port definition with {path}.ports[{seen[key]}]")
        seen.setdefault(key, index)
    return warnings


def _shared_port_warnings(spec: Object, path: str) -> list[str]:
    warnings: list[str] = []
    seen: dict[tuple[int, str], str] = {}
    for index, container in enumerate(spec.get("containers") or ()):
        for position, port in enumerate(container.get("ports") or ()):
            key = (port.get("containerPort", 0), port.get("protocol", ""))
            here = f"{path}.containers[{index}].ports[{position}]"
            other = seen.get(key)
            if other is not None and not other.startswith(f"{path}.containers[{index}]."):
                warnings.append(f"{here}: duplicate port definition with {other}")
            seen.setdefault(key, here)
    return warnings


def _service(service: Object) -> list[str]:
    meta, spec = service.get("metadata") or {}, service.get("spec") or {}
    warnings: list[str] = []
    annotations = meta.get("annotations") or {}
    if "service.kubernetes.io/topology-aware-hints" in annotations:
        place = "metadata.annotations[service.kubernetes.io/topology-aware-hints]"
        warnings.append(f"{place}: please use annotation service.kubernetes.io/topology-mode instead")
    if spec.get("externalIPs"):
        warnings.append("spec.externalIPs is deprecated and may no longer be implemented in some clusters")
    if spec.get("clusterIPs") == ["None"] or spec.get("clusterIP") == "None":
        if spec.get("loadBalancerIP"):
            warnings.append("spec.loadBalancerIP is ignored for headless services")
        if spec.get("externalIPs"):
            warnings.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity") not in ("", "None", None):
            warnings.append("spec.SessionAffinity is ignored for headless services")
    if spec.get("loadBalancerIP") and parse_ip(spec["loadBalancerIP"]) is not None:
        warnings += warnings_for_ip(spec["loadBalancerIP"], "spec.loadBalancerIP")
    for field in ("clusterIPs", "externalIPs"):
        for index, address in enumerate(spec.get(field) or ()):
            if address != "None":
                warnings += warnings_for_ip(address, f"spec.{field}[{index}]")
    if spec.get("type") == "ExternalName" and spec.get("externalIPs"):
        warnings.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if spec.get("type") != "ExternalName" and spec.get("externalName"):
        warnings.append('spec.externalName is ignored when spec.type is not "ExternalName"')
    if spec.get("trafficDistribution") == "PreferClose":
        warnings.append('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"')
    return warnings


def _ingress(ingress: Object) -> list[str]:
    if "kubernetes.io/ingress.class" in ((ingress.get("metadata") or {}).get("annotations") or {}):
        return ["annotation \"kubernetes.io/ingress.class\" is deprecated, please use 'spec.ingressClassName' instead"]
    return []


def _job(job: Object) -> list[str]:
    warnings: list[str] = []
    messages = content.dns1123_label((job.get("metadata") or {}).get("name", ""))
    if messages:
        why = "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended"
        warnings.append(f"metadata.name: {why}: [{' '.join(messages)}]")
    return warnings + _template("spec.template")(job)


def _deployment(deployment: Object) -> list[str]:
    warnings: list[str] = []
    messages = content.dns1123_label((deployment.get("metadata") or {}).get("name", ""))
    if messages:
        why = "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended"
        warnings.append(f"metadata.name: {why}: [{' '.join(messages)}]")
    return warnings + _template("spec.template")(deployment)


_RULES: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("v1", "Pod"): _pod,
    ("v1", "PodTemplate"): _template("template"),
    ("v1", "ReplicationController"): _template("spec.template"),
    ("apps/v1", "Deployment"): _deployment,
    ("apps/v1", "ReplicaSet"): _deployment,
    ("apps/v1", "DaemonSet"): _template("spec.template"),
    ("apps/v1", "StatefulSet"): _template("spec.template"),
    ("batch/v1", "Job"): _job,
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template"),
    ("v1", "Service"): _service,
    ("networking.k8s.io/v1", "Ingress"): _ingress,
}
