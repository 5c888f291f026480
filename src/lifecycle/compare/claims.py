"""The claims ledger: every behavioural claim of the source articles, and whether a
running check stands behind it.

The ledger (`book/claims.yaml`) says what is claimed and what became of it in v1.36 and
v1.20. A check says whether the claim, as worded, is true: `@check("claim-id")` binds
one that is handed the evidence of one version (a `Recording`), `@rebuilt("claim-id")`
one that looks at our own component, which must do what v1.36 does. Rules that are gone
are rebuilt as models: `@rebuilt("claim-id", model=True)` must find the claim true of
the model. A claim without any check is listed as unchecked, and their number is public.
"""

from __future__ import annotations

import gc
import importlib
import pkgutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from rich.table import Table

VERDICTS = ("holds", "changed", "removed", "wrong-from-the-start", "partly")
EXPECTED = {
    "holds": True,
    "changed": False,
    "removed": False,
    "wrong-from-the-start": False,
}
NEWEST = "v1.36"


@dataclass(slots=True, frozen=True)
class Partly:
    """The answer for a claim that is true only under conditions: seen to hold where it
    does, and not to hold where it does not?
    """

    holds_here: bool
    fails_there: bool

    def __bool__(self) -> bool:
        return self.holds_here and self.fails_there


@dataclass(slots=True, frozen=True)
class Refusal:
    """Whatever the ledger says, this is not so: a check found (by an assertion of its
    own) that the matter is not as it expects.
    """

    why: str


Check = Callable[[Any], bool | Partly | None]
"""Of one version's evidence. None: this version's evidence does not show it."""
ModelCheck = Callable[[], bool | Partly]


def every(answers: Iterable[object]) -> bool | None:
    """All of them, or None if there are none: a witness who has seen nothing stays
    silent.
    """
    found = [bool(answer) for answer in answers]
    return all(found) if found else None


def some(answers: Iterable[object]) -> bool | None:
    """At least one of them, or None if nothing was there to look at."""
    found = [bool(answer) for answer in answers]
    return any(found) if found else None


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
_rebuilt: dict[str, tuple[ModelCheck, bool]] = {}


def check(claim_id: str) -> Callable[[Check], Check]:
    """Bind a check to a claim. The function returns whether the claim, as worded, is
    true of the evidence it is handed.

    Raises ValueError if the claim has a check already.
    """

    def bind(function: Check) -> Check:
        if claim_id in _checks:
            raise ValueError(
                f"claim {claim_id!r} has a check already:"
                f" {_checks[claim_id].__qualname__}"
            )
        _checks[claim_id] = function
        return function

    return bind


def rebuilt(
    claim_id: str, *, model: bool = False
) -> Callable[[ModelCheck], ModelCheck]:
    """Bind a check of our own component to a claim. `model`: of a model of rules that
    are gone, of which the claim must be true.

    Raises ValueError if the claim has such a check already.
    """

    def bind(function: ModelCheck) -> ModelCheck:
        if claim_id in _rebuilt:
            raise ValueError(
                f"claim {claim_id!r} has a check already:"
                f" {_rebuilt[claim_id][0].__qualname__}"
            )
        _rebuilt[claim_id] = function, model
        return function

    return bind


def checks() -> Mapping[str, Check]:
    """All bound checks of evidence by claim id."""
    return dict(_checks)


def rebuilt_checks() -> Mapping[str, ModelCheck]:
    """All bound checks of our own components by claim id."""
    return {claim_id: function for claim_id, (function, _) in _rebuilt.items()}


