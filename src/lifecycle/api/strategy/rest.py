"""REST strategies: what the registry does to an object before it is stored, kind by
kind.

A client may write what it likes; the strategy decides what counts. On the main resource
`status` is not the client's to set; on `/status` nothing else is. `generation` counts
changes of intent. Some kinds get a little more: a Pod its phase and QoS class, a Job
its selector, a Namespace its finalizer.

Order of a create, as upstream's `rest.BeforeCreate`: fill in uid, creation time and the
generated name; `prepare_for_create`; validate; `canonicalize`. Order of an update:
`prepare_for_update`, then validate. All functions here change `new` in place, touch
only its top levels (nested parts taken over from the old object are shared, never
changed), and expect normal form (see `schema.decode`).

Upstream: `pkg/registry/*/*/strategy.go`,
`apiserver/pkg/registry/rest/{create,update}.go`, v1.36, all gates at their defaults.
Left out: DRA kinds beyond status and generation.
"""

from __future__ import annotations

from dataclasses import dataclass

from lifecycle.api.defaults.core import set_namespace_label
from lifecycle.api.schema.decode import zero_value
from lifecycle.api.schema.gotypes import is_struct, struct_for
from lifecycle.api.strategy.data_sources import prepare_data_sources
from lifecycle.api.strategy.disabled_fields import drop_disabled_pod_fields, pod_spec_of
from lifecycle.api.strategy.endpoint_subsets import repack_subsets
from lifecycle.api.strategy.on_create import ON_CREATE, clean_secret_references
from lifecycle.api.strategy.pod_resize import prepare_resize
from lifecycle.api.strategy.services import prepare_service_for_update
from lifecycle.api.strategy.stored_empties import forget_empty_lists
from lifecycle.api.wire import Object

SPEC = "spec"
WHOLE = "whole"


@dataclass(slots=True, frozen=True)
class Strategy:
    """The facts of one kind.

    `generation`: empty (the kind does not count), `spec` (counts changes of spec),
    `spec+annotations`, or `whole` (any change outside metadata and status). `status`:
    has a status of its own that main-resource writes cannot touch.
    """

    generation: str = ""
    status: bool = False
    create_on_update: bool = False
    unconditional_update: bool = True


_PLAIN = Strategy()
_STATUS = Strategy(status=True)
_SPEC = Strategy(generation=SPEC, status=True)

_STRATEGIES: dict[str, Strategy] = {
    "Pod": Strategy(generation=SPEC, status=True),
    "Service": Strategy(status=True, create_on_update=True),
    "Endpoints": Strategy(create_on_update=True),
    "Event": Strategy(create_on_update=True),
    "LimitRange": Strategy(create_on_update=True),
    "Namespace": _STATUS,
    "Node": _STATUS,
    "PersistentVolume": _STATUS,
    "PersistentVolumeClaim": _STATUS,
    "ReplicationController": _SPEC,
    "ResourceQuota": _STATUS,
    "PodTemplate": Strategy(generation=WHOLE),
    "Deployment": Strategy(generation="spec+annotations", status=True),
    "ReplicaSet": _SPEC,
    "DaemonSet": _SPEC,
    "StatefulSet": _SPEC,
    "Job": _SPEC,
    "CronJob": _SPEC,
    "HorizontalPodAutoscaler": _STATUS,
    "PodDisruptionBudget": Strategy(
        generation=SPEC, status=True, unconditional_update=False
    ),
    "Ingress": _SPEC,
    "IngressClass": Strategy(generation=SPEC),
    "NetworkPolicy": Strategy(generation=SPEC),
    "ServiceCIDR": _STATUS,
    "EndpointSlice": Strategy(generation=WHOLE),
    "PriorityClass": Strategy(generation="create"),
    "Lease": Strategy(create_on_update=True, unconditional_update=False),
    "RuntimeClass": Strategy(create_on_update=True, unconditional_update=False),
    "Role": Strategy(create_on_update=True),
    "RoleBinding": Strategy(create_on_update=True),
    "ClusterRole": Strategy(create_on_update=True),
    "ClusterRoleBinding": Strategy(create_on_update=True),
    "MutatingWebhookConfiguration": Strategy(
        generation=WHOLE, unconditional_update=False
    ),
    "ValidatingWebhookConfiguration": Strategy(
        generation=WHOLE, unconditional_update=False
    ),
    "ValidatingAdmissionPolicy": Strategy(
        generation=SPEC, status=True, unconditional_update=False
    ),
    "ValidatingAdmissionPolicyBinding": Strategy(
        generation=SPEC, unconditional_update=False
    ),
    "MutatingAdmissionPolicy": Strategy(generation=SPEC, unconditional_update=False),
    "MutatingAdmissionPolicyBinding": Strategy(
        generation=SPEC, unconditional_update=False
    ),
    "CustomResourceDefinition": Strategy(
        generation=SPEC, status=True, unconditional_update=False
    ),
    "APIService": Strategy(status=True, unconditional_update=False),
    "FlowSchema": _SPEC,
    "PriorityLevelConfiguration": _SPEC,
    "CertificateSigningRequest": _STATUS,
    "CSIDriver": Strategy(unconditional_update=False),
    "CSINode": Strategy(unconditional_update=False),
    "CSIStorageCapacity": Strategy(unconditional_update=False),
    "VolumeAttachment": Strategy(status=True, unconditional_update=False),
    "ResourceClaim": _STATUS,
    "ResourceSlice": Strategy(generation=SPEC),
    "DeviceClass": Strategy(generation=SPEC),
}

