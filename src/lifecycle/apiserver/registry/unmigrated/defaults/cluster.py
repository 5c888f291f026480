"""Defaults of the smaller groups: RBAC, networking, storage, discovery, scheduling,
admission, custom resources, flow control.

Upstream:
`pkg/apis/{rbac,networking,storage,scheduling,discovery,admissionregistration,flowcontrol,authentication}/v1/defaults.go`,
`apiextensions-apiserver/pkg/apis/apiextensions/v1/defaults.go`,
`kube-aggregator/pkg/apis/apiregistration/v1/defaults.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.wire import Object


def _default(holder: Object, key: str, value: Any) -> None:
    if holder.get(key) is None:
        holder[key] = value


def set_ingress_class_defaults(ingress_class: Object) -> None:
    """Parameters are cluster-wide unless they say otherwise."""
    parameters = (ingress_class.get("spec") or {}).get("parameters")
    if parameters is not None:
        _default(parameters, "scope", "Cluster")


def set_network_policy_defaults(policy: Object) -> None:
    """TCP ports; a policy is about Ingress, and about Egress if it has such rules."""
    spec = policy.setdefault("spec", {})
    for rules in ("ingress", "egress"):
        for rule in spec.get(rules) or ():
            for port in rule.get("ports") or ():
                _default(port, "protocol", "TCP")
    if not spec.get("policyTypes"):
        spec["policyTypes"] = (
            ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
        )


def set_storage_class_defaults(storage_class: Object) -> None:
    """Volumes are deleted with their claims and bound at once."""
    _default(storage_class, "reclaimPolicy", "Delete")
    _default(storage_class, "volumeBindingMode", "Immediate")


def set_csi_driver_defaults(driver: Object) -> None:
    """What a driver needs unless it says otherwise."""
    spec = driver.setdefault("spec", {})
    for key, value in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("fsGroupPolicy", "ReadWriteOnceWithFSType"),
        ("requiresRepublish", False),
        ("seLinuxMount", False),
    ):
        _default(spec, key, value)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def set_endpoint_slice_defaults(endpoint_slice: Object) -> None:
    """Ports: the empty name, TCP."""
    for port in endpoint_slice.get("ports") or ():
        _default(port, "name", "")
        _default(port, "protocol", "TCP")
