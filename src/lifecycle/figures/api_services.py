"""The aggregator's table as a picture: which server answers for which group and
version.
"""

from __future__ import annotations

from collections.abc import Iterable

from matplotlib.figure import Figure

from lifecycle.api.http.wire import Object
from lifecycle.figures.columns import Box, draw_columns

LOCAL, ADDED, FIRST = "#2a7f62", "#b5441c", "#3d6fa8"
SHOWN = 3
"""So many of the local ones are named, those with the shortest names; the rest is a
number.
"""


def draw_api_services(services: Iterable[Object], *, width: float = 7.0) -> Figure:
    """APIServices, sorted by who answers. One without a `service` is local."""
    aggregator = Box("aggregator", ("a table",), FIRST)
    own = Box("kube-apiserver", ("and custom resources",), LOCAL)
    local: list[str] = []
    rows: list[Box] = []
    servers: dict[Box, None] = {own: None}
    arrows: list[tuple[Box, Box]] = []
    for service in services:
        spec = service["spec"]
        name = f"{spec.get('group') or 'core'}/{spec['version']}"
        reference = spec.get("service")
        if not reference:
            local.append(name)
            continue
        row = Box("added", (name,), ADDED)
        server = Box(reference["name"], (f"in {reference['namespace']}",), ADDED)
        rows.append(row)
        servers[server] = None
        arrows += [(aggregator, row), (row, server)]
    if local:
        more = len(local) - SHOWN
        lines = (
            *sorted(local, key=len)[:SHOWN],
            *((f"and {more} more",) if more > 0 else ()),
        )
        first = Box("local", lines, LOCAL)
        rows.insert(0, first)
        arrows += [(aggregator, first), (first, own)]
    return draw_columns(
        ("a request", "group and version", "is answered by"),
        ([aggregator], rows, list(servers)),
        arrows,
        width=width,
    )
