"""StorageObjectInUseProtection: a volume or claim is not gone before nobody uses it.

Each gets a finalizer at birth; a controller takes it off when the object is deleted and
no pod (or claim) needs it any more.

Upstream: `plugin/pkg/admission/storage/storageobjectinuseprotection/admission.go`,
v1.36.
"""

from __future__ import annotations

from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin

FINALIZERS = {
    ("", "persistentvolumes"): "kubernetes.io/pv-protection",
    ("", "persistentvolumeclaims"): "kubernetes.io/pvc-protection",
    ("storage.k8s.io", "volumeattributesclasses"): "kubernetes.io/vac-protection",
}


class StorageObjectInUseProtection(Plugin):
    """Looks at new volumes, claims and volume attributes classes."""

    name = "StorageObjectInUseProtection"
    operations = frozenset({CREATE})
    resources = frozenset(FINALIZERS)

    def admit(self, attributes: Attributes) -> None:
        """Add the finalizer of the kind."""
        assert attributes.obj is not None
        finalizer = FINALIZERS[attributes.resource.group, attributes.resource.plural]
        meta = attributes.obj["metadata"]
        finalizers = meta.get("finalizers") or []
        if finalizer not in finalizers:
            meta["finalizers"] = [*finalizers, finalizer]
