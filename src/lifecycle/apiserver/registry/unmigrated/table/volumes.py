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
}
