"""Which places no test runs: whoever breaks them is not found out, whatever is broken."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from mutants.candidates import candidates
from mutants.coverage_map import CoverageMap
from mutants.readers import Readers
from mutants.sample import Lines
from mutants.trial import asked


@dataclass(frozen=True)
class Unrun:
    """`lines`: per module those with a place that no test runs, by how many places that makes. Of `places` altogether."""

    lines: dict[Path, dict[int, int]]
    places: int

    @property
    def share(self) -> float:
        """Of all places, 0 to 1."""
        return sum(sum(each.values()) for each in self.lines.values()) / self.places if self.places else 0.0

    def text(self, root: Path) -> str:
        """Module by module, the barest first, with the lines."""
        out = [f"{self.share:.1%} of {self.places} places are run by no test"]
        for module, lines in sorted(self.lines.items(), key=lambda each: -sum(each[1].values())):
            source = module.read_text().splitlines()
            out.append(f"{sum(lines.values()):>4} {module.relative_to(root)}")
            out += [f"     {line:>5} {source[line - 1].strip()}" for line in sorted(lines)]
        return "\n".join(out)


def unrun(modules: Lines, coverage: CoverageMap, readers: Readers) -> Unrun:
    """What runs when a module is imported counts as run if a test can be asked about it. A module that has changed since it
    was measured is left out."""
    bare: dict[Path, dict[int, int]] = {}
    count = 0
    for module, lines in modules.items():
        source = module.read_text()
        places = Counter(line for line, _ in candidates(module, lines))
        count += places.total()
        for line, here in places.items():
            if coverage.is_current(module) and not asked(module, source, line, coverage, readers):
                bare.setdefault(module, {})[line] = here
    return Unrun(bare, count)
