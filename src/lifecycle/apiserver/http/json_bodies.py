"""JSON in request bodies: `orjson` reads what is good, `lifecycle.api.go.json` what is
not.

To say what is wrong with a large body takes ten times as long as reading it; that is
why reading is the worker's (`lifecycle.api.loop.worker`).
"""

from __future__ import annotations

from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.json.decode import unmarshal
from lifecycle.api.go.json.scanner import syntax_error_message


def read_json(body: bytes) -> Any:
    """The text as data. Raises ValueError with Go's complaint."""
    try:
        return fast_json.loads(body)
    except fast_json.JSONDecodeError:
        if complaint := syntax_error_message(body):
            raise ValueError(complaint) from None
        return unmarshal(body)  # JSON to Go, if not to a stricter reader
