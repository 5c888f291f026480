"""Which class is the one for whoever names none.

Upstream: `pkg/apis/storage/util/helpers.go` (`IsDefaultAnnotationText`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object


def name_and_default(obj: Object, annotations: tuple[str, ...]) -> str:
    """The name; `(default)` if one of the annotations says so."""
    marks = obj["metadata"].get("annotations") or {}
    default = any(marks.get(annotation) == "true" for annotation in annotations)
    return str(obj["metadata"]["name"]) + (" (default)" if default else "")
