"""The shape of API objects: what the pinned version publishes about each type, compiled
once, and the decoder built from it.

- `schema_for("apps/v1", "Deployment")` – a `Schema` with `kind`, `fields`, `items`,
  `values`, `list_type`, `list_map_keys`, `map_type`, `patch_merge_key`,
  `patch_strategy`, `default`: for patches, server-side apply and `explain`.
- `decode(obj, "apps/v1", "Deployment")` – what the Go server makes of a JSON object:
  its normal form, and what it objects to.
- `as_printed(obj, "apps/v1", "Deployment")` – the object with its keys in the order in
  which Go prints them.
- `find_duplicate_fields(body)` – fields that a JSON text gives twice.
"""

from lifecycle.api.schema.decode import decode
from lifecycle.api.schema.duplicates import find_duplicate_fields
from lifecycle.api.schema.internal_types import internal_value
from lifecycle.api.schema.nodes import Schema
from lifecycle.api.schema.openapi import compile_schema, schema_for
from lifecycle.api.schema.printed import as_printed

__all__ = [
    "Schema",
    "as_printed",
    "compile_schema",
    "decode",
    "find_duplicate_fields",
    "internal_value",
    "schema_for",
]
