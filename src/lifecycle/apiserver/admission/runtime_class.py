"""RuntimeClass: what the chosen container runtime costs, and where it exists.

A pod that names a runtime class gets the class's overhead (charged beside its
containers) and its scheduling constraints.

Upstream: `plugin/pkg/admission/runtimeclass/admission.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.api.status import failure
from lifecycle.api.validation import content
from lifecycle.apiserver.admission.attributes import CREATE, Attributes
from lifecycle.apiserver.admission.chain import PODS, Plugin
from lifecycle.apiserver.storage.object_reader import ObjectReader

OVERHEAD_WITHOUT_CLASS = (
    "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
)
OVERHEAD_DIFFERS = (
    "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead"
)


class RuntimeClass(Plugin):
    """Looks at new pods."""

    name = "RuntimeClass"
    operations = frozenset({CREATE})
    resources = PODS

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._classes = resource("runtimeclasses.node.k8s.io")

    def admit(self, attributes: Attributes) -> None:
        """Copy overhead, node selector and tolerations from the class."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        if not spec.get("runtimeClassName"):
            return
        runtime_class = self._class(attributes, spec)
        fixed = (runtime_class.get("overhead") or {}).get("podFixed")
        if fixed:
            if spec.get("overhead", fixed) != fixed:
                raise attributes.forbidden(OVERHEAD_DIFFERS)
            spec["overhead"] = dict(fixed)
        scheduling = runtime_class.get("scheduling") or {}
        selector = spec.get("nodeSelector") or {}
        for key, value in (scheduling.get("nodeSelector") or {}).items():
            if selector.get(key, value) != value:
                raise attributes.forbidden(
                    f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value};"
                    f" pod.spec.nodeSelector[{key}] = {selector[key]}"
                )
        if scheduling.get("nodeSelector"):
            spec["nodeSelector"] = selector | scheduling["nodeSelector"]
        tolerations = spec.get("tolerations") or []
        extra = [t for t in scheduling.get("tolerations") or () if t not in tolerations]
        if extra:
            spec["tolerations"] = tolerations + extra

    def validate(self, attributes: Attributes) -> None:
        """Refuse overhead that no class accounts for."""
        assert attributes.obj is not None
        spec = attributes.obj["spec"]
        if spec.get("overhead") is None:
            return
        runtime_class = (
            self._class(attributes, spec) if spec.get("runtimeClassName") else {}
        )
        fixed = (runtime_class.get("overhead") or {}).get("podFixed")
        if not fixed:
            raise attributes.forbidden(OVERHEAD_WITHOUT_CLASS)
        if spec["overhead"] != fixed:
            raise attributes.forbidden(OVERHEAD_DIFFERS)

    def _class(self, attributes: Attributes, spec: Object) -> Object:
        name = spec["runtimeClassName"]
        runtime_class = self._reader.get(self._classes, "", name)
        if runtime_class is None:
            if why := content.request_name(name):
                raise failure(500, "", why)
            raise attributes.forbidden(f'pod rejected: RuntimeClass "{name}" not found')
        return runtime_class
