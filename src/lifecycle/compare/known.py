"""Known disagreements, from `known.yaml`: shown with their reason, never filtered
away.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lifecycle.compare.compare import Difference


@dataclass(slots=True, frozen=True)
class Known:
    """One entry. See the head of `known.yaml` for what the patterns match."""

    id: str
    scenario: re.Pattern[str]
    path: re.Pattern[str]
    between: re.Pattern[str]
    values: re.Pattern[str]
    at_most: int
    reason: str

    def explains(self, scenario: str, path: str, between: str, values: str) -> bool:
        """Whether this entry speaks of that difference."""
        return bool(
            self.scenario.fullmatch(scenario)
            and self.path.search(path)
            and self.between.search(between)
            and self.values.fullmatch(values)
        )


def load(path: Path) -> tuple[Known, ...]:
    """Read a file of known disagreements. Raises ValueError for an entry that bounds
    nothing or gives no reason.
    """
    entries = yaml.safe_load(path.read_text()) or []
    return tuple(_known(entry) for entry in entries)


def _known(entry: dict[str, Any]) -> Known:
    missing = [key for key in _ENTRY if not entry.get(key)]
    if missing or set(entry) - set(_ENTRY):
        raise ValueError(f"{entry.get('id')}: wants {', '.join(_ENTRY)}")
    return Known(
        entry["id"],
        re.compile(entry["scenario"]),
        re.compile(entry["path"]),
        re.compile(entry["between"]),
        re.compile(entry["values"], re.DOTALL),
        entry["at_most"],
        " ".join(entry["reason"].split()),
    )


_ENTRY = ("id", "scenario", "path", "between", "values", "at_most", "reason")


@cache
def known_disagreements() -> tuple[Known, ...]:
    """The book's own."""
    return load(Path(__file__).with_name("known.yaml"))


def explain(
    scenario: str, path: str, difference: Difference, between: str
) -> Known | None:
    """The first entry that explains a difference."""
    values = f"{_printed(difference.ours)} ↔ {_printed(difference.theirs)}"
    return next(
        (
            known
            for known in known_disagreements()
            if known.explains(scenario, path, between, values)
        ),
        None,
    )


def _printed(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str)
