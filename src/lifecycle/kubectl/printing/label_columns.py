"""`-L KEY` and `--show-labels`: columns that the client adds to the server's table,
from the metadata that comes with each row.

Upstream: `cli-runtime/pkg/printers/tableprinter.go` (`decorateTable`, `labelValues`,
`formatLabelHeaders`), v1.36.2.
"""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.api.http.wire import Object

NONE = "<none>"


def with_label_columns(table: Object, keys: Sequence[str], show_labels: bool) -> Object:
    """The table with a column for each key, named by what follows its last `/`, and one
    with all labels.
    """
    if not keys and not show_labels:
        return table
    names = [key.rpartition("/")[2] for key in keys] + (
        ["Labels"] if show_labels else []
    )
    columns = [
        *(table.get("columnDefinitions") or ()),
        *({"name": name, "type": "string"} for name in names),
    ]
    rows = []
    for row in table.get("rows") or ():
        labels = ((row.get("object") or {}).get("metadata") or {}).get("labels") or {}
        cells = [labels.get(key, "") for key in keys]
        if show_labels:
            cells.append(
                ",".join(f"{key}={labels[key]}" for key in sorted(labels)) or NONE
            )
        rows.append({**row, "cells": [*row["cells"], *cells]})
    return {**table, "columnDefinitions": columns, "rows": rows}
