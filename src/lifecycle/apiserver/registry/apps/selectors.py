"""Selectors of Deployments, ReplicaSets and DaemonSets, and the templates they must
choose.

Upstream: `pkg/apis/apps/validation/validation.go` (`ValidateDeploymentSpec`,
`ValidateReplicaSetSpec`); immutable selectors: `pkg/registry/apps/*/strategy.go`,
v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid, required
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.registry.core.pod.template import validate_template
from lifecycle.apiserver.registry.rest.label_selectors import (
    selector_is_empty,
    selector_is_usable,
    validate_label_selector,
)
from lifecycle.apiserver.registry.rest.object_meta import IMMUTABLE


def validate_selector(spec: Object, path: str) -> list[FieldError]:
    """There is one, and it says something."""
    selector = spec.get("selector")
    if selector is None:
        return [required(f"{path}.selector")]
    errors = validate_label_selector(selector, f"{path}.selector")
    if selector_is_empty(selector):
        errors.append(
            invalid(
                f"{path}.selector", selector, "empty selector is invalid for deployment"
            )
        )
    return errors


def validate_selector_and_template(spec: Object, path: str) -> list[FieldError]:
    """The selector can be used, and chooses the template's pods."""
    selector = spec.get("selector")
    if selector is not None and not selector_is_usable(selector):
        return [invalid(f"{path}.selector", selector, "invalid label selector")]
    return validate_template(spec, path, "ReplicaSet")


def validate_selector_stays(new: Object, old: Object) -> list[FieldError]:
    """An update cannot change whose pods these are."""
    selector = (new.get("spec") or {}).get("selector")
    return (
        []
        if selector == (old.get("spec") or {}).get("selector")
        else [invalid("spec.selector", selector, IMMUTABLE)]
    )
