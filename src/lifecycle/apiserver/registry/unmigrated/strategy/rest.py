"""Facts and hooks of the kinds that have no home of their own yet.

Upstream: `pkg/registry/*/*/strategy.go`, v1.36, all gates at their defaults. Left out:
DRA kinds beyond status and generation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from lifecycle.api.endpoint_subsets import repack_subsets
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.pod.disabled_fields import (
    drop_disabled_pod_fields,
    pod_spec_of,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import UpdateStrategy
from lifecycle.apiserver.registry.rest.update import (
    prepare_for_status_only_update,
    prepare_for_status_update,
    take_over,
)
from lifecycle.apiserver.registry.unmigrated.defaults.core import set_namespace_label
from lifecycle.apiserver.registry.unmigrated.strategy.data_sources import (
    prepare_data_sources,
)
from lifecycle.apiserver.registry.unmigrated.strategy.on_create import (
    clean_secret_references,
)
from lifecycle.apiserver.registry.unmigrated.strategy.pod_resize import prepare_resize
from lifecycle.apiserver.registry.unmigrated.strategy.services import (
    prepare_service_for_update,
)

SPEC, CONTENT = Generation.SPEC, Generation.CONTENT


class Facts(NamedTuple):
    """What a kind is, without code."""

    generation: Generation = Generation.UNCOUNTED
    create_on_update: bool = False
    unconditional_update: bool = True


PLAIN = Facts()
_SPEC = Facts(SPEC)

FACTS: dict[str, Facts] = {
    "Pod": _SPEC,
    "Service": Facts(create_on_update=True),
    "Endpoints": Facts(create_on_update=True),
    "Event": Facts(create_on_update=True),
    "LimitRange": Facts(create_on_update=True),
    "ReplicationController": _SPEC,
    "PodTemplate": Facts(CONTENT),
    "ReplicaSet": _SPEC,
    "DaemonSet": _SPEC,
    "StatefulSet": _SPEC,
    "Job": _SPEC,
    "CronJob": _SPEC,
    "PodDisruptionBudget": Facts(SPEC, unconditional_update=False),
    "Ingress": _SPEC,
    "IngressClass": _SPEC,
    "NetworkPolicy": _SPEC,
    "EndpointSlice": Facts(Generation.CONTENT_AND_LABELS),
    "PriorityClass": Facts(Generation.ALWAYS_ONE),
    "RuntimeClass": Facts(create_on_update=True, unconditional_update=False),
    "Role": Facts(create_on_update=True),
    "RoleBinding": Facts(create_on_update=True),
    "ClusterRole": Facts(create_on_update=True),
    "ClusterRoleBinding": Facts(create_on_update=True),
    "MutatingWebhookConfiguration": Facts(CONTENT, unconditional_update=False),
    "ValidatingWebhookConfiguration": Facts(CONTENT, unconditional_update=False),
    "ValidatingAdmissionPolicy": Facts(SPEC, unconditional_update=False),
    "ValidatingAdmissionPolicyBinding": Facts(SPEC, unconditional_update=False),
    "MutatingAdmissionPolicy": Facts(SPEC, unconditional_update=False),
    "MutatingAdmissionPolicyBinding": Facts(SPEC, unconditional_update=False),
    "CustomResourceDefinition": Facts(SPEC, unconditional_update=False),
    "APIService": Facts(unconditional_update=False),
    "FlowSchema": _SPEC,
    "PriorityLevelConfiguration": _SPEC,
    "CSIDriver": Facts(unconditional_update=False),
    "CSINode": Facts(unconditional_update=False),
    "CSIStorageCapacity": Facts(unconditional_update=False),
    "VolumeAttachment": Facts(unconditional_update=False),
    "ResourceSlice": _SPEC,
    "DeviceClass": _SPEC,
}

WITH_PODS = frozenset(
    {
        *("Pod", "PodTemplate", "ReplicationController", "ReplicaSet"),
        *("DaemonSet", "StatefulSet", "Job", "CronJob"),
    }
)
"""Kinds that are a pod or hold a template of one."""

RETURNS_OBJECT = frozenset(
    {
        "CSIDriver", "CSINode", "Namespace", "PersistentVolume",
        "PersistentVolumeClaim", "Pod", "PodTemplate",
        "ResourceQuota", "Service", "ServiceAccount", "StorageClass",
        "VolumeAttachment",
    }
)  # fmt: skip
"""Kinds whose delete answers with the object instead of a Status
(`ReturnDeletedObject`).
"""

# --- create ---------------------------------------------------------------------------


def drop_disabled_on_create(obj: Object) -> None:
    """Of a pod, or of a template, count only features that are on."""
    spec = pod_spec_of(obj)
    if spec:
        drop_disabled_pod_fields(spec, None)


def _canonicalize_job(job: Object) -> None:
    if job["metadata"].get("labels"):
        return
    # what reading it back from storage would default
    template = (job["spec"].get("template") or {}).get("metadata") or {}
    if template.get("labels"):
        job["metadata"]["labels"] = dict(template["labels"])


CANONICALIZE: dict[str, Callable[[Object], None]] = {
    "Namespace": set_namespace_label,  # a generated name becomes its label
    "Endpoints": repack_subsets,
    "Job": _canonicalize_job,
}

# --- update ---------------------------------------------------------------------------


def drop_disabled_on_update(new: Object, old: Object) -> None:
    """The same; what was there before stays."""
    spec = pod_spec_of(new)
    if spec:
        drop_disabled_pod_fields(spec, pod_spec_of(old))


def _update_namespace(new: Object, old: Object) -> None:
    if (old.get("spec") or {}).get("finalizers") is not None:
        finalizers = old["spec"]["finalizers"]
        new["spec"] = {**(new.get("spec") or {}), "finalizers": finalizers}


def _update_secret(new: Object, old: Object) -> None:
    if not new.get("type"):
        take_over(new, old, "type")


def _update_service_account(new: Object, old: Object) -> None:
    clean_secret_references(new)


def _update_claim(new: Object, old: Object) -> None:
    if new.get("spec"):
        new["spec"] = dict(new["spec"])
        prepare_data_sources(new["spec"], old.get("spec"))


def _update_signing_request(new: Object, old: Object) -> None:
    take_over(new, old, "spec")


def _update_driver(new: Object, old: Object) -> None:
    """A CSIDriver counts only changes of what may change, and starts at zero."""
    spec, before = new.get("spec") or {}, old.get("spec") or {}
    counted = ("tokenRequests", "requiresRepublish", "seLinuxMount")
    if any(spec.get(key) != before.get(key) for key in counted):
        generation = old["metadata"].get("generation", 0) + 1
        new["metadata"]["generation"] = generation


ON_UPDATE: dict[str, Callable[[Object, Object], None]] = {
    "Service": prepare_service_for_update,
    "Namespace": _update_namespace,
    "Secret": _update_secret,
    "ServiceAccount": _update_service_account,
    "PersistentVolumeClaim": _update_claim,
    "CertificateSigningRequest": _update_signing_request,
    "CSIDriver": _update_driver,
    **dict.fromkeys(WITH_PODS, drop_disabled_on_update),
}

# --- subresources ---------------------------------------------------------------------


def _update_pod_status(new: Object, old: Object) -> None:
    prepare_for_status_update(new, old)
    for key in ("ownerReferences", "deletionTimestamp"):
        take_over(new["metadata"], old["metadata"], key)
    status = new.get("status") or {}
    if not status.get("qosClass") and (old.get("status") or {}).get("qosClass"):
        new["status"] = {**status, "qosClass": old["status"]["qosClass"]}
    status = new.get("status") or {}
    if status.get("podIP") and not status.get("podIPs"):
        new["status"] = {**status, "podIPs": [{"ip": status["podIP"]}]}
    _keep_observed_generations(new, old)


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


def _update_controller_status(new: Object, old: Object) -> None:
    prepare_for_status_update(new, old)
    take_over(new["metadata"], old["metadata"], "labels")


STATUS: dict[str, Callable[[Object, Object], None]] = {
    "Pod": _update_pod_status,
    "ReplicationController": _update_controller_status,
    **dict.fromkeys(
        (
            *("CustomResourceDefinition", "FlowSchema", "PriorityLevelConfiguration"),
            *("ValidatingAdmissionPolicy", "VolumeAttachment", "ServiceCIDR"),
            *("CertificateSigningRequest", "ResourceClaim"),
        ),
        prepare_for_status_only_update,
    ),
}
"""Kinds whose `/status` keeps more than the rest of the object."""


def _update_ephemeral_containers(new: Object, old: Object) -> None:
    metadata = new["metadata"]
    spec = dict(old["spec"])
    take_over(spec, new.get("spec") or {}, "ephemeralContainers")
    new["spec"] = spec
    new["metadata"] = {
        **old["metadata"],
        "managedFields": metadata.get("managedFields"),
        "resourceVersion": metadata.get("resourceVersion"),
    }
    take_over(new, old, "status")
    drop_disabled_on_update(new, old)


def _update_resize(new: Object, old: Object) -> None:
    prepare_resize(new, old)
    take_over(new, old, "status")
    drop_disabled_on_update(new, old)


def _update_finalize(new: Object, old: Object) -> None:
    take_over(new, old, "status")


def _update_approval(new: Object, old: Object) -> None:
    conditions = (new.get("status") or {}).get("conditions")
    take_over(new, old, "spec")
    new["status"] = {**(old.get("status") or {}), "conditions": conditions or []}


MORE_SUBRESOURCES: dict[str, dict[str, UpdateStrategy]] = {
    "Pod": {
        "ephemeralcontainers": UpdateStrategy(
            _update_ephemeral_containers, generation=SPEC
        ),
        "resize": UpdateStrategy(_update_resize, generation=SPEC),
    },
    "Namespace": {"finalize": UpdateStrategy(_update_finalize)},
    "CertificateSigningRequest": {"approval": UpdateStrategy(_update_approval)},
}
