"""ResourceClaimTemplates: claims to be made, one for each pod.

Upstream: `pkg/registry/resource/resourceclaimtemplate/strategy.go`,
`pkg/apis/resource/validation/validation.go` (`ValidateResourceClaimTemplate` …),
`pkg/printers/internalversion/printers.go` (`printResourceClaimTemplate`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import FieldError, invalid
from lifecycle.api.http.wire import Object
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.validation import content
from lifecycle.apiserver.registry.printers.printer import NAME_AND_AGE
from lifecycle.apiserver.registry.resource.claim_validation import validate_claim_spec
from lifecycle.apiserver.registry.resource.requests import set_claim_spec_defaults
from lifecycle.apiserver.registry.rest.object_meta import (
    IMMUTABLE,
    validate_core_object_meta,
    validate_core_object_meta_update,
    validate_template_object_meta,
)
from lifecycle.apiserver.registry.rest.strategy import Strategy


def set_defaults(template: Object) -> None:
    """A ResourceClaimTemplate: the same, one level down."""
    set_claim_spec_defaults((template.get("spec") or {}).get("spec") or {})


def validate(template: Object) -> list[FieldError]:
    """A new template: of a claim's metadata it may give labels and annotations."""
    errors = validate_core_object_meta(
        template.get("metadata") or {}, True, content.name_is_dns_subdomain
    )
    spec = template.get("spec") or {}
    errors += validate_template_object_meta(spec.get("metadata") or {}, "spec.metadata")
    return errors + validate_claim_spec(spec.get("spec") or {}, "spec.spec")


def validate_update(new: Object, old: Object) -> list[FieldError]:
    """Its spec stays."""
    errors = validate(new)
    errors += validate_core_object_meta_update(new["metadata"], old["metadata"])
    if new.get("spec") != old.get("spec"):
        shown = internal_value("resource/v1.ResourceClaimTemplateSpec", new.get("spec"))
        errors.append(invalid("spec", shown, IMMUTABLE))
    return errors


STRATEGY = Strategy(
    set_defaults=set_defaults,
    validate=validate,
    validate_update=validate_update,
    returns_deleted_object=True,
    printer=NAME_AND_AGE,
)
