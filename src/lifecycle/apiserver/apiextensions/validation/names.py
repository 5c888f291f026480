"""The names of a definition: what may follow `kubectl get`.

Upstream: `apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go`
(`ValidateCustomResourceDefinitionNames`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.field_errors import (
    FieldError,
    invalid,
)
from lifecycle.api.http.wire import Object
from lifecycle.api.validation import content


def validate_names(names: Object) -> list[FieldError]:
    """DNS labels; a kind and its list are called differently."""
    errors: list[FieldError] = []
    for key in ("plural", "singular", "kind", "listKind"):
        value = names.get(key, "")
        mixed = key in ("kind", "listKind")
        messages = (
            content.dns1035_label(value.lower() if mixed else value) if value else []
        )
        if messages:
            why = ",".join(messages)
            why = (
                f"may have mixed case, but should otherwise match: {why}"
                if mixed
                else why
            )
            errors.append(invalid(f"spec.names.{key}", value, why))
    for key in ("shortNames", "categories"):
        for index, value in enumerate(names.get(key) or ()):
            if (messages := content.dns1035_label(value)) and (
                key == "shortNames" or messages
            ):
                errors.append(
                    invalid(f"spec.names.{key}[{index}]", value, ",".join(messages))
                )
        if (
            key == "shortNames"
            and names.get("kind")
            and names.get("kind") == names.get("listKind")
        ):
            errors.append(
                invalid(
                    "spec.names.listKind",
                    names["listKind"],
                    "kind and listKind may not be the same",
                )
            )
    return errors
