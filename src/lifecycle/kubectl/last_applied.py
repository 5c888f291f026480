"""The annotation in which kubectl remembers what it applied: `--save-config`, and every
client-side apply.

Upstream: `kubectl/pkg/util/apply.go` (`GetModifiedConfiguration`,
`CreateOrUpdateAnnotation`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.go.json.encode import marshal
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.printing.key_order import in_key_order

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


def modified_configuration(obj: Object) -> Object:
    """An object from a file, with the annotation that remembers it: keys in order, an
    empty map of annotations told.
    """
    annotations = {
        key: value for key, value in _annotations(obj).items() if key != LAST_APPLIED
    }
    plain = {**obj, "metadata": {**obj.get("metadata", {}), "annotations": annotations}}
    return _annotated(plain, marshal(in_key_order(plain)))


def create_apply_annotation(obj: Object) -> Object:
    """A generated object, with the annotation: fields in declared order."""
    return _annotated(obj, marshal(obj))


def _annotations(obj: Object) -> dict[str, str]:
    return dict((obj.get("metadata") or {}).get("annotations") or {})


def _annotated(obj: Object, text: str) -> Object:
    annotations = {**_annotations(obj), LAST_APPLIED: text + "\n"}
    return {**obj, "metadata": {**obj.get("metadata", {}), "annotations": annotations}}
