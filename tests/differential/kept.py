"""Requests with what the real server answered, as `tests.differential.record` writes them down."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.differential.case import Step

Kept = tuple[Sequence[Step], Sequence[Any]]
"""The steps of a case and the real server's answers, None for one that is not compared."""


def read(file: Path) -> dict[str, Kept]:
    """All cases of a file, by name."""
    rows = map(json.loads, gzip.decompress(file.read_bytes()).splitlines())
    return {row["name"]: ([Step(**step) for step in row["steps"]], row["answers"]) for row in rows}
