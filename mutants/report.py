"""The figures of a run, the mutants that make no difference, and the survivors as a table."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import yaml

from mutants.trial import Outcome

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results.json"
EQUIVALENT = HERE / "equivalent.yaml"


@dataclass(frozen=True)
class Score:
    """What was tried in a room. Equivalent mutants are not counted: nothing could notice them. `near`: only the nearest test
    files were asked, for so many seconds each time; 0: all that run the line. `chosen`: how many were to be tried; if that is
    more than the outcomes, the run ended early, or is still under way."""

    room: str
    seed: int
    outcomes: tuple[Outcome, ...]
    near: float = 0.0
    chosen: int = 0

    @property
    def counted(self) -> list[Outcome]:
        """All but the equivalent ones."""
        return [outcome for outcome in self.outcomes if not outcome.reason]

    @property
    def survivors(self) -> list[Outcome]:
        """Those that nobody noticed though they make a difference."""
        return [outcome for outcome in self.counted if not outcome.noticed]

    @property
    def share(self) -> float:
        """Of the counted the noticed ones, 0 to 1; 1 where there was nothing to break."""
        return 1.0 - len(self.survivors) / len(self.counted) if self.counted else 1.0

    @property
    def ended_early(self) -> bool:
        """Whether there was more to try."""
        return len(self.outcomes) < self.chosen

    def line(self) -> str:
        """One line of the summary."""
        equivalent = len(self.outcomes) - len(self.counted)
        noticed = len(self.counted) - len(self.survivors)
        early = f"   ended early, after {len(self.outcomes)} of {self.chosen}" if self.ended_early else ""
        at_least = "≥ " if self.near else ""
        share = f"{at_least}{self.share:.1%}"
        return f"{self.room:<16} {noticed:>4} of {len(self.counted):<4} {share:>8}   equivalent: {equivalent}{early}"


def with_reasons(outcomes: list[Outcome]) -> tuple[Outcome, ...]:
    """Survivors that the list of equivalent mutants explains carry its reason."""
    entries = {
        (entry["module"], entry["before"], entry["after"]): str(entry["reason"])
        for entry in yaml.safe_load(EQUIVALENT.read_text()) or []
    }
    return tuple(
        outcome
        if outcome.noticed
        else replace(outcome, reason=entries.get((outcome.module, outcome.before, outcome.after), ""))
        for outcome in outcomes
    )


def keep(score: Score, file: Path = RESULTS) -> None:
    """Write a room's result beside those of the other rooms. The file is whole whenever somebody ends this."""
    document: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    document[score.room] = {
        "seed": score.seed,
        "date": date.today().isoformat(),
        "tried": len(score.outcomes),
        **({"ended early, of": score.chosen} if score.ended_early else {}),
        "equivalent": len(score.outcomes) - len(score.counted),
        "noticed": len(score.counted) - len(score.survivors),
        "survivors": [outcome.to_dict() for outcome in score.survivors],
        **({"near": score.near} if score.near else {}),
    }
    half = file.with_suffix(f".{os.getpid()}")
    half.write_text(json.dumps(dict(sorted(document.items())), indent=1, ensure_ascii=False) + "\n")
    half.replace(file)
