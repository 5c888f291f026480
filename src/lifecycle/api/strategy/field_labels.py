"""Field selectors: which fields of a kind can be selected by, and their values.

Upstream: `pkg/apis/*/v1/conversion.go` (`AddFieldLabelConversionFunc`),
`ToSelectableFields` of each `pkg/registry/*/*/strategy.go`,
`apimachinery/pkg/runtime/conversion.go` (`DefaultMetaV1FieldSelectorConversion`),
v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object

_META = ("metadata.name", "metadata.namespace")
_LABELS: dict[str, tuple[str, ...]] = {
    "Pod": (
        *_META,
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.podIPs",
        "status.nominatedNodeName",
    ),
    "Node": ("metadata.name", "spec.unschedulable"),
    "ReplicationController": (*_META, "status.replicas"),
    "Event": (
        *_META,
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "Namespace": ("metadata.name", "status.phase"),
    "Secret": (*_META, "type"),
    "Service": (*_META, "spec.clusterIP", "spec.type"),
    "Job": (*_META, "status.successful"),
    "CertificateSigningRequest": ("metadata.name", "spec.signerName"),
    "ResourceSlice": ("metadata.name", "spec.nodeName", "spec.driver"),
}


def field_labels(kind: str) -> tuple[str, ...]:
    """The field selectors that a kind understands."""
    return _LABELS.get(kind, _META)


known_field_labels = field_labels


def field_label_error(kind: str, label: str) -> str:
    """What the server says about a field selector that the kind does not have (400)."""
    if kind == "Job":
        return f'field label "{label}" not supported for batchv1.Job'
    if kind in _LABELS and kind != "ResourceSlice":
        return f"field label not supported: {label}"
    return f'"{label}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def selectable_fields(obj: Object) -> dict[str, str]:
    """The values of an object's selectable fields, as strings. Upstream: each
    strategy's `ToSelectableFields`.
    """
    meta = obj.get("metadata") or {}
    values = {
        "metadata.name": meta.get("name", ""),
        "metadata.namespace": meta.get("namespace", ""),
    }
    kind = obj.get("kind", "")
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    if kind == "Pod":
        values["spec.nodeName"] = spec.get("nodeName", "")
        values["spec.restartPolicy"] = spec.get("restartPolicy", "")
        values["spec.schedulerName"] = spec.get("schedulerName", "")
        values["spec.serviceAccountName"] = spec.get("serviceAccountName", "")
        values["spec.hostNetwork"] = "true" if spec.get("hostNetwork") else "false"
        values["status.phase"] = status.get("phase", "")
        values["status.podIP"] = status.get("podIP", "")
        values["status.nominatedNodeName"] = status.get("nominatedNodeName", "")
    elif kind == "Node":
        values["spec.unschedulable"] = "true" if spec.get("unschedulable") else "false"
    elif kind == "Event":
        involved = obj.get("involvedObject") or obj.get("regarding") or {}
        for key in (
            "kind",
            "namespace",
            "name",
            "uid",
            "apiVersion",
            "resourceVersion",
            "fieldPath",
        ):
            values[f"involvedObject.{key}"] = involved.get(key, "")
        source = (obj.get("source") or {}).get("component", "")
        reporter = obj.get("reportingComponent") or obj.get("reportingController") or ""
        values.update(
            {
                "reason": obj.get("reason", ""),
                "reportingComponent": reporter,
                "source": source or reporter,
            }
        )
        values["type"] = obj.get("type", "")
    elif kind == "Namespace":
        values["status.phase"] = status.get("phase", "")
    elif kind == "Secret":
        values["type"] = obj.get("type", "")
    elif kind == "Service":
        values["spec.clusterIP"] = spec.get("clusterIP", "")
        values["spec.type"] = spec.get("type", "")
    elif kind == "Job":
        values["status.successful"] = str(status.get("succeeded", 0))
    elif kind == "ReplicationController":
        values["status.replicas"] = str(status.get("replicas", 0))
    elif kind == "CertificateSigningRequest":
        values["spec.signerName"] = spec.get("signerName", "")
    elif kind == "ResourceSlice":
        values["spec.nodeName"], values["spec.driver"] = (
            spec.get("nodeName", ""),
            spec.get("driver", ""),
        )
    return values
