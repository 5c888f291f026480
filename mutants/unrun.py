"""Which places no test runs: whoever breaks them is not found out, whatever is broken."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mutants.candidates import candidates
from mutants.coverage_map import CoverageMap
from mutants.sample import Lines
from mutants.trial import lines_of_statement


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


def unrun(modules: Lines, coverage: CoverageMap) -> Unrun:
    """What runs when a module is imported is run by whoever uses it, and a module that has changed since is left out."""
    bare: dict[Path, dict[int, int]] = {}
    count = 0
    for module, lines in modules.items():
        source = module.read_text()
        for line, _ in candidates(module, lines):
            count += 1
            statement = lines_of_statement(source, line)
            if statement and coverage.is_current(module) and not coverage.of_lines(module, statement):
                known = bare.setdefault(module, {})
                known[line] = known.get(line, 0) + 1
    return Unrun(bare, count)
