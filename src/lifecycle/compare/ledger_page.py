"""The ledger as a page: every claim with its verdicts, what the checks saw, and a link
to the paragraph that tells it.

Plain HTML that stays readable on a phone: one folded block for each stage, one short
paragraph for each claim, no wide table.
"""

from __future__ import annotations

import html
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from lifecycle.compare.claims import (
    KINDS,
    LIVE,
    RECORDED,
    SOURCE,
    Cell,
    Claim,
    ClaimsMatrix,
)
from lifecycle.compare.html_text import html_text

EXPLAINED = {
    RECORDED: "checked against a recorded cluster",
    LIVE: "checked against answers of Kubernetes' own programs",
    SOURCE: "read in upstream's source; no recording and no program was seen to do it",
}
_ANCHOR = re.compile(r"\]\{#([a-z0-9-]+)\}")


def pages_of_claims(book: str | Path) -> dict[str, str]:
    """Claim id → the page that tells it, as a path below the book's folder with its
    anchor (`apiserver/authn.html#claim`).
    """
    root = Path(book)
    return {
        anchor: f"{page.relative_to(root).with_suffix('.html').as_posix()}#{anchor}"
        for page in sorted(root.rglob("*.md"))
        for anchor in _ANCHOR.findall(page.read_text())
    }


def load_reasons(path: str | Path) -> dict[str, str]:
    """Claim id → why it is only read in source. Raises ValueError for an empty
    reason.
    """
    reasons: dict[str, str] = yaml.safe_load(Path(path).read_text()) or {}
    for claim_id, reason in reasons.items():
        if not str(reason or "").strip():
            raise ValueError(f"{claim_id}: a claim that is not checked needs a reason")
    return reasons


@dataclass(slots=True, frozen=True)
class LedgerPage:
    """Shows itself in a notebook. `pages` and `reasons` as the two functions above
    return them; `up` leads from the page to the book.
    """

    matrix: ClaimsMatrix
    pages: Mapping[str, str]
    reasons: Mapping[str, str]
    up: str = "../"

    def _repr_html_(self) -> str:
        stages: dict[str, list[Claim]] = {}
        for claim in self.matrix.claims:
            stages.setdefault(claim.stage, []).append(claim)
        return (
            f'<div class="ledger">{self._counts()}'
            + "".join(self._stage(name, claims) for name, claims in stages.items())
            + "</div>"
        )

    def _counts(self) -> str:
        """How many claims rest on which kind of evidence, each under the strongest."""
        counts = self.matrix.counts
        rows = "".join(
            f"<li><b>{counts[kind]}</b> {EXPLAINED[kind]}</li>" for kind in KINDS
        )
        return f"<ul>{rows}</ul>"

    def _stage(self, name: str, claims: list[Claim]) -> str:
        counts = Counter(self._strongest(claim) for claim in claims)
        head = ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])
        return (
            f"<details><summary><b>{html.escape(name)}</b> · {len(claims)}"
            f" claims: {head}</summary>{''.join(map(self._claim, claims))}</details>"
        )

    def _strongest(self, claim: Claim) -> str:
        return (self.matrix.kinds(claim) or (SOURCE,))[0]

    def _claim(self, claim: Claim) -> str:
        text = html_text(claim.text)
        page = self.pages.get(claim.id)
        linked = f'<a href="{self.up}{page}">{text}</a>' if page else text
        cells = (
            (column, self.matrix.cells[claim.id, column])
            for column in self.matrix.columns
        )
        verdicts = " · ".join(
            _verdict(column, cell)
            for column, cell in cells
            if column in self.matrix.versions or cell.seen is not None
        )
        reason = self.reasons.get(claim.id)
        if self._strongest(claim) == SOURCE:
            verdicts += f"<br><em>read in source{_list(claim.sources)}</em>" + (
                f"<br><em>{html_text(reason)}</em>" if reason else ""
            )
        return f"<p>{linked}<br><small>{verdicts}</small></p>"

    def __repr__(self) -> str:
        return self.matrix.summary


def _list(sources: tuple[str, ...]) -> str:
    """`: file (symbol); …`"""
    words = (
        html.escape(path + (f" ({symbol})" if symbol else ""))
        for path, _, symbol in (source.partition("#") for source in sources)
    )
    return ": " + "; ".join(words)


def _verdict(column: str, cell: Cell) -> str:
    return f"{column}: {html.escape(str(cell))}"
