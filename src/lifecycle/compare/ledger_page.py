"""The ledger as a page: every claim with its verdicts, what the checks saw, and a link
to the paragraph that tells it.

Plain HTML that stays readable on a phone: one folded block for each stage, one short
paragraph for each claim, no wide table.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import yaml

from lifecycle.compare.claims import REBUILT, Cell, Claim, ClaimsMatrix

_ANCHOR = re.compile(r"\]\{#([a-z0-9-]+)\}")


def where_told(book: str | Path) -> dict[str, str]:
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
    """Claim id → why nothing can check it. Raises ValueError for an empty reason."""
    reasons: dict[str, str] = yaml.safe_load(Path(path).read_text()) or {}
    for claim_id, reason in reasons.items():
        if not str(reason or "").strip():
            raise ValueError(f"{claim_id}: a claim that is not checked needs a reason")
    return reasons


@dataclass(slots=True, frozen=True)
class LedgerPage:
    """Shows itself in a notebook. `told` and `reasons` as the two functions above
    return them; `up` leads from the page to the book.
    """

    matrix: ClaimsMatrix
    told: Mapping[str, str]
    reasons: Mapping[str, str]
    up: str = "../"

    def _repr_html_(self) -> str:
        stages: dict[str, list[Claim]] = {}
        for claim in self.matrix.claims:
            stages.setdefault(claim.stage, []).append(claim)
        return (
            '<div class="ledger">'
            + "".join(self._stage(name, claims) for name, claims in stages.items())
            + "</div>"
        )

    def _stage(self, name: str, claims: list[Claim]) -> str:
        unchecked = sum(1 for claim in claims if claim in self.matrix.unchecked)
        head = f"<b>{html.escape(name)}</b> · {len(claims)} claims" + (
            f", {unchecked} unchecked" if unchecked else ""
        )
        return (
            f"<details><summary>{head}</summary>{''.join(map(self._claim, claims))}</"
            "details>"
        )

    def _claim(self, claim: Claim) -> str:
        text = html.escape(claim.text)
        page = self.told.get(claim.id)
        told = f'<a href="{self.up}{page}">{text}</a>' if page else text
        cells = (
            (column, self.matrix.cells[claim.id, column])
            for column in (REBUILT, *self.matrix.versions)
        )
        said = " · ".join(
            _said(column, cell)
            for column, cell in cells
            if column != REBUILT or cell.seen is not None
        )
        reason = self.reasons.get(claim.id)
        why = (
            f"<br><em>unchecked: {html.escape(reason)}</em>"
            if reason and claim in self.matrix.unchecked
            else ""
        )
        return f"<p>{told}<br><small>{said}</small>{why}</p>"

    def __repr__(self) -> str:
        return self.matrix.summary


def _said(column: str, cell: Cell) -> str:
    return f"{column}: {html.escape(str(cell))}"
