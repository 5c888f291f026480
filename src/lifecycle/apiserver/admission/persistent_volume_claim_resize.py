"""PersistentVolumeClaimResize: a claim grows only if its storage class can.

Upstream: `plugin/pkg/admission/storage/persistentvolume/resize/admission.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.quantity import parse_quantity
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import UPDATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader


class PersistentVolumeClaimResize(Plugin):
    """Looks at changed claims."""

    name = "PersistentVolumeClaimResize"
    operations = frozenset({UPDATE})
    resources = frozenset({("", "persistentvolumeclaims")})

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._classes = resource("storageclasses.storage.k8s.io")

    def validate(self, attributes: Attributes) -> None:
        """Refuse more storage where the class does not allow expansion."""
        new, old = attributes.obj, attributes.old_obj
        if new is None or old is None or _size(new) is None or _size(old) is None:
            return
        if parse_quantity(str(_size(new))) <= parse_quantity(str(_size(old))):
            return
        if (old.get("status") or {}).get("phase") != "Bound":
            raise attributes.forbidden(
                "Only bound persistent volume claims can be expanded"
            )
        name = old["spec"].get("storageClassName") or ""
        storage_class = self._reader.get(self._classes, "", name) if name else None
        if storage_class is None or not storage_class.get("allowVolumeExpansion"):
            raise attributes.forbidden(
                "only dynamically provisioned pvc can be resized and the storageclass"
                " that provisions the pvc must support resize"
            )


def _size(claim: Object) -> str | None:
    size = ((claim["spec"].get("resources") or {}).get("requests") or {}).get("storage")
    return None if size is None else str(size)
