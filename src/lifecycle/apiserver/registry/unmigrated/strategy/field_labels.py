"""Which fields can be selected by, of kinds that have no home of their own yet.

Upstream: `pkg/apis/*/v1/conversion.go` (`AddFieldLabelConversionFunc`),
`ToSelectableFields` of each `pkg/registry/*/*/strategy.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.rest.field_labels import (
    NAME,
    NAMESPACE,
    FieldLabels,
    field_label_not_supported,
)


def _pod(pod: Object) -> dict[str, str]:
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


def _node(node: Object) -> dict[str, str]:
    unschedulable = (node.get("spec") or {}).get("unschedulable")
    return {"spec.unschedulable": "true" if unschedulable else "false"}


_INVOLVED = (
    *("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion"),
    "fieldPath",
)


def _event(event: Object) -> dict[str, str]:
    involved = event.get("involvedObject") or event.get("regarding") or {}
    source = (event.get("source") or {}).get("component", "")
    reporter = event.get("reportingComponent") or event.get("reportingController") or ""
    return {
        **{f"involvedObject.{key}": involved.get(key, "") for key in _INVOLVED},
        "reason": event.get("reason", ""),
        "reportingComponent": reporter,
        "source": source or reporter,
        "type": event.get("type", ""),
    }


def _namespace(namespace: Object) -> dict[str, str]:
    return {"status.phase": (namespace.get("status") or {}).get("phase", "")}


def _secret(secret: Object) -> dict[str, str]:
    return {"type": secret.get("type", "")}


def _service(service: Object) -> dict[str, str]:
    spec = service.get("spec") or {}
    return {
        "spec.clusterIP": spec.get("clusterIP", ""),
        "spec.type": spec.get("type", ""),
    }


def _job(job: Object) -> dict[str, str]:
    return {"status.successful": str((job.get("status") or {}).get("succeeded", 0))}


def _replication_controller(controller: Object) -> dict[str, str]:
    return {"status.replicas": str((controller.get("status") or {}).get("replicas", 0))}


def _signing_request(request: Object) -> dict[str, str]:
    return {"spec.signerName": (request.get("spec") or {}).get("signerName", "")}


def _resource_slice(slice_: Object) -> dict[str, str]:
    spec = slice_.get("spec") or {}
    return {
        "spec.nodeName": spec.get("nodeName", ""),
        "spec.driver": spec.get("driver", ""),
    }


def _job_label_not_supported(label: str) -> str:
    return f'field label "{label}" not supported for batchv1.Job'


FIELD_LABELS: dict[str, FieldLabels] = {
    "Pod": FieldLabels(
        (NAME, NAMESPACE, *_pod({}), "status.podIPs"), _pod, field_label_not_supported
    ),
    "Node": FieldLabels((NAME, *_node({})), _node, field_label_not_supported),
    "ReplicationController": FieldLabels(
        (NAME, NAMESPACE, "status.replicas"),
        _replication_controller,
        field_label_not_supported,
    ),
    "Event": FieldLabels(
        (NAME, NAMESPACE, *_event({})), _event, field_label_not_supported
    ),
    "Namespace": FieldLabels(
        (NAME, "status.phase"), _namespace, field_label_not_supported
    ),
    "Secret": FieldLabels(
        (NAME, NAMESPACE, "type"), _secret, field_label_not_supported
    ),
    "Service": FieldLabels(
        (NAME, NAMESPACE, *_service({})), _service, field_label_not_supported
    ),
    "Job": FieldLabels(
        (NAME, NAMESPACE, "status.successful"), _job, _job_label_not_supported
    ),
    "CertificateSigningRequest": FieldLabels(
        (NAME, "spec.signerName"), _signing_request, field_label_not_supported
    ),
    "ResourceSlice": FieldLabels((NAME, *_resource_slice({})), _resource_slice),
}
