"""A table for objects that the server did not make one of: names and ages.

Upstream: `cli-runtime/pkg/printers/tableprinter.go` (`printTable` for what is no table:
`defaultPrintHandler`), v1.36.2.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.human_duration import age
from lifecycle.api.loop.clock import Clock

_COLUMNS = [
    {"name": "Name", "type": "string", "priority": 0},
    {"name": "Age", "type": "string", "priority": 0},
]


def plain_table(answer: Object) -> Object:
    """The table of an object or a list."""
    items = answer["items"] if isinstance(answer.get("items"), list) else [answer]
    now = Clock().now()
    rows = [
        {
            "cells": [item["metadata"].get("name", ""), age(item, now)],
            "object": item,
        }
        for item in items
    ]
    return {
        "kind": "Table",
        "metadata": answer.get("metadata") or {},
        "columnDefinitions": _COLUMNS,
        "rows": rows,
    }