_WITH_PODS = frozenset(
    {
        *("Pod", "PodTemplate", "ReplicationController", "Deployment", "ReplicaSet"),
        *("DaemonSet", "StatefulSet", "Job", "CronJob"),
    }
)
"""Kinds that are a pod or hold a template of one."""


def strategy_for(kind: str) -> Strategy:
    """The facts of a kind; a kind without an entry is stored as it comes."""
    return _STRATEGIES.get(kind, _PLAIN)


def allow_create_on_update(kind: str) -> bool:
    """May a PUT to a name that does not exist create the object?"""
    return strategy_for(kind).create_on_update


def allow_unconditional_update(kind: str) -> bool:
    """May an update leave `resourceVersion` out and overwrite whatever is there?"""
    return strategy_for(kind).unconditional_update


def _zero_status(obj: Object) -> Object | None:
    struct = struct_for(obj.get("apiVersion", ""), obj.get("kind", ""))
    status = f"{struct}Status"
    return zero_value(status) if struct and is_struct(status) else None


def prepare_for_create(obj: Object) -> None:
    """Drop what the client may not set and add what the registry sets. `metadata.uid`
    and `metadata.name` are filled in already.
    """
    kind = obj.get("kind", "")
    strategy = strategy_for(kind)
    meta = obj.get("metadata")
    if meta is None:
        meta = obj["metadata"] = {}
    meta.pop("deletionTimestamp", None)
    meta.pop("deletionGracePeriodSeconds", None)
    meta.pop("selfLink", None)
    if strategy.generation:
        meta["generation"] = 1
    elif not meta.get("generation"):
        meta.pop("generation", None)
    if (
        strategy.status and kind != "Node"
    ):  # a kubelet registers its node with the status filled in
        status = _zero_status(obj)
        if status is not None:
            obj["status"] = status
        else:
            obj.pop("status", None)
    pod_spec = pod_spec_of(obj) if kind in _WITH_PODS else None
    if pod_spec:
        drop_disabled_pod_fields(pod_spec, None)
    special = ON_CREATE.get(kind)
    if special is not None:
        special(obj)


def prepare_for_update(new: Object, old: Object, subresource: str = "") -> None:
    """Keep what this write may not touch, and count generations. `subresource` is
    empty, `status`, `ephemeralcontainers`, `resize` …
    """
    kind = new.get("kind", "")
    strategy = strategy_for(kind)
    forget_empty_lists(new)
    meta, old_meta = new["metadata"], old["metadata"]
    _take_over(meta, old_meta, "generation")
    if not meta.get("uid") and old_meta.get("uid"):
        meta["uid"] = old_meta["uid"]
    for key in ("creationTimestamp", "deletionTimestamp"):
        if old_meta.get(key) is not None:
            meta[key] = old_meta[key]
    if meta.get("deletionGracePeriodSeconds") is None:
        _take_over(meta, old_meta, "deletionGracePeriodSeconds")
    if subresource == "status":
        _prepare_status_update(new, old, kind)
        return
    if subresource == "ephemeralcontainers":
        spec = dict(old["spec"])
        _take_over(spec, new.get("spec") or {}, "ephemeralContainers")
        new["spec"] = spec
        new["metadata"] = {
            **old_meta,
            "managedFields": meta.get("managedFields"),
            "resourceVersion": meta.get("resourceVersion"),
        }
        meta = new["metadata"]
    if kind == "Pod" and subresource == "resize":
        prepare_resize(new, old)
        meta = new["metadata"]
    if kind == "Namespace" and subresource == "finalize":
        _take_over(new, old, "status")
        return
    if kind == "CertificateSigningRequest" and subresource == "approval":
        conditions = (new.get("status") or {}).get("conditions")
        _take_over(new, old, "spec")
        new["status"] = {**(old.get("status") or {}), "conditions": conditions or []}
        return
    if strategy.status:
        _take_over(new, old, "status")
    if kind == "Service":
        prepare_service_for_update(new, old)
    elif kind == "Namespace":
        if (old.get("spec") or {}).get("finalizers") is not None:
            new["spec"] = {
                **(new.get("spec") or {}),
                "finalizers": old["spec"]["finalizers"],
            }
    elif kind == "Secret" and not new.get("type"):
        _take_over(new, old, "type")
    elif kind == "ServiceAccount":
        clean_secret_references(new)
    elif kind == "PersistentVolumeClaim" and new.get("spec"):
        new["spec"] = dict(new["spec"])
        prepare_data_sources(new["spec"], old.get("spec"))
    elif kind in _WITH_PODS:
        pod_spec = pod_spec_of(new)
        if pod_spec:
            drop_disabled_pod_fields(pod_spec, pod_spec_of(old))
    elif kind == "CertificateSigningRequest":
        _take_over(new, old, "spec")
    if _counts(strategy.generation, new, old) or (
        kind == "CSIDriver" and _driver_changed(new, old)
    ):
        meta["generation"] = old_meta.get("generation", 0) + 1


