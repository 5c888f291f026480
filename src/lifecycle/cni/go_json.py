"""JSON as Go writes it: what a plugin prints, and what libcni hands on, must be the same bytes that the Go programs write.

Upstream: `encoding/json` (`Marshal`, `MarshalIndent`): `<`, `>` and `&` are escaped, maps are sorted by key.
"""

from __future__ import annotations

import json
from typing import Any

_ESCAPED = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})


def marshal(value: Any, *, sort: bool = True, indent: bool = False) -> str:
    """`json.Marshal` of a map (`sort`) or of a struct (not), or `json.MarshalIndent` with four spaces."""
    separators = (",", ": ") if indent else (",", ":")
    text = json.dumps(value, ensure_ascii=False, sort_keys=sort, separators=separators, indent=4 if indent else None)
    return text.translate(_ESCAPED)


def go_quoted(text: str) -> str:
    """Go's `%q` of a name. Control characters and the like are left to `lifecycle.api.go_format`, which a plugin does not load."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'
