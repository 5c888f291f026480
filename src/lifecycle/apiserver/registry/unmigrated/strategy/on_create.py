"""What single kinds get at creation, beyond a reset status: phases, finalizers,
selectors, merged data.

Upstream: `pkg/registry/core/{pod,namespace,secret,serviceaccount}/strategy.go`,
`pkg/registry/batch/job/strategy.go` (`generateSelector`),
`apiextensions-apiserver/pkg/registry/customresourcedefinition/strategy.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.defaults.pods import set_service_account_names
from lifecycle.api.qos import compute_pod_qos
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.unmigrated.strategy.data_sources import (
    prepare_data_sources,
)
from lifecycle.apiserver.registry.unmigrated.strategy.match_label_keys import (
    merge_match_label_keys,
)


def _create_pod(pod: Object) -> None:
    spec = pod.get("spec") or {}
    status: Object = {"phase": "Pending"}
    if spec.get("schedulingGates"):
        status["conditions"] = [
            {
                "type": "PodScheduled",
                "status": "False",
                "lastProbeTime": None,
                "lastTransitionTime": (pod.get("metadata") or {}).get(
                    "creationTimestamp"
                ),
                "reason": "SchedulingGated",
                "message": "Scheduling is blocked due to non-empty scheduling gates",
            }
        ]
    status["qosClass"] = compute_pod_qos(pod)
    pod["status"] = status
    set_service_account_names(spec)  # admission has chosen one by now
    if spec.get("topologySpreadConstraints") or spec.get("affinity"):
        merge_match_label_keys(pod)


def _create_namespace(namespace: Object) -> None:
    namespace["status"] = {"phase": "Active"}
    spec = namespace.get("spec") or {}
    finalizers = spec.get("finalizers") or []
    if "kubernetes" not in finalizers:
        namespace["spec"] = {**spec, "finalizers": [*finalizers, "kubernetes"]}


def _create_persistent_volume(volume: Object) -> None:
    volume["status"] = {
        "phase": "Pending",
        "lastPhaseTransitionTime": volume["metadata"].get("creationTimestamp"),
    }


def _create_job(job: Object) -> None:
    spec = job["spec"]
    if spec.get("manualSelector"):
        return
    meta = job["metadata"]
    uid, name = meta.get("uid", ""), meta.get("name", "")
    template = spec["template"] = dict(spec["template"])
    template_meta = template["metadata"] = dict(template.get("metadata") or {})
    given = template_meta.get("labels")
    labels = template_meta["labels"] = dict(given or {})
    for prefix in ("batch.kubernetes.io/", ""):
        labels.setdefault(prefix + "job-name", name)
        labels.setdefault(prefix + "controller-uid", uid)
    if (
        given and meta.get("labels") is given
    ):  # defaulted: one map, seen from two places
        meta["labels"] = dict(labels)
    selector = dict(spec.get("selector") or {})
    selector["matchLabels"] = {
        "batch.kubernetes.io/controller-uid": uid,
        **(selector.get("matchLabels") or {}),
    }
    spec["selector"] = selector


def _create_custom_resource_definition(definition: Object) -> None:
    stored = [
        v["name"]
        for v in (definition.get("spec") or {}).get("versions") or ()
        if v.get("storage")
    ]
    definition["status"] = {
        "conditions": None,
        "acceptedNames": {"plural": "", "kind": ""},
        "storedVersions": stored[:1] or None,
    }


def _create_service(service: Object) -> None:
    """One address, two spellings."""
    spec = service.get("spec") or {}
    if spec.get("clusterIP") and not spec.get("clusterIPs"):
        spec["clusterIPs"] = [spec["clusterIP"]]


def _create_persistent_volume_claim(claim: Object) -> None:
    claim["status"] = {"phase": "Pending"}
    if claim.get("spec"):
        prepare_data_sources(claim["spec"], None)


def clean_secret_references(account: Object) -> None:
    """Of the secrets of a ServiceAccount only the names are kept. Upstream:
    `cleanSecretReferences`.
    """
    if account.get("secrets"):
        account["secrets"] = [
            {"name": one["name"]} if one.get("name") else {}
            for one in account["secrets"]
        ]


ON_CREATE: dict[str, Callable[[Object], None]] = {
    "Pod": _create_pod,
    "Namespace": _create_namespace,
    "PersistentVolume": _create_persistent_volume,
    "PersistentVolumeClaim": _create_persistent_volume_claim,
    "Job": _create_job,
    "CustomResourceDefinition": _create_custom_resource_definition,
    "Service": _create_service,
    "ServiceAccount": clean_secret_references,
}
"""Called by `prepare_for_create` after the status was reset; each may replace top-level
parts.
"""
