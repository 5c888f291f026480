"""Which rule judges which kind.

Upstream: the `Validate` and `ValidateUpdate` methods of `pkg/registry/*/*/strategy.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.field_errors import FieldError
from lifecycle.api.resources import resource_for_kind
from lifecycle.api.validation import content
from lifecycle.api.validation.object_meta import validate_object_meta, validate_object_meta_update
from lifecycle.api.wire import Object

Create = Callable[[Object], list[FieldError]]
Update = Callable[[Object, Object], list[FieldError]]

_CREATE: dict[tuple[str, str], Create] = {}
_UPDATE: dict[tuple[str, str, str], Update] = {}


def _namespaced(obj: Object) -> bool:
    resource = resource_for_kind(obj.get("apiVersion", ""), obj.get("kind", ""))
    return resource.namespaced if resource is not None else bool((obj.get("metadata") or {}).get("namespace"))


def validate_create(obj: Object) -> list[FieldError]:
    """Everything wrong with a new object. An empty list means that it may be stored."""
    rule = _CREATE.get((obj.get("apiVersion", ""), obj.get("kind", "")))
    if rule is not None:
        return rule(obj)
    return validate_object_meta(obj.get("metadata") or {}, _namespaced(obj), content.name_is_path_segment)


def validate_update(new: Object, old: Object, subresource: str = "") -> list[FieldError]:
    """Everything wrong with replacing `old` by `new`, through the main resource or a subresource such as `status`."""
    rule = _UPDATE.get((new.get("apiVersion", ""), new.get("kind", ""), subresource))
    if rule is not None:
        return rule(new, old)
    return validate_object_meta_update(new["metadata"], old["metadata"])
