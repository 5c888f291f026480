"""Warnings: what the server accepts but advises against (`Warning: 299` headers).

Upstream: each strategy's `WarningsOnCreate`, `pkg/api/service/warnings.go`,
`pkg/api/persistentvolume*/util.go`; deprecated versions:
`zz_generated.prerelease-lifecycle.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation.addresses import warnings_for_cidr, warnings_for_ip
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.pod.template import (
    name_warnings,
    template_warnings,
)
from lifecycle.apiserver.registry.unmigrated.validation.key_pairs import (
    key_pair_complaint,
)
from lifecycle.apiserver.registry.unmigrated.validation.pod_warnings import (
    DEPRECATED_VOLUMES,
    node_selector_term_warnings,
    pod_warnings,
)

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def _pod(pod: Object) -> list[str]:
    return name_warnings(pod, "the Pod's hostname") + pod_warnings(pod)


def _template(path: str, *, named: bool = False) -> Callable[[Object], list[str]]:
    keys = path.split(".")

    def rule(obj: Object) -> list[str]:
        template = obj
        for key in keys:
            template = template.get(key) or {}
        warnings = name_warnings(obj, "Pod names and hostnames") if named else []
        return warnings + template_warnings(template, path)

    return rule


def _service(service: Object) -> list[str]:
    meta, spec = service.get("metadata") or {}, service.get("spec") or {}
    warnings: list[str] = []
    hints = "service.kubernetes.io/topology-aware-hints"
    if hints in (meta.get("annotations") or ()):
        warnings.append(
            f"annotation {hints} is deprecated, please use"
            " service.kubernetes.io/topology-mode instead"
        )
    headless = spec.get("type") == "ClusterIP" and spec.get("clusterIP") == "None"
    external, balancer = spec.get("externalIPs") or [], spec.get("loadBalancerIP", "")
    if headless:
        if balancer:
            warnings.append("spec.loadBalancerIP is ignored for headless services")
        if external:
            warnings.append("spec.externalIPs is ignored for headless services")
        if spec.get("sessionAffinity") != "None":
            warnings.append("spec.SessionAffinity is ignored for headless services")
    else:
        for index, address in enumerate(spec.get("clusterIPs") or ()):
            warnings += warnings_for_ip(address, f"spec.clusterIPs[{index}]")
    for index, address in enumerate(external):
        warnings += warnings_for_ip(address, f"spec.externalIPs[{index}]")
    if external and not headless and spec.get("type") != "ExternalName":
        warnings.append(
            "spec.externalIPs is deprecated and may no longer be implemented in some"
            " clusters"
        )
    if balancer:
        warnings += warnings_for_ip(balancer, "spec.loadBalancerIP")
    for index, network in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        warnings += warnings_for_cidr(
            network.strip(), f"spec.loadBalancerSourceRanges[{index}]"
        )
    if spec.get("type") == "ExternalName" and external:
        warnings.append('spec.externalIPs is ignored when spec.type is "ExternalName"')
    if spec.get("type") != "ExternalName" and spec.get("externalName"):
        warnings.append(
            'spec.externalName is ignored when spec.type is not "ExternalName"'
        )
    if spec.get("trafficDistribution") == "PreferClose":
        warnings.append(
            'spec.trafficDistribution: "PreferClose" is deprecated; use'
            ' "PreferSameZone"'
        )
    return warnings


def _ingress(ingress: Object) -> list[str]:
    if "kubernetes.io/ingress.class" in (
        (ingress.get("metadata") or {}).get("annotations") or {}
    ):
        return [
            'annotation "kubernetes.io/ingress.class" is deprecated, please use'
            " 'spec.ingressClassName' instead"
        ]
    return []


def _beta_class(obj: Object) -> list[str]:
    if _BETA_CLASS in ((obj.get("metadata") or {}).get("annotations") or {}):
        return [
            f"metadata.annotations[{_BETA_CLASS}]: deprecated since v1.8; use"
            ' "storageClassName" attribute instead'
        ]
    return []


def _fractional(amounts: Object | None, path: str) -> list[str]:
    text = (amounts or {}).get("storage")
    if text is None or not parse_quantity(text).milli() % 1000:
        return []
    return [
        f'{path}[storage]: fractional byte value "{text}" is invalid, must be an'
        " integer"
    ]


def _claim(claim: Object) -> list[str]:
    requests = ((claim.get("spec") or {}).get("resources") or {}).get("requests")
    return _beta_class(claim) + _fractional(requests, "spec.resources.requests")


def _volume(volume: Object) -> list[str]:
    spec = volume.get("spec") or {}
    warnings = _beta_class(volume)
    if spec.get("persistentVolumeReclaimPolicy") == "Recycle":
        why = (
            "The Recycle reclaim policy is deprecated. Instead, the recommended"
            " approach is to use dynamic provisioning."
        )
        warnings.append(f"spec.persistentVolumeReclaimPolicy: {why}")
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get(
        "nodeSelectorTerms"
    ) or []
    for index, term in enumerate(terms):
        warnings += node_selector_term_warnings(
            term, f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        )
    for source, shown, text in DEPRECATED_VOLUMES:
        if spec.get(source) is not None and source not in _POD_ONLY:
            warnings.append(f"spec.{shown}: {text}")
    return warnings + _fractional(spec.get("capacity"), "spec.capacity")


_POD_ONLY = ("gitRepo", "flocker", "quobyte")


def _stateful_set(stateful_set: Object) -> list[str]:
    warnings = _template("spec.template")(stateful_set)
    if ((stateful_set.get("spec") or {}).get("revisionHistoryLimit") or 0) < 0:
        why = (
            "a negative value retains all historical revisions; a value >= 0 is"
            " recommended"
        )
        warnings.append(f"spec.revisionHistoryLimit: {why}")
    return warnings


def _service_account(account: Object) -> list[str]:
    key = "kubernetes.io/enforce-mountable-secrets"
    if key in ((account.get("metadata") or {}).get("annotations") or {}):
        why = (
            "deprecated in v1.32+; prefer separate namespaces to isolate access to"
            " mounted secrets"
        )
        return [f"metadata.annotations[{key}]: {why}"]
    return []


def _network_policy(policy: Object) -> list[str]:
    warnings: list[str] = []
    spec = policy.get("spec") or {}
    for direction, peers in (("ingress", "from"), ("egress", "to")):
        for index, rule in enumerate(spec.get(direction) or ()):
            for position, peer in enumerate(rule.get(peers) or ()):
                block, here = (
                    peer.get("ipBlock") or {},
                    f"spec.{direction}[{index}].{peers}[{position}].ipBlock",
                )
                if block.get("cidr"):
                    warnings += warnings_for_cidr(block["cidr"], f"{here}.cidr")
                for number, network in enumerate(block.get("except") or ()):
                    warnings += warnings_for_cidr(network, f"{here}.except[{number}]")
    return warnings


def _secret(secret: Object) -> list[str]:
    if secret.get("type") != "kubernetes.io/tls":
        return []
    data = secret.get("data") or {}
    complaint = key_pair_complaint(data.get("tls.crt") or "", data.get("tls.key") or "")
    return [complaint] if complaint else []


def _node(node: Object) -> list[str]:
    spec = node.get("spec") or {}
    warnings: list[str] = []
    if spec.get("configSource") is not None:
        warnings.append("spec.configSource: the feature is no longer available")
    if spec.get("externalID"):
        warnings.append(
            "spec.externalID: this field is deprecated, and is unused by Kubernetes"
        )
    for index, network in enumerate(spec.get("podCIDRs") or ()):
        warnings += warnings_for_cidr(network, f"spec.podCIDRs[{index}]")
    return warnings


def _endpoints(endpoints: Object) -> list[str]:
    warnings: list[str] = []
    for index, subset in enumerate(endpoints.get("subsets") or ()):
        for group in ("addresses", "notReadyAddresses"):
            for position, address in enumerate(subset.get(group) or ()):
                warnings += warnings_for_ip(
                    address.get("ip", ""), f"subsets[{index}].{group}[{position}].ip"
                )
    return warnings


def _endpoint_slice(slice_: Object) -> list[str]:
    warnings: list[str] = []
    for index, endpoint in enumerate(slice_.get("endpoints") or ()):
        for position, address in enumerate(endpoint.get("addresses") or ()):
            if slice_.get("addressType") != "FQDN":
                warnings += warnings_for_ip(
                    address, f"endpoints[{index}].addresses[{position}]"
                )
    return warnings


RULES: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("v1", "Pod"): _pod,
    ("v1", "PodTemplate"): _template("template"),
    ("v1", "ReplicationController"): _template("spec.template", named=True),
    ("apps/v1", "ReplicaSet"): _template("spec.template", named=True),
    ("apps/v1", "DaemonSet"): _template("spec.template"),
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("batch/v1", "Job"): _template("spec.template", named=True),
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template", named=True),
    ("v1", "Secret"): _secret,
    ("v1", "Node"): _node,
    ("v1", "Endpoints"): _endpoints,
    ("discovery.k8s.io/v1", "EndpointSlice"): _endpoint_slice,
    ("v1", "Service"): _service,
    ("v1", "ServiceAccount"): _service_account,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("networking.k8s.io/v1", "Ingress"): _ingress,
    ("networking.k8s.io/v1", "NetworkPolicy"): _network_policy,
}

COUNTED: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("v1", "PodTemplate"): _template("template"),
    ("v1", "ReplicationController"): _template("spec.template"),
    ("apps/v1", "ReplicaSet"): _template("spec.template"),
    ("apps/v1", "DaemonSet"): _template("spec.template"),
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("batch/v1", "Job"): _template("spec.template"),
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template"),
}
"""Their templates are looked at again only if the generation says that something
changed.
"""

UPDATE_RULES = COUNTED | {
    ("v1", "Secret"): _secret,
    ("v1", "Node"): _node,
    ("v1", "Endpoints"): _endpoints,
    ("discovery.k8s.io/v1", "EndpointSlice"): _endpoint_slice,
    ("v1", "Service"): _service,
    ("v1", "ServiceAccount"): _service_account,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
    ("networking.k8s.io/v1", "NetworkPolicy"): _network_policy,
}
