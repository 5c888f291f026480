"""Documents with their keys in order, as Go writes a map: what has no type has no order
of its own.

Upstream: `encoding/json` of `map[string]interface{}`, behind
`unstructured.UnstructuredJSONScheme`, v1.36.2.
"""

from __future__ import annotations

from typing import Any


def in_key_order(value: Any) -> Any:
    """The same document, the keys of every object sorted."""
    if isinstance(value, dict):
        return {key: in_key_order(value[key]) for key in sorted(value)}
    return [in_key_order(item) for item in value] if isinstance(value, list) else value
