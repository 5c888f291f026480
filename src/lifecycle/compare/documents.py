"""An answer as a document that can be compared field by field, whatever it was encoded
in.

JSON is one already. A watch is a list of events, YAML is parsed, protobuf is decoded;
anything else stays text.
"""

from __future__ import annotations

import base64
import json
from typing import Any

import yaml

from lifecycle.api import protobuf
from lifecycle.inspector import Exchange


def document_of(exchange: Exchange) -> Any:
    """What an exchange answered: its status, the headers a client acts on, and the body
    as a document.
    """
    answer: dict[str, Any] = {"code": exchange.status}
    for header in ("warning", "retry-after", "content-type"):
        if exchange.headers.get(header):
            answer[header] = exchange.headers[header]
    return answer | {"body": body_of(exchange.response, exchange.accept)}


def body_of(response: Any, accept: str = "") -> Any:
    """A body as a document."""
    if isinstance(response, dict) and set(response) == {"base64"}:
        return _protobuf(response["base64"])
    if not isinstance(response, str):
        return response
    if response.startswith('{"type":"'):
        return {"events": [json.loads(line) for line in response.splitlines() if line]}
    if "yaml" in accept:
        return yaml.load(response, Loader=yaml.BaseLoader)
    return response


def _protobuf(encoded: str) -> Any:
    try:
        return protobuf.decode(base64.b64decode(encoded))
    except (ValueError, KeyError):
        return {"base64": encoded}
