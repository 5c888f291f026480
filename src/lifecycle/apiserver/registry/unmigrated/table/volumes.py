"""Volumes: persistent volumes, claims, classes, CSI.

Upstream: `pkg/printers/internalversion/printers.go` (`printPersistentVolume`,
`printPersistentVolumeClaim`, `printStorageClass`, `printCSIDriver` …),
`pkg/apis/core/helper/helpers.go` (`GetAccessModesAsString`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.human_duration import age
from lifecycle.api.quantity import canonical_quantity
from lifecycle.api.wire import Object
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
    field,
)

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
_DEFAULT_CLASS = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
_DEFAULT_ATTRIBUTES_CLASS = ("storage.alpha.kubernetes.io/is-default-class",)
_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def _modes(modes: Iterable[str] | None) -> str:
    present = set(modes or ())
    return ",".join(short for mode, short in _MODES.items() if mode in present)


def _or_unset(value: str | None) -> str:
    return "<unset>" if value is None else value


def _class(obj: Object) -> str:
    annotations = obj["metadata"].get("annotations") or {}
    if _BETA_CLASS in annotations:
        return str(annotations[_BETA_CLASS])
    return (obj.get("spec") or {}).get("storageClassName") or ""


def _phase(obj: Object) -> str:
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return str((obj.get("status") or {}).get("phase", ""))


def _print_persistent_volume(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    claim = spec.get("claimRef")
    return [
        obj["metadata"]["name"],
        canonical_quantity((spec.get("capacity") or {}).get("storage", "0")),
        _modes(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        _phase(obj),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        _class(obj),
        _or_unset(spec.get("volumeAttributesClassName")),
        (obj.get("status") or {}).get("reason", ""),
        age(obj, now),
        _or_unset(spec.get("volumeMode")),
    ]


def _print_persistent_volume_claim(obj: Object, now: float) -> Cells:
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    volume = spec.get("volumeName", "")
    return [
        obj["metadata"]["name"],
        _phase(obj),
        volume,
        canonical_quantity((status.get("capacity") or {}).get("storage", "0"))
        if volume
        else "",
        _modes(status.get("accessModes")) if volume else "",
        _class(obj),
        _or_unset(spec.get("volumeAttributesClassName")),
        age(obj, now),
        _or_unset(spec.get("volumeMode")),
    ]


def _marked_default(obj: Object, annotations: tuple[str, ...]) -> str:
    found = obj["metadata"].get("annotations") or {}
    default = any(found.get(annotation) == "true" for annotation in annotations)
    return str(obj["metadata"]["name"]) + (" (default)" if default else "")


def _print_storage_class(obj: Object, now: float) -> Cells:
    return [
        _marked_default(obj, _DEFAULT_CLASS),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy") or "Delete",
        obj.get("volumeBindingMode") or "Immediate",
        bool(obj.get("allowVolumeExpansion")),
        age(obj, now),
    ]


def _print_volume_attachment(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    volume = (spec.get("source") or {}).get("persistentVolumeName") or ""
    attached = bool((obj.get("status") or {}).get("attached"))
    return [
        obj["metadata"]["name"],
        spec.get("attacher", ""),
        volume,
        spec.get("nodeName", ""),
        attached,
        age(obj, now),
    ]


def _print_csi_driver(obj: Object, now: float) -> Cells:
    spec = obj.get("spec") or {}
    requests, attach = spec.get("tokenRequests"), spec.get("attachRequired")
    return [
        obj["metadata"]["name"],
        True if attach is None else attach,
        bool(spec.get("podInfoOnMount")),
        bool(spec.get("storageCapacity")),
        "<unset>"
        if requests is None
        else ",".join(r.get("audience", "") for r in requests),
        bool(spec.get("requiresRepublish")),
        ",".join(spec.get("volumeLifecycleModes") or ()) or "<none>",
        age(obj, now),
    ]


def _print_csi_storage_capacity(obj: Object, now: float) -> Cells:
    capacity = obj.get("capacity")
    text = "<unset>" if capacity is None else canonical_quantity(capacity)
    return [obj["metadata"]["name"], obj.get("storageClassName", ""), text]


_PV, _PVC, _DRIVER = (
    "core/v1.PersistentVolume",
    "core/v1.PersistentVolumeClaim",
    "storage/v1.CSIDriverSpec",
)

PRINTERS = {
    "persistentvolumes": Printer(
        (
            NAME,
            Column("Capacity", field(f"{_PV}Spec", "capacity")),
            Column("Access Modes", field(f"{_PV}Spec", "accessModes")),
            Column(
                "Reclaim Policy", field(f"{_PV}Spec", "persistentVolumeReclaimPolicy")
            ),
            Column("Status", field(f"{_PV}Status", "phase")),
            Column("Claim", field(f"{_PV}Spec", "claimRef")),
            Column("StorageClass", "StorageClass of the pv"),
            Column("VolumeAttributesClass", "VolumeAttributesClass of the pv"),
            Column("Reason", field(f"{_PV}Status", "reason")),
            AGE,
            Column("VolumeMode", field(f"{_PV}Spec", "volumeMode"), priority=1),
        ),
        _print_persistent_volume,
    ),
    "persistentvolumeclaims": Printer(
        (
            NAME,
            Column("Status", field(f"{_PVC}Status", "phase")),
            Column("Volume", field(f"{_PVC}Spec", "volumeName")),
            Column("Capacity", field(f"{_PVC}Status", "capacity")),
            Column("Access Modes", field(f"{_PVC}Status", "accessModes")),
            Column("StorageClass", "StorageClass of the pvc"),
            Column("VolumeAttributesClass", "VolumeAttributesClass of the pvc"),
            AGE,
            Column("VolumeMode", field(f"{_PVC}Spec", "volumeMode"), priority=1),
        ),
        _print_persistent_volume_claim,
    ),
    "storageclasses.storage.k8s.io": Printer(
        (
            NAME,
            Column("Provisioner", field("storage/v1.StorageClass", "provisioner")),
            Column("ReclaimPolicy", field("storage/v1.StorageClass", "reclaimPolicy")),
            Column(
                "VolumeBindingMode",
                field("storage/v1.StorageClass", "volumeBindingMode"),
            ),
            Column(
                "AllowVolumeExpansion",
                field("storage/v1.StorageClass", "allowVolumeExpansion"),
            ),
            AGE,
        ),
        _print_storage_class,
    ),
    "volumeattributesclasses.storage.k8s.io": Printer(
        (
            NAME,
            Column(
                "DriverName", field("storage/v1.VolumeAttributesClass", "driverName")
            ),
            AGE,
        ),
        lambda obj, now: [
            _marked_default(obj, _DEFAULT_ATTRIBUTES_CLASS),
            obj.get("driverName", ""),
            age(obj, now),
        ],
    ),
    "volumeattachments.storage.k8s.io": Printer(
        (
            NAME,
            Column(
                "Attacher",
                field("storage/v1.VolumeAttachmentSpec", "attacher"),
                format="name",
            ),
            Column(
                "PV", field("storage/v1.VolumeAttachmentSource", "persistentVolumeName")
            ),
            Column("Node", field("storage/v1.VolumeAttachmentSpec", "nodeName")),
            Column(
                "Attached",
                field("storage/v1.VolumeAttachmentStatus", "attached"),
                "boolean",
            ),
            AGE,
        ),
        _print_volume_attachment,
    ),
    "csinodes.storage.k8s.io": Printer(
        (
            NAME,
            Column(
                "Drivers",
                "Drivers indicates the number of CSI drivers registered on the node",
                "integer",
            ),
            AGE,
        ),
        lambda obj, now: [
            obj["metadata"]["name"],
            len((obj.get("spec") or {}).get("drivers") or ()),
            age(obj, now),
        ],
    ),
    "csidrivers.storage.k8s.io": Printer(
        (
            NAME,
            Column("AttachRequired", field(_DRIVER, "attachRequired"), "boolean"),
            Column("PodInfoOnMount", field(_DRIVER, "podInfoOnMount"), "boolean"),
            Column("StorageCapacity", field(_DRIVER, "storageCapacity"), "boolean"),
            Column("TokenRequests", field(_DRIVER, "tokenRequests")),
            Column("RequiresRepublish", field(_DRIVER, "requiresRepublish"), "boolean"),
            Column("Modes", field(_DRIVER, "volumeLifecycleModes")),
            AGE,
        ),
        _print_csi_driver,
    ),
    "csistoragecapacities.storage.k8s.io": Printer(
        (
            NAME,
            Column(
                "StorageClassName",
                field("storage/v1.CSIStorageCapacity", "storageClassName"),
            ),
            Column("Capacity", field("storage/v1.CSIStorageCapacity", "capacity")),
        ),
        _print_csi_storage_capacity,
    ),
}
