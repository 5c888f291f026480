"""Which version and kind a document says it is of: looked for first, in any document.

Upstream: `apimachinery/pkg/runtime/serializer/json/meta.go`
(`SimpleMetaFactory.Interpret`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.json.decode import wrong_type

_TYPE_META = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string'
    ' "json:\\"kind,omitempty\\"" }'
)


def interpret(document: Any) -> tuple[str, str]:
    """apiVersion and kind, empty if it does not say. Raises ValueError for what is no
    object, and for names that are no texts.
    """
    if document is None:
        return "", ""
    complaint = ""
    if not isinstance(document, dict):
        complaint = wrong_type(document, _TYPE_META)
    else:
        version, kind = document.get("apiVersion"), document.get("kind")
        for name, value in (("apiVersion", version), ("kind", kind)):
            if not isinstance(value, str | None):
                complaint = wrong_type(value, "string", f".{name}")
                break
        else:
            return version or "", kind or ""
    raise ValueError(f"couldn't get version/kind; json parse error: {complaint}")
