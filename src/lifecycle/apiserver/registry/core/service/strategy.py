"""Services: one name and address for many pods.

Upstream: `pkg/apis/core/v1/defaults.go` (`SetDefaults_Service`),
`pkg/registry/core/service/strategy.go`, `pkg/api/service/warnings.go`, v1.36. How
addresses and node ports are allocated: `store`.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.validation.addresses import warnings_for_cidr, warnings_for_ip
from lifecycle.apiserver.registry.core.service.load_balancer import (
    validate_status_update,
)
from lifecycle.apiserver.registry.core.service.table import PRINTER
from lifecycle.apiserver.registry.core.service.types import externally_accessible
from lifecycle.apiserver.registry.core.service.update import (
    drop_internal_traffic_policy,
    prepare_for_update,
)
from lifecycle.apiserver.registry.core.service.validation import (
    validate,
    validate_update,
)
from lifecycle.apiserver.registry.rest import update
from lifecycle.apiserver.registry.rest.field_labels import (
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.ingress_points import (
    warnings_on_status_update,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy, UpdateStrategy

# --- defaults -------------------------------------------------------------------------


CLIENT_IP_TIMEOUT_SECONDS = 10800


def set_defaults(service: Object) -> None:
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


# --- strategy -------------------------------------------------------------------------


def prepare_for_create(service: Object) -> None:
    """One address, two spellings."""
    spec = service.get("spec") or {}
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]
    drop_internal_traffic_policy(spec)


# --- warnings -------------------------------------------------------------------------


def warnings_on_create(service: Object) -> list[str]:
    """Of what is deprecated, ignored, or an address in an unusual spelling."""
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


def warnings_on_update(new: Object, old: Object) -> list[str]:
    """The same."""
    return warnings_on_create(new)


# --- field labels ---------------------------------------------------------------------


def _selectable_fields(service: Object) -> dict[str, str]:
    spec = service.get("spec") or {}
    return {
        "spec.clusterIP": spec.get("clusterIP", ""),
        "spec.type": spec.get("type", ""),
    }


FIELD_LABELS = FieldLabels(
    ("metadata.name", "metadata.namespace", *_selectable_fields({})),
    _selectable_fields,
    field_label_not_supported,
)

STRATEGY = Strategy(
    set_defaults=set_defaults,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    allow_create_on_update=True,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    warnings_on_update=warnings_on_update,
    subresources={
        "status": UpdateStrategy(
            update.prepare_for_status_update,
            validate_status_update,
            warnings_on_update=warnings_on_status_update,
        )
    },
    returns_deleted_object=True,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