def import_checks(package: ModuleType) -> None:
    """Import every module of a package, so that its `@check`s are bound."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def load_claims(path: str | Path) -> list[Claim]:
    """Read a ledger. Raises ValueError for a claim without id or with an unknown
    verdict, and for an id that comes twice.
    """
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    claims = [
        _claim(entry) for entry in yaml.load(Path(path).read_text(), Loader=loader)
    ]
    twice = [
        claim_id
        for claim_id, count in Counter(claim.id for claim in claims).items()
        if count > 1
    ]
    if twice:
        raise ValueError(f"claims that come twice: {', '.join(twice)}")
    return claims


def _claim(entry: dict[str, Any]) -> Claim:
    verdicts, why = {}, {}
    for key, value in entry.items():
        if key.startswith("verdict_v"):
            version = "v" + key.removeprefix("verdict_v").replace("_", ".")
            if value["verdict"] not in VERDICTS:
                raise ValueError(
                    f"{entry['id']}: unknown verdict {value['verdict']!r} for {version}"
                )
            verdicts[version], why[version] = value["verdict"], value.get("why", "")
    return Claim(
        entry["id"],
        entry["stage"],
        entry["tier"],
        " ".join(entry["claim"].split()),
        verdicts,
        why,
    )


Seen = bool | Partly | Refusal | None


def ask(function: Callable[..., bool | Partly | None], *evidence: Any) -> Seen:
    """What a check says. An assertion of its own that fails is an answer, too; every
    other exception is an accident and is raised.
    """
    try:
        seen = function(*evidence)
    except AssertionError as error:
        if not _is_its_own(error):
            raise
        return Refusal(str(error) or "not as expected")
    return seen if seen is None or isinstance(seen, Partly) else bool(seen)


def _is_its_own(error: AssertionError) -> bool:
    """Whether the assertion stands among the checks and their scenes, and not in what
    they look at.
    """
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return (
        traceback is not None
        and "agreements" in Path(traceback.tb_frame.f_code.co_filename).parts
    )


@dataclass(slots=True, frozen=True)
class Cell:
    """A claim in one version: the ledger's verdict, and what the check said (None: none
    ran, or its evidence does not show it).
    """

    verdict: str
    seen: Seen

    @property
    def contradicted(self) -> bool:
        """The check says otherwise than the ledger."""
        if self.seen is None or isinstance(self.seen, Refusal):
            return self.seen is not None
        if isinstance(self.seen, Partly) or self.verdict == "partly":
            return not (
                self.verdict == "partly"
                and isinstance(self.seen, Partly)
                and bool(self.seen)
            )
        return EXPECTED.get(self.verdict, self.seen) is not self.seen

    def __str__(self) -> str:
        if self.contradicted:
            return f"{self.verdict} ✗ contradicted" + (
                f": {self.seen.why}" if isinstance(self.seen, Refusal) else ""
            )
        if self.seen is None:
            return self.verdict
        return f"{self.verdict} ✓ " + (
            "both seen"
            if isinstance(self.seen, Partly)
            else "seen"
            if self.seen
            else "seen not to hold"
        )


def rebuilt_cell(claim: Claim) -> Cell:
    """What our own component, or the model of it, has to say to a claim."""
    if claim.id not in _rebuilt:
        return Cell("", None)
    function, model = _rebuilt[claim.id]
    return Cell("holds" if model else claim.verdicts.get(NEWEST, "?"), ask(function))


@contextmanager
def _rarely_collecting() -> Iterator[None]:
    """Python's garbage collector looks up less often: it would walk through the whole
    of the recordings a hundred times.
    """
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 1000)
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


class ClaimsMatrix:
    """Claim × version, and claim × what is rebuilt.

    `evidence` maps versions to recordings; `stage` leaves the other stages' claims out.
    Raises ValueError if there is a check for a claim that the ledger does not have.
    """

    def __init__(
        self, claims: Sequence[Claim], evidence: Mapping[str, Any], stage: str = ""
    ) -> None:
        self.ledger = list(claims)
        self.claims = [claim for claim in claims if stage in ("", claim.stage)]
        self.versions = list(evidence)
        known = {claim.id for claim in claims}
        strangers = sorted((_checks.keys() | _rebuilt.keys()) - known)
        if strangers:
            raise ValueError(
                f"checks for claims that are not in the ledger: {', '.join(strangers)}"
            )
        self.cells: dict[tuple[str, str], Cell] = {}
        with _rarely_collecting():
            for claim in self.claims:
                function = _checks.get(claim.id)
                self.cells[claim.id, REBUILT] = rebuilt_cell(claim)
                for version, cluster in evidence.items():
                    seen = (
                        ask(function, cluster)
                        if function and cluster is not None
                        else None
                    )
                    self.cells[claim.id, version] = Cell(
                        claim.verdicts.get(version, "?"), seen
                    )

    @property
    def unchecked(self) -> list[Claim]:
        """Claims of the whole ledger without any check."""
        return [
            claim
            for claim in self.ledger
            if claim.id not in _checks and claim.id not in _rebuilt
        ]

    @property
    def contradicted(self) -> list[str]:
        """Claims whose check contradicts the ledger, with the version."""
        return [
            f"{claim} in {version}"
            for (claim, version), cell in self.cells.items()
            if cell.contradicted
        ]

    @property
    def summary(self) -> str:
        """One line."""
        checked = len(self.ledger) - len(self.unchecked)
        return (
            f"{len(self.ledger)} claims: {checked} checked, {len(self.unchecked)}"
            f" unchecked, {len(self.contradicted)} contradicted"
        )

    def __rich__(self) -> Table:
        table = Table(title=self.summary, title_justify="left")
        columns = (REBUILT, *self.versions)
        for column in ("stage", "claim", *columns):
            table.add_column(column, overflow="fold")
        unchecked = {claim.id for claim in self.unchecked}
        for claim in self.claims:
            marker = " (unchecked)" if claim.id in unchecked else ""
            cells = (str(self.cells[claim.id, column]) for column in columns)
            table.add_row(claim.stage, f"{claim.id}{marker}\n{claim.text}", *cells)
        return table


REBUILT = "rebuilt"
"""The column of our own components."""
