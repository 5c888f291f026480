"""DefaultStorageClass: a claim that names no class gets the cluster's default one.

`storageClassName: ""` is a choice (no class at all) and stays. Of several default
classes the newest counts.

Upstream: `plugin/pkg/admission/storage/storageclass/setdefault/admission.go`,
`pkg/volume/util/storageclass.go` (`GetDefaultClass`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader

IS_DEFAULT = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"


class DefaultStorageClass(Plugin):
    """Looks at new claims."""

    name = "DefaultStorageClass"
    operations = frozenset({CREATE})
    resources = frozenset({("", "persistentvolumeclaims")})

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._classes = resource("storageclasses.storage.k8s.io")

    def admit(self, attributes: Attributes) -> None:
        """Name the default class, if there is one."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        annotations = attributes.obj["metadata"].get("annotations") or {}
        if spec.get("storageClassName") is not None or CLASS_ANNOTATION in annotations:
            return
        default = self._default_class()
        if default is not None:
            spec["storageClassName"] = default["metadata"]["name"]

    def _default_class(self) -> Object | None:
        defaults = [c for c in self._reader.list(self._classes) if _is_default(c)]
        defaults.sort(key=lambda c: c["metadata"]["name"])
        return max(
            defaults,
            key=lambda c: c["metadata"].get("creationTimestamp", ""),
            default=None,
        )


def _is_default(storage_class: Object) -> bool:
    annotations = storage_class["metadata"].get("annotations") or {}
    return any(annotations.get(key) == "true" for key in IS_DEFAULT)
