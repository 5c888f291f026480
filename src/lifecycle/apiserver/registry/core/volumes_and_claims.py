"""What persistent volumes and their claims have in common: warnings, and cells of
tables.

Upstream: `pkg/api/persistentvolume/util.go`, `pkg/api/persistentvolumeclaim/util.go`
(`GetWarningsForPersistentVolumeClaim`), `pkg/apis/core/helper/helpers.go`
(`GetAccessModesAsString`, `GetPersistentVolumeClass`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity

BETA_CLASS = "volume.beta.kubernetes.io/storage-class"


def beta_class_warnings(obj: Object) -> list[str]:
    """Of the annotation that `storageClassName` has replaced."""
    if BETA_CLASS in ((obj.get("metadata") or {}).get("annotations") or {}):
        return [
            f"metadata.annotations[{BETA_CLASS}]: deprecated since v1.8; use"
            ' "storageClassName" attribute instead'
        ]
    return []


def fractional_storage_warnings(amounts: Object | None, path: str) -> list[str]:
    """Of half bytes."""
    text = (amounts or {}).get("storage")
    if text is None or not parse_quantity(text).milli() % 1000:
        return []
    return [
        f'{path}[storage]: fractional byte value "{text}" is invalid, must be an'
        " integer"
    ]


_MODES = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def access_modes(modes: Iterable[str] | None) -> str:
    """`RWO,ROX`: each once, in upstream's order."""
    present = set(modes or ())
    return ",".join(short for mode, short in _MODES.items() if mode in present)


def or_unset(value: str | None) -> str:
    """`<unset>` for what is not there."""
    return "<unset>" if value is None else value


def storage_class_name(obj: Object) -> str:
    """The annotation, which came first, or the field."""
    annotations = obj["metadata"].get("annotations") or {}
    if BETA_CLASS in annotations:
        return str(annotations[BETA_CLASS])
    return (obj.get("spec") or {}).get("storageClassName") or ""


def phase(obj: Object) -> str:
    """`Terminating` once it is being deleted."""
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    return str((obj.get("status") or {}).get("phase", ""))
