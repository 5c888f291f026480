"""Bindings: how a scheduler says where a pod shall run. Never stored; what becomes of
one is in `pod.binding`.

Upstream: `pkg/apis/core/validation/validation.go` (`ValidatePodBinding`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, not_supported, required
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.rest.strategy import Strategy


def validate(binding: Object) -> list[FieldError]:
    """To a node, by name."""
    target = binding.get("target") or {}
    errors: list[FieldError] = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(
            not_supported(
                "target.kind", target["kind"], ("Node", "<empty>"), plain=True
            )
        )
    if not target.get("name"):
        errors.append(required("target.name"))
    return errors


STRATEGY = Strategy(validate=validate)
