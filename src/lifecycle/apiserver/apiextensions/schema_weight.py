"""How much longer it takes to check a byte of a custom object than to read it.

Whoever writes a definition decides how often each value is looked at: once, and once
more for each alternative, rule, field and allowed value that there is. A list of three
thousand words that may be one of a thousand patterns is twelve kilobytes, and half a
minute's work. And of an empty object the defaults make a large one. So the weight goes
into the size of a request (`apiserver.registry.scope`), by which it is the worker's or
not (`api.worker`).

Upstream: nothing; there each request has a goroutine of its own.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json

JUNCTORS = ("allOf", "anyOf", "oneOf")
RULE = 100
"""Alternatives to which one rule comes: it may loop over what it looks at."""
AT_ONCE = 100
"""Fields that are looked for, allowed values to which a value is compared, and bytes of
a default that are copied, while one alternative is tried.
"""


def schema_weight(schema: Any) -> int:
    """From 1 on, for a schema that has none of these."""
    return 1 + _looks(schema)


def _looks(schema: Any) -> int:
    if isinstance(schema, list):
        return sum(map(_looks, schema))
    if not isinstance(schema, dict):
        return 0
    default = fast_json.dumps(schema.get("default"))
    return (
        sum(_length(schema.get(junctor), list) for junctor in JUNCTORS)
        + RULE * _length(schema.get("x-kubernetes-validations"), list)
        + _length(schema.get("enum"), list) // AT_ONCE
        + _length(schema.get("properties"), dict) // AT_ONCE
        + len(default) // AT_ONCE
        + sum(map(_looks, schema.values()))
    )


def _length(value: Any, kind: type[list[Any]] | type[dict[str, Any]]) -> int:
    """Of a list or map; there may be a property of the same name."""
    return len(value) if isinstance(value, kind) else 0
