"""What Kubernetes' own programs answered when they were asked directly, without a
cluster around them: the live witnesses of the claims ledger.

`recordings/programs-<version>/*.jsonl` hold one answer a line, beside what was asked.
Each file's first line says what it is and from what it was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lifecycle.api import fast_json

FOLDERS = {"v1.36": "programs-1.36.2", "v1.20": "programs-1.20.2"}
"""Version → the folder below `recordings`. Of 1.20 there is only kubectl."""


class NotAsked(LookupError):
    """No such question was put to these programs: they are no witnesses of it."""


@dataclass(slots=True, frozen=True)
class ProgramAnswer:
    """One answer. `program` with its version; `asked`: what was done, in one sentence;
    `answer`: JSON.
    """

    question: str
    program: str
    asked: str
    answer: Any


class ProgramAnswers:
    """A folder of answers by question, e.g. `answers["quota/pods"]`."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.answers = {
            each.question: each
            for file in sorted(self.folder.glob("*.jsonl"))
            for each in _read(file)
        }

    def __getitem__(self, question: str) -> Any:
        """What was answered. Raises NotAsked."""
        if question not in self.answers:
            raise NotAsked(f"nobody was asked {question!r} in {self.folder.name}")
        return self.answers[question].answer


def _read(file: Path) -> Iterator[ProgramAnswer]:
    """Raises ValueError for a line that is no answer."""
    for number, line in enumerate(file.read_text().splitlines(), 1):
        if line.startswith("#"):
            continue
        try:
            yield ProgramAnswer(**fast_json.loads(line))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{file}:{number}: not an answer: {error}") from None


def recorded_programs(recordings: str | Path) -> dict[str, ProgramAnswers]:
    """All there are in a folder of recordings, by version. Raises ValueError if one has
    no answers.
    """
    programs = {
        version: ProgramAnswers(Path(recordings, name))
        for version, name in FOLDERS.items()
    }
    empty = [each.folder.name for each in programs.values() if not each.answers]
    if empty:
        raise ValueError(f"no answers of programs in {recordings}: {', '.join(empty)}")
    return programs


@lru_cache(maxsize=2)
def newest_programs(recordings: str | Path) -> ProgramAnswers:
    """Those of the newest version, read once in a process: tables ask them in hundreds
    of ways, and none may change what it reads. Raises ValueError.
    """
    return recorded_programs(recordings)["v1.36"]
