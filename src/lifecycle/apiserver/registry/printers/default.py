"""The table of everything that has no printer of its own: name and time of creation.

Roles, limit ranges and CustomResourceDefinitions get it. kubectl computes the age from
the creation time itself.

Upstream: `apiserver/pkg/registry/rest/table.go` (`defaultTableConvertor`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import format_time, parse_time
from lifecycle.apiserver.registry.printers.printer import (
    AGE,
    NAME,
    Cells,
    Column,
    Printer,
)

_ZERO_TIME = "0001-01-01T00:00:00Z"


def _print_default(obj: Object, now: float) -> Cells:
    created = obj["metadata"].get("creationTimestamp")
    return [
        obj["metadata"]["name"],
        format_time(parse_time(created)) if created else _ZERO_TIME,
    ]


DEFAULT = Printer((NAME, Column("Created At", AGE.description, "date")), _print_default)
