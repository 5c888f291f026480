"""DefaultIngressClass: an ingress that names no class gets the cluster's default one.

Upstream: `plugin/pkg/admission/network/defaultingressclass/admission.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.resources import resource
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader

IS_DEFAULT = "ingressclass.kubernetes.io/is-default-class"
CLASS_ANNOTATION = "kubernetes.io/ingress.class"


class DefaultIngressClass(Plugin):
    """Looks at new ingresses."""

    name = "DefaultIngressClass"
    operations = frozenset({CREATE})
    resources = frozenset({("networking.k8s.io", "ingresses")})

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._classes = resource("ingressclasses.networking.k8s.io")

    def admit(self, attributes: Attributes) -> None:
        """Name the default class – the newest, should there be several – if there is
        one.
        """
        assert attributes.obj is not None
        spec = attributes.obj.setdefault("spec", {})
        annotations = attributes.obj["metadata"].get("annotations") or {}
        if spec.get("ingressClassName") is not None or CLASS_ANNOTATION in annotations:
            return
        classes = self._reader.list(self._classes)
        defaults = [
            c
            for c in classes
            if (c["metadata"].get("annotations") or {}).get(IS_DEFAULT) == "true"
        ]
        defaults.sort(key=lambda c: c["metadata"]["name"])
        default = max(
            defaults,
            key=lambda c: c["metadata"].get("creationTimestamp", ""),
            default=None,
        )
        if default is not None:
            spec["ingressClassName"] = default["metadata"]["name"]
