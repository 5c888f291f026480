"""Warnings: what the server accepts but advises against (`Warning: 299` headers).

Upstream: each strategy's `WarningsOnCreate`, `pkg/api/service/warnings.go`,
`pkg/api/persistentvolume*/util.go`; deprecated versions:
`zz_generated.prerelease-lifecycle.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.validation.addresses import warnings_for_cidr
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.pod.template import (
    name_warnings,
    template_warnings,
)
from lifecycle.apiserver.registry.core.pod.warnings import (
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


RULES: dict[tuple[str, str], Callable[[Object], list[str]]] = {
    ("v1", "Pod"): _pod,
    ("v1", "PodTemplate"): _template("template"),
    ("v1", "ReplicationController"): _template("spec.template", named=True),
    ("apps/v1", "ReplicaSet"): _template("spec.template", named=True),
    ("apps/v1", "DaemonSet"): _template("spec.template"),
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("batch/v1", "Job"): _template("spec.template", named=True),
    ("batch/v1", "CronJob"): _template("spec.jobTemplate.spec.template", named=True),
    ("v1", "Node"): _node,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
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
    ("v1", "Node"): _node,
    ("v1", "PersistentVolume"): _volume,
    ("v1", "PersistentVolumeClaim"): _claim,
}
