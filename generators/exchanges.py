"""Reads recorded HTTP exchanges: one JSON document a line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lifecycle.api import fast_json


def read_exchanges(recording: Path, scenario: str) -> Iterator[dict[str, Any]]:
    """The exchanges of one scenario, in order. Raises FileNotFoundError."""
    with (recording / "http" / f"{scenario}.jsonl").open("rb") as lines:
        for line in lines:
            yield fast_json.loads(line)


def read_lists(recording: Path, scenario: str) -> Iterator[dict[str, Any]]:
    """What a scenario's GETs listed. Raises FileNotFoundError."""
    for exchange in read_exchanges(recording, scenario):
        answer = exchange["response"]
        listed = isinstance(answer, dict) and "items" in answer
        if listed and exchange["method"] == "GET":
            yield answer