def _prepare_status_update(new: Object, old: Object, kind: str) -> None:
    meta, old_meta = new["metadata"], old["metadata"]
    for key in [
        key for key in new if key not in ("metadata", "status", "apiVersion", "kind")
    ] + ["spec"]:
        _take_over(new, old, key)
    for key in old:
        if key not in new and key != "status":
            new[key] = old[key]
    if kind == "Pod":
        _take_over(meta, old_meta, "ownerReferences")
        _take_over(meta, old_meta, "deletionTimestamp")
        status = new.get("status") or {}
        if not status.get("qosClass") and (old.get("status") or {}).get("qosClass"):
            new["status"] = {**status, "qosClass": old["status"]["qosClass"]}
        status = new.get("status") or {}
        if status.get("podIP") and not status.get("podIPs"):
            new["status"] = {**status, "podIPs": [{"ip": status["podIP"]}]}
        _keep_observed_generations(new, old)
    elif kind in ("Deployment", "ReplicationController"):
        _take_over(meta, old_meta, "labels")
    elif kind in _STATUS_KEEPS_METADATA:
        kept = {
            key: meta[key]
            for key in ("managedFields", "resourceVersion")
            if key in meta
        }
        new["metadata"] = {
            **{
                k: v
                for k, v in old_meta.items()
                if k not in ("managedFields", "resourceVersion")
            },
            **kept,
        }


_STATUS_KEEPS_METADATA = {
    "CustomResourceDefinition",
    "FlowSchema",
    "PriorityLevelConfiguration",
    "ValidatingAdmissionPolicy",
    "VolumeAttachment",
    "CertificateSigningRequest",
    "ServiceCIDR",
    "ResourceClaim",
}


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


def _take_over(new: Object, old: Object, key: str) -> None:
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)


def _driver_changed(new: Object, old: Object) -> bool:
    """A CSIDriver counts only changes of what may change, and starts at zero."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    return any(
        spec.get(field) != before.get(field)
        for field in ("tokenRequests", "requiresRepublish", "seLinuxMount")
    )


def _counts(rule: str, new: Object, old: Object) -> bool:
    if rule in ("", "create"):
        return False
    if rule == WHOLE:
        ignored = ("metadata", "status", "kind", "apiVersion")
        if {k: v for k, v in new.items() if k not in ignored} != {
            k: v for k, v in old.items() if k not in ignored
        }:
            return True
        return new.get("kind") == "EndpointSlice" and new["metadata"].get(
            "labels"
        ) != old["metadata"].get("labels")
    if new.get("spec") != old.get("spec"):
        return True
    return rule == "spec+annotations" and (
        new["metadata"].get("annotations") or {}
    ) != (old["metadata"].get("annotations") or {})


def canonicalize(obj: Object) -> None:
    """Last touches after validation: a generated Namespace name becomes its label, a
    Job has its template's labels if none of its own.
    """
    forget_empty_lists(obj)
    kind = obj.get("kind")
    if kind == "Namespace":
        set_namespace_label(obj)
    elif kind == "Endpoints":
        repack_subsets(obj)
    elif kind == "Job" and not obj["metadata"].get(
        "labels"
    ):  # what reading it back from storage would default
        labels = ((obj["spec"].get("template") or {}).get("metadata") or {}).get(
            "labels"
        )
        if labels:
            obj["metadata"]["labels"] = dict(labels)
