"""What kind of value a schema describes."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.schema.openapi import _kind


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({}, "any"),
        ({"type": "string"}, "string"),
        ({"type": "integer"}, "integer"),
        ({"type": "array"}, "list"),
        ({"type": "object", "properties": {}}, "object"),
        ({"type": "object", "additionalProperties": {"type": "string"}}, "map"),
        ({"type": "object", "additionalProperties": True}, "any"),
        ({"type": "object"}, "any"),
        ({"type": "string", "format": "int-or-string"}, "int-or-string"),
        ({"x-kubernetes-int-or-string": True}, "int-or-string"),
        ({"type": "string", "format": "date-time"}, "string"),
    ],
)
def test_a_schema_is_of_a_kind(schema: dict[str, Any], kind: str) -> None:
    assert _kind(schema) == kind
