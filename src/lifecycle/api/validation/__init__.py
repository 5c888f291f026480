"""Validation: everything that is wrong with an object, in upstream's words and order.

Each kind has a rule for creation and one for update. They look at objects in normal
form, after defaulting and admission, and return all errors at once. Which function
judges which kind is written down in `registry`; kinds without an entry have their
metadata checked.

Upstream: `pkg/apis/*/validation/validation.go` called from each strategy's `Validate`
and `ValidateUpdate`; `apiserver/pkg/registry/rest/{create,update}.go` for the metadata
checks behind it, v1.36.
"""

from lifecycle.api.validation.registry import validate_create, validate_update
from lifecycle.api.validation.warnings import (
    deprecation_warning,
    warnings_for,
    warnings_for_update,
)

__all__ = [
    "deprecation_warning",
    "validate_create",
    "validate_update",
    "warnings_for",
    "warnings_for_update",
]
