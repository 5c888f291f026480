"""Known disagreements, from `known.yaml`: shown with their reason, never filtered
away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml


@dataclass(slots=True, frozen=True)
class Known:
    """One entry. See the head of `known.yaml` for what the patterns match."""

    id: str
    scenario: re.Pattern[str]
    path: re.Pattern[str]
    between: re.Pattern[str]
    reason: str

    def explains(self, scenario: str, path: str, between: str) -> bool:
        """Whether this entry speaks of that difference."""
        return bool(
            self.scenario.fullmatch(scenario)
            and self.path.search(path)
            and self.between.search(between)
        )


def load(path: Path) -> tuple[Known, ...]:
    """Read a file of known disagreements."""
    entries = yaml.safe_load(path.read_text()) or []
    return tuple(
        Known(
            entry["id"],
            re.compile(entry["scenario"]),
            re.compile(entry["path"]),
            re.compile(entry.get("between", "")),
            " ".join(entry["reason"].split()),
        )
        for entry in entries
    )


@cache
def known_disagreements() -> tuple[Known, ...]:
    """The book's own."""
    return load(Path(__file__).with_name("known.yaml"))


def explain(scenario: str, path: str, between: str) -> Known | None:
    """The first entry that explains a difference."""
    return next(
        (
            known
            for known in known_disagreements()
            if known.explains(scenario, path, between)
        ),
        None,
    )
