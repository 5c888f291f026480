"""A PersistentVolumeClaim, or the template of one.

Upstream: `kubectl/pkg/describe/describe.go` (`printPersistentVolumeClaim`,
`describeVolumeClaimTemplates`), `kubectl/pkg/util/storage/storage.go`
(`GetAccessModesAsString`, `GetPersistentVolumeClaimClass`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.go.format import go_value
from lifecycle.api.http.wire import Object
from lifecycle.api.persistent_volumes import BETA_STORAGE_CLASS
from lifecycle.api.quantity import canonical_quantity
from lifecycle.kubectl.describe.moments import translate_timestamp_since
from lifecycle.kubectl.describe.multiline import (
    print_labels_and_annotations,
    print_labels_multiline,
)
from lifecycle.kubectl.describe.writer import PrefixWriter

_SHORT = {
    "ReadWriteOnce": "RWO",
    "ReadOnlyMany": "ROX",
    "ReadWriteMany": "RWX",
    "ReadWriteOncePod": "RWOP",
}


def access_modes(modes: Iterable[str] | None) -> str:
    """Access modes in short, always in the same order."""
    given = set(modes or ())
    return ",".join(short for mode, short in _SHORT.items() if mode in given)


def storage_class(obj: Object) -> str:
    """The class of a claim, a template or a volume; an older annotation wins."""
    annotations = (obj.get("metadata") or {}).get("annotations") or {}
    if BETA_STORAGE_CLASS in annotations:
        return str(annotations[BETA_STORAGE_CLASS])
    return str(obj["spec"].get("storageClassName") or "")


def status_or_terminating(w: PrefixWriter, obj: Object) -> None:
    """The phase, unless the object is on its way out."""
    deletion = obj["metadata"].get("deletionTimestamp")
    if deletion:
        lasts = translate_timestamp_since(deletion)
        w.field(0, "Status", f"Terminating (lasts {lasts})")
    else:
        w.field(0, "Status", (obj.get("status") or {}).get("phase", ""))


def print_persistent_volume_claim(
    w: PrefixWriter, claim: Object, *, whole: bool = True
) -> None:
    """A claim; of a template (not `whole`) only what a template can have."""
    meta, spec = claim.get("metadata") or {}, claim["spec"]
    status = claim.get("status") or {}
    if whole:
        w.field(0, "Name", meta["name"])
        w.field(0, "Namespace", meta.get("namespace", ""))
    w.field(0, "StorageClass", storage_class(claim))
    if whole:
        status_or_terminating(w, claim)
    bound = bool(spec.get("volumeName"))
    w.field(0, "Volume", spec.get("volumeName", ""))
    print_labels_and_annotations(w, {"metadata": meta})
    if whole:
        w.field(0, "Finalizers", meta.get("finalizers") or [])
    amount = canonical_quantity((status.get("capacity") or {}).get("storage", "0"))
    w.field(0, "Capacity", amount if bound else "")
    w.field(0, "Access Modes", access_modes(status.get("accessModes")) if bound else "")
    if spec.get("volumeMode") is not None:
        w.field(0, "VolumeMode", spec["volumeMode"])
    if (source := spec.get("dataSource")) is not None:
        w.write(0, "DataSource:\n")
        if source.get("apiGroup") is not None:
            w.field(1, "APIGroup", source["apiGroup"])
        w.field(1, "Kind", source["kind"])
        w.field(1, "Name", source["name"])


def describe_volume_claim_templates(
    templates: Iterable[Object] | None, w: PrefixWriter
) -> None:
    """The claims that a StatefulSet makes for each of its pods."""
    if not templates:
        w.field(0, "Volume Claims", "<none>")
        return
    w.write(0, "Volume Claims:\n")
    for claim in templates:
        meta, spec = claim["metadata"], claim["spec"]
        w.field(1, "Name", meta["name"])
        w.field(1, "StorageClass", storage_class(claim))
        print_labels_multiline(w, "Labels", meta.get("labels"), "  ")
        print_labels_multiline(w, "Annotations", meta.get("annotations"), "  ")
        amount = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
        capacity = "<default>" if amount is None else canonical_quantity(amount)
        w.field(1, "Capacity", capacity)
        w.field(1, "Access Modes", go_value(list(spec.get("accessModes") or ())))
