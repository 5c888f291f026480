"""Defaults of the core group beside pods: services, volumes, namespaces, nodes, limits.

Upstream: `pkg/apis/core/v1/defaults.go`, v1.36.
"""

from __future__ import annotations

import base64

from lifecycle.api.defaults.pods import (
    set_claim_spec_defaults,
    set_pod_template_defaults,
    set_volume_source_defaults,
)
from lifecycle.api.defaults.resource_lists import round_up_resource_list
from lifecycle.api.wire import Object

CLIENT_IP_TIMEOUT_SECONDS = 10800


def set_service_defaults(service: Object) -> None:
    """Type, affinity, protocols, target ports and traffic policies."""
    spec = service.setdefault("spec", {})
    if not spec.get("sessionAffinity"):
        spec["sessionAffinity"] = "None"
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        config = spec.get("sessionAffinityConfig") or {}
        if (config.get("clientIP") or {}).get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {
                "clientIP": {"timeoutSeconds": CLIENT_IP_TIMEOUT_SECONDS}
            }
    type_ = spec.get("type")
    if not type_:
        type_ = spec["type"] = "ClusterIP"
    for port in spec.get("ports") or ():
        if not port.get("protocol"):
            port["protocol"] = "TCP"
        if not port.get("targetPort"):
            port["targetPort"] = port.get("port", 0)
    if externally_accessible(spec) and not spec.get("externalTrafficPolicy"):
        spec["externalTrafficPolicy"] = "Cluster"
    if spec.get("internalTrafficPolicy") is None and type_ in (
        "NodePort",
        "LoadBalancer",
        "ClusterIP",
    ):
        spec["internalTrafficPolicy"] = "Cluster"
    if type_ == "LoadBalancer":
        if spec.get("allocateLoadBalancerNodePorts") is None:
            spec["allocateLoadBalancerNodePorts"] = True
        for ingress in ((service.get("status") or {}).get("loadBalancer") or {}).get(
            "ingress"
        ) or ():
            if ingress.get("ip") and ingress.get("ipMode") is None:
                ingress["ipMode"] = "VIP"


def externally_accessible(spec: Object) -> bool:
    """Can traffic from outside reach the Service? Upstream: `pkg/api/service/util.go`
    (`ExternallyAccessible`).
    """
    type_ = spec.get("type")
    return type_ in ("LoadBalancer", "NodePort") or (
        type_ == "ClusterIP" and bool(spec.get("externalIPs"))
    )


def set_secret_defaults(secret: Object) -> None:
    """A Secret without a type is `Opaque`; `stringData` is write-only and becomes
    `data` (upstream: in conversion).
    """
    if not secret.get("type"):
        secret["type"] = "Opaque"
    plain = secret.pop("stringData", None)
    if plain:
        encoded = {
            key: base64.b64encode(value.encode()).decode()
            for key, value in plain.items()
        }
        secret["data"] = {**(secret.get("data") or {}), **encoded}


def set_endpoints_defaults(endpoints: Object) -> None:
    """Ports are TCP unless they say otherwise."""
    for subset in endpoints.get("subsets") or ():
        for port in subset.get("ports") or ():
            if not port.get("protocol"):
                port["protocol"] = "TCP"


def set_persistent_volume_defaults(volume: Object) -> None:
    """Phase, reclaim policy, mode."""
    status = volume.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    spec = volume.setdefault("spec", {})
    if not spec.get("persistentVolumeReclaimPolicy"):
        spec["persistentVolumeReclaimPolicy"] = "Retain"
    if spec.get("volumeMode") is None:
        spec["volumeMode"] = "Filesystem"
    set_volume_source_defaults(spec)
    round_up_resource_list(spec.get("capacity"))


def set_volume_attachment_defaults(attachment: Object) -> None:
    """A volume that stands in the attachment itself has its source's defaults."""
    inline = ((attachment.get("spec") or {}).get("source") or {}).get(
        "inlineVolumeSpec"
    )
    if inline:
        set_volume_source_defaults(inline)
        round_up_resource_list(inline.get("capacity"))


def set_persistent_volume_claim_defaults(claim: Object) -> None:
    """Phase and mode."""
    status = claim.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Pending"
    set_claim_spec_defaults(claim.setdefault("spec", {}))
    round_up_resource_list(status.get("capacity"))


def set_namespace_defaults(namespace: Object) -> None:
    """The phase, and the label that carries the name (a generated name gets its label
    when it is known: see the strategy).
    """
    status = namespace.setdefault("status", {})
    if not status.get("phase"):
        status["phase"] = "Active"
    set_namespace_label(namespace)


def set_namespace_label(namespace: Object) -> None:
    """`kubernetes.io/metadata.name`. Upstream: also
    `pkg/registry/core/namespace/strategy.go` (`Canonicalize`).
    """
    meta = namespace.get("metadata") or {}
    if meta.get("name"):
        labels = meta.get("labels")
        if labels is None or labels.get("kubernetes.io/metadata.name") != meta["name"]:
            meta["labels"] = {
                **(labels or {}),
                "kubernetes.io/metadata.name": meta["name"],
            }


def set_node_defaults(node: Object) -> None:
    """Everything a node has is allocatable unless it says otherwise."""
    spec, status = node.setdefault("spec", {}), node.setdefault("status", {})
    if spec.get("podCIDR") and spec["podCIDR"] != next(
        iter(spec.get("podCIDRs") or ()), ""
    ):
        spec["podCIDRs"] = [
            spec["podCIDR"]
        ]  # who knows only the older field has the last word
    elif spec.get("podCIDRs"):
        spec["podCIDR"] = spec["podCIDRs"][0]
    if status.get("allocatable") is None and status.get("capacity") is not None:
        status["allocatable"] = dict(status["capacity"])
    round_up_resource_list(status.get("capacity"))
    round_up_resource_list(status.get("allocatable"))


def set_limit_range_defaults(limit_range: Object) -> None:
    """For containers: default limits from the maximum, default requests from default
    limits, then from the minimum.
    """
    for item in (limit_range.get("spec") or {}).get("limits") or ():
        for name in ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio"):
            round_up_resource_list(item.get(name))
        if item.get("type") != "Container":
            continue
        default = {**(item.get("max") or {}), **(item.get("default") or {})}
        request = {
            **(item.get("min") or {}),
            **default,
            **(item.get("defaultRequest") or {}),
        }
        if default:
            item["default"] = default
        if request:
            item["defaultRequest"] = request


def set_resource_quota_defaults(quota: Object) -> None:
    """Whole thousandths only."""
    round_up_resource_list((quota.get("spec") or {}).get("hard"))
    status = quota.get("status") or {}
    round_up_resource_list(status.get("hard"))
    round_up_resource_list(status.get("used"))


def set_replication_controller_defaults(controller: Object) -> None:
    """One replica; selector and labels from the template."""
    spec = controller.setdefault("spec", {})
    template = spec.get("template")
    if template is not None:
        labels = (template.get("metadata") or {}).get("labels")
        if labels:
            if not spec.get("selector"):
                spec["selector"] = dict(labels)
            meta = controller.setdefault("metadata", {})
            if not meta.get("labels"):
                meta["labels"] = dict(labels)
        set_pod_template_defaults(template)
    if spec.get("replicas") is None:
        spec["replicas"] = 1


def set_pod_template_object_defaults(holder: Object) -> None:
    """A stored PodTemplate."""
    set_pod_template_defaults(holder.setdefault("template", {}))
