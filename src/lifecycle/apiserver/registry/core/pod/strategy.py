"""Pods: what the registry does to one in the course of its life.

Upstream: `pkg/registry/core/pod/strategy.go` (`podStrategy`, `ToSelectableFields`),
`pkg/apis/core/v1/conversion.go` (field labels), v1.36.
"""

from __future__ import annotations

from lifecycle.api.defaults.pods import set_pod_defaults, set_service_account_names
from lifecycle.api.qos import compute_pod_qos
from lifecycle.api.schema import decode as decode_any
from lifecycle.api.schema import empties
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.core.pod.app_armor import (
    app_armor_warnings,
    copy_app_armor_annotations,
)
from lifecycle.apiserver.registry.core.pod.disabled_fields import (
    drop_disabled_pod_fields,
)
from lifecycle.apiserver.registry.core.pod.ephemeral_containers import (
    EPHEMERAL_CONTAINERS,
)
from lifecycle.apiserver.registry.core.pod.match_label_keys import (
    merge_match_label_keys,
)
from lifecycle.apiserver.registry.core.pod.resize import RESIZE
from lifecycle.apiserver.registry.core.pod.status import STATUS
from lifecycle.apiserver.registry.core.pod.table import PRINTER
from lifecycle.apiserver.registry.core.pod.template import name_warnings
from lifecycle.apiserver.registry.core.pod.validation import validate, validate_update
from lifecycle.apiserver.registry.core.pod.warnings import get_warnings_for_pod
from lifecycle.apiserver.registry.rest.field_labels import (
    NAME,
    NAMESPACE,
    FieldLabels,
    field_label_not_supported,
)
from lifecycle.apiserver.registry.rest.generation import Generation
from lifecycle.apiserver.registry.rest.strategy import Strategy

DEFAULT_GRACE_PERIOD = 30
"""Seconds for a pod whose `terminationGracePeriodSeconds` was never defaulted."""


def prepare_for_create(pod: Object) -> None:
    """It begins `Pending`, with its quality of service; gates hold it back."""
    spec = pod.get("spec") or {}
    if spec:
        drop_disabled_pod_fields(spec, None)
        copy_app_armor_annotations(pod)
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


def decode(obj: object, api_version: str, kind: str) -> tuple[Object, list[str]]:
    """As any kind, but an overhead of nothing is an overhead: admission asks whose. It
    asks of new pods, which have no uid. And an old kubelet's `podIP` is the first of
    `podIPs`, or all of them. Upstream: `Convert_v1_PodStatus_To_core_PodStatus`.
    """
    decoded, strict = decode_any(obj, api_version, kind)
    status = decoded.get("status") or {}
    ips = status.get("podIPs") or [{}]
    if status.get("podIP") and status["podIP"] != ips[0].get("ip"):
        status["podIPs"] = [{"ip": status["podIP"]}]
    elif ips[0].get("ip"):
        status["podIP"] = ips[0]["ip"]
    if not (decoded.get("metadata") or {}).get("uid"):
        empties.kept(decoded, strict, "spec.overhead")
    if isinstance(strict, empties.Strict) and strict.empties:
        strict.empties = [*strict.empties, *_requests_of_nothing(decoded, strict)]
    return decoded, strict


def _requests_of_nothing(pod: Object, strict: empties.Strict) -> list[empties.Empty]:
    """Requests default to the limits, and so to none where the limits are none."""
    spec = pod.get("spec") or {}
    resources = [
        container["resources"]
        for group in ("containers", "initContainers")
        for container in spec.get(group) or ()
        if container.get("resources") is not None
    ]
    return [
        (each, "requests", {})
        for each in resources
        if any(holder is each and key == "limits" for holder, key, _ in strict.empties)
    ]


def prepare_for_update(new: Object, old: Object) -> None:
    """Of features that are off counts what was there before."""
    if new.get("spec"):
        drop_disabled_pod_fields(new["spec"], old.get("spec"))
        if not new["spec"].get("overhead", True):
            del new["spec"]["overhead"]


def warnings_on_create(pod: Object) -> list[str]:
    """Of the name, which will be its host's, and of the specification. An update of a
    pod never warns.
    """
    return name_warnings(pod, "the Pod's hostname") + get_warnings_for_pod(pod)


def check_graceful_delete(pod: Object, requested: int | None) -> int:
    """A pod that no kubelet knows, or that is over, need not be waited for."""
    spec = pod["spec"]
    grace = requested
    if grace is None:
        grace = spec.get("terminationGracePeriodSeconds", DEFAULT_GRACE_PERIOD)
    if not spec.get("nodeName"):
        return 0
    if (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed"):
        return 0
    return max(int(grace), 1) if grace < 0 else int(grace)


def _selectable_fields(pod: Object) -> dict[str, str]:
    spec, status = pod.get("spec") or {}, pod.get("status") or {}
    return {
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.restartPolicy": spec.get("restartPolicy", ""),
        "spec.schedulerName": spec.get("schedulerName", ""),
        "spec.serviceAccountName": spec.get("serviceAccountName", ""),
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": status.get("phase", ""),
        "status.podIP": status.get("podIP", ""),
        "status.nominatedNodeName": status.get("nominatedNodeName", ""),
    }


FIELD_LABELS = FieldLabels(
    (NAME, NAMESPACE, *_selectable_fields({}), "status.podIPs"),
    _selectable_fields,
    field_label_not_supported,
)

STRATEGY = Strategy(
    decode=decode,
    set_defaults=set_pod_defaults,
    generation=Generation.SPEC,
    warnings_before_create=app_armor_warnings,
    prepare_for_create=prepare_for_create,
    validate=validate,
    warnings_on_create=warnings_on_create,
    prepare_for_update=prepare_for_update,
    validate_update=validate_update,
    subresources={
        "ephemeralcontainers": EPHEMERAL_CONTAINERS,
        "resize": RESIZE,
        "status": STATUS,
    },
    check_graceful_delete=check_graceful_delete,
    returns_deleted_object=True,
    field_labels=FIELD_LABELS,
    printer=PRINTER,
)
