"""The claims ledger: every behavioural claim of the source articles, and whether a running check stands behind it.

The ledger (`book/claims.yaml`) says what is claimed and what became of it in v1.36 and v1.20. A check is a function that is handed the
evidence of one version (a `Recording`) and says whether the claim holds there; `@check("claim-id")` binds it. A claim without a
check is listed as unchecked, and their number is public.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from rich.table import Table

VERDICTS = ("holds", "changed", "removed", "wrong-from-the-start", "partly")
Check = Callable[[Any], bool]


@dataclass(slots=True, frozen=True)
class Claim:
    """One claim. `verdicts` maps a version (`v1.36`, `v1.20`) to one of `VERDICTS`."""

    id: str
    stage: str
    tier: str
    text: str
    verdicts: Mapping[str, str]
    why: Mapping[str, str]


_checks: dict[str, Check] = {}


def check(claim_id: str) -> Callable[[Check], Check]:
    """Bind a check to a claim. The function returns whether the claim, as worded, is true of the evidence it is handed.

    Raises ValueError if the claim has a check already.
    """

    def bind(function: Check) -> Check:
        if claim_id in _checks:
            raise ValueError(f"claim {claim_id!r} has a check already: {_checks[claim_id].__qualname__}")
        _checks[claim_id] = function
        return function

    return bind


def checks() -> Mapping[str, Check]:
    """All bound checks by claim id."""
    return dict(_checks)


def import_checks(package: ModuleType) -> None:
    """Import every module of a package, so that its `@check`s are bound."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def load_claims(path: str | Path) -> list[Claim]:
    """Read a ledger. Raises ValueError for a claim without id or with an unknown verdict, and for an id that comes twice."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    claims = [_claim(entry) for entry in yaml.load(Path(path).read_text(), Loader=loader)]
    twice = [claim_id for claim_id, count in Counter(claim.id for claim in claims).items() if count > 1]
    if twice:
        raise ValueError(f"claims that come twice: {', '.join(twice)}")
    return claims


def _claim(entry: dict[str, Any]) -> Claim:
    verdicts, why = {}, {}
    for key, value in entry.items():
        if key.startswith("verdict_v"):
            version = "v" + key.removeprefix("verdict_v").replace("_", ".")
            if value["verdict"] not in VERDICTS:
                raise ValueError(f"{entry['id']}: unknown verdict {value['verdict']!r} for {version}")
            verdicts[version], why[version] = value["verdict"], value.get("why", "")
    return Claim(entry["id"], entry["stage"], entry["tier"], " ".join(entry["claim"].split()), verdicts, why)


@dataclass(slots=True, frozen=True)
class Cell:
    """A claim in one version: the ledger's verdict, and what the check said (None: none ran)."""

    verdict: str
    seen: bool | None

    @property
    def contradicted(self) -> bool:
        """The evidence says otherwise than the ledger."""
        expected = {"holds": True, "changed": False, "removed": False, "wrong-from-the-start": False}.get(self.verdict)
        return self.seen is not None and expected is not None and self.seen is not expected

    def __str__(self) -> str:
        mark = {None: "", True: " ✓ seen", False: " ✓ seen not to hold"}[self.seen]
        return f"{self.verdict} ✗ contradicted" if self.contradicted else self.verdict + mark


class ClaimsMatrix:
    """Claim × version."""

    def __init__(self, claims: Sequence[Claim], evidence: Mapping[str, Any]) -> None:
        self.claims = list(claims)
        self.versions = list(evidence)
        known = {claim.id for claim in claims}
        strangers = sorted(set(_checks) - known)
        if strangers:
            raise ValueError(f"checks for claims that are not in the ledger: {', '.join(strangers)}")
        self.cells: dict[tuple[str, str], Cell] = {}
        for claim in claims:
            function = _checks.get(claim.id)
            for version, cluster in evidence.items():
                seen = bool(function(cluster)) if function and cluster is not None else None
                self.cells[claim.id, version] = Cell(claim.verdicts.get(version, "?"), seen)

    @property
    def unchecked(self) -> list[Claim]:
        """Claims without a check."""
        return [claim for claim in self.claims if claim.id not in _checks]

    @property
    def contradicted(self) -> list[str]:
        """Claims whose check contradicts the ledger, with the version."""
        return [f"{claim} in {version}" for (claim, version), cell in self.cells.items() if cell.contradicted]

    @property
    def summary(self) -> str:
        """One line."""
        checked = len(self.claims) - len(self.unchecked)
        return f"{len(self.claims)} claims: {checked} checked, {len(self.unchecked)} unchecked, {len(self.contradicted)} contradicted"

    def __rich__(self) -> Table:
        table = Table(title=self.summary, title_justify="left")
        for column in ("stage", "claim", *self.versions):
            table.add_column(column, overflow="fold")
        for claim in self.claims:
            marker = "" if claim.id in _checks else " (unchecked)"
            table.add_row(
                claim.stage, f"{claim.id}{marker}\n{claim.text}", *(str(self.cells[claim.id, v]) for v in self.versions)
            )
        return table
