"""JSON merge patch (RFC 7386): the patch looks like the object; null deletes, objects
merge, all else replaces.

Upstream: `apiserver/pkg/endpoints/handlers/patch.go` (`jsonPatcher.applyJSPatch`),
`gopkg.in/evanphx/json-patch.v4/merge.go` (`MergePatch`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.go.key_order import in_key_order
from lifecycle.api.status import bad_request


def apply_merge_patch(doc: Any, patch: Any) -> Any:
    """A new document: `doc` with `patch` merged in. Shares unchanged parts with both,
    changes neither.

    Raises StatusError 400 for a patch that is no object (an array replaces the whole
    document, which no API object survives).
    """
    if isinstance(patch, list):
        return _without_nulls(patch)
    if not isinstance(patch, dict):
        raise bad_request("Invalid JSON Patch")
    return _merge(doc, patch) if isinstance(doc, dict) else _without_nulls(patch)


def _merge(doc: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    out = dict(doc)
    for key, value in patch.items():
        if value is None:
            out.pop(key, None)
            continue
        current = out.get(key)
        if isinstance(current, dict):  # what replaces an object is taken as it is
            out[key] = _merge(current, value) if isinstance(value, dict) else value
        else:
            out[key] = _without_nulls(value)
    # what upstream's library has looked into is a Go map afterwards, and a Go map is
    # written in the order of its keys
    return in_key_order(out)


def _without_nulls(value: Any) -> Any:
    """What arrives where nothing was: there is nothing for the nulls of its objects to
    delete. Those of a list are items.
    """
    if isinstance(value, dict):
        return in_key_order(
            {
                key: _without_nulls(item)
                for key, item in value.items()
                if item is not None
            }
        )
    if isinstance(value, list):
        return [_without_nulls(item) for item in value]
    return value
