"""Nested messages of CRI.

What is nested deeper than a config's own fields (`linux`, `mounts`, `dns_config` …) are
plain dicts with the message's field names, enums by name, fields left out for their
zero value: what `crictl inspect` shows, in snake_case. Example:
`linux={"security_context": {"namespace_options": {"pid": "CONTAINER"}}, "resources":
{"cpu_shares": 102}}`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]
"""A nested message: field names in snake_case, enums by name."""


NOTHING: Fields = {}
