"""One row of an agreement table: what was asked, and what both sides answered."""

from __future__ import annotations

from dataclasses import dataclass, field

from lifecycle.compare.compare import Comparison, Difference
from lifecycle.compare.known import Known


@dataclass(slots=True)
class Row:
    """One question. `ours` and `cluster` are short renderings of the answers, or of the
    first place where they differ. `given` says from where our side had the answer, if
    it did not work it out.
    """

    stage: str
    input: str
    ours: str
    cluster: str
    comparison: Comparison
    known: dict[int, Known] = field(default_factory=dict)
    given: str = ""

    @property
    def equal(self) -> bool:
        """No difference at all, freedoms aside."""
        return self.comparison.agrees

    @property
    def unexplained(self) -> list[Difference]:
        """Differences without a reason."""
        return [
            d for i, d in enumerate(self.comparison.differences) if i not in self.known
        ]
