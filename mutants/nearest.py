"""Who is asked where nobody has learnt which test runs which line: the test files that import the broken module.

To learn who runs what, all tests of a room have to run under coverage first, which in the largest rooms takes longer than
many mutants. A file that imports a module is likely to be about it; so files are asked in the order of how far they are from
it – directly, through one other module, through two – until there is no time left for a mutant. What nobody has noticed by
then may still be noticed by somebody farther away: the share that comes of it is a lower bound.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path

from mutants.all_values import of_all_values
from mutants.candidates import Candidate
from mutants.readers import Readers
from mutants.trial import SETTLING, Outcome, changed_lines
from mutants.workshop import Workshop

PATIENCE = 600.0
"""Seconds of the processor for a file of which nobody knows yet how long it takes."""

UNKNOWN = 5.0
"""What such a file is taken for."""

OWN = ("lifecycle", "tests", "mutants", "conftest")


class Nearest:
    """The test files below `tests`, and how far each is from a module. `kept`: where it is written down how long each takes."""

    def __init__(self, readers: Readers, tests: Path, kept: Path) -> None:
        self.readers, self.tests, self.kept = readers, tests, kept
        self._seconds: dict[str, float] = json.loads(kept.read_text()) if kept.exists() else {}

    @cached_property
    def _importers(self) -> dict[Path, set[Path]]:
        """Module → the files that import it, or something from it."""
        assert self.readers.tests is not None
        named = {_dotted(file, self.readers.source, self.readers.tests.parent): file for file in self.readers.modules}
        importers: dict[Path, set[Path]] = {}
        for file, module in self.readers.modules.items():
            for origin, name in module.imported.values():
                for each in (origin, f"{origin}.{name}"):
                    if each in named:
                        importers.setdefault(named[each], set()).add(file)
        for path in self.readers.modules:
            importers.setdefault(path, set()).update(of_all_values(self.readers, path))
        return importers

    def of_others(self, folders: Iterable[Path]) -> tuple[str, ...]:
        """Modules of others that are imported below some folders: loaded once, they need not be loaded for each question."""
        files = [file for file in self.readers.modules if any(file.is_relative_to(folder) for folder in folders)]
        origins = {origin for file in files for origin, _ in self.readers.modules[file].imported.values()}
        return tuple(sorted(name for name in origins if name.split(".")[0] not in OWN))

    def files(self, module: Path) -> Iterator[Path]:
        """Nearest first; of those that are as far as each other the quickest first, as far as that is known."""
        seen, ring = {module}, {module}
        while ring:
            ring = {file for each in ring for file in self._importers.get(each, ())} - seen
            seen |= ring
            tests = (file for file in ring if file.is_relative_to(self.tests) and file.name.startswith("test_"))
            yield from sorted(tests, key=lambda file: (self._seconds.get(self._key(file), UNKNOWN), file))

    def _key(self, file: Path) -> str:
        """By what a file is known until it changes."""
        assert self.readers.tests is not None
        digest = hashlib.sha256(file.read_bytes()).hexdigest()
        return f"{file.relative_to(self.readers.tests.parent)} {digest}"

    def seconds(self, file: Path, workshop: Workshop) -> float:
        """How long a file takes with nothing broken, settling included; found out once, and again when the file changes.

        Raises:
            ChildProcessError: it fails as it is, so it could not tell anything.
        """
        key = self._key(file)
        if key not in self._seconds:
            name = key.split()[0]
            with workshop.unbroken():
                passed = workshop.tests_pass([name], seconds=PATIENCE)
            if not passed:
                raise ChildProcessError(f"{name} must pass before anything is broken: {workshop.who_noticed()}")
            self._seconds[key] = workshop.computed
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            self.kept.write_text(json.dumps(self._seconds))
        return self._seconds[key]

    def trial(self, candidate: Candidate, workshop: Workshop, seconds: float) -> Outcome:
        """Ask the nearest files, as many as take so many seconds together, and one at least."""
        text = candidate.mutated()
        assert text is not None
        by, spent = "", 0.0
        for file in self.files(candidate.module):
            usual = self.seconds(file, workshop)
            if spent and spent + usual > seconds:
                break
            spent += usual
            name = str(file.relative_to(workshop.checkout))
            with workshop.broken(candidate.module, text):
                if not workshop.tests_pass([name], seconds=SETTLING + 3 * usual):
                    by = workshop.who_noticed()
                    break
        before, after = changed_lines(candidate.module.read_text(), text)
        module = str(candidate.module.relative_to(workshop.checkout))
        return Outcome(module, candidate.line, candidate.operator, before, after, noticed=bool(by), by=by)


def _dotted(file: Path, source: Path, checkout: Path) -> str:
    parts = file.relative_to(source if file.is_relative_to(source) else checkout).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
