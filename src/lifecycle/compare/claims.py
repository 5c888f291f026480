"""The claims ledger: every behavioural claim of the source articles, and whether a
running check stands behind it.

The ledger (`book/claims.yaml`) says what is claimed and what became of it in v1.36 and
v1.20. A check says whether the claim, as worded, is true: `@check("claim-id")` binds
one that is handed the evidence of one version (a `Recording`), `@live("claim-id")` one
that is handed what the version's own programs answered (`ProgramAnswers`), and
`@rebuilt("claim-id")` one that looks at our own component, which must do what v1.36
does. Rules that are gone are rebuilt as models: `@rebuilt("claim-id", model=True)` must
find the claim true of the model.

A verdict is *checked* if a recording or a program of v1.36 speaks of it. Our component
is no witness of Kubernetes: what rests on upstream's source alone is called *read in
source*, and the number of such claims is public.
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

from rich.table import Table

from lifecycle.api.go.yaml_reader import read_yaml
from lifecycle.compare.program_answers import NotAsked, ProgramAnswers

RECORDED, LIVE, SOURCE = "recorded", "live", "source"
KINDS = (RECORDED, LIVE, SOURCE)
"""The kinds of evidence, the strongest first."""
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
    verdicts = [bool(answer) for answer in answers]
    return all(verdicts) if verdicts else None


def some(answers: Iterable[object]) -> bool | None:
    """At least one of them, or None if nothing was there to look at."""
    verdicts = [bool(answer) for answer in answers]
    return any(verdicts) if verdicts else None


@dataclass(slots=True, frozen=True)
class Claim:
    """One claim. `verdicts` maps a version (`v1.36`, `v1.20`) to one of `VERDICTS`,
    `evidence` to the `KINDS` of evidence that the ledger says there is; `sources` are
    upstream's files, with the symbols that say so; `articles` the texts that make it,
    by the names of the files they were kept in.
    """

    id: str
    stage: str
    tier: str
    text: str
    verdicts: Mapping[str, str]
    why: Mapping[str, str]
    evidence: Mapping[str, tuple[str, ...]]
    sources: tuple[str, ...]
    articles: tuple[str, ...]


_checks: dict[str, Check] = {}
_live: dict[str, Check] = {}
_rebuilt: dict[str, tuple[ModelCheck, bool]] = {}


def check(claim_id: str) -> Callable[[Check], Check]:
    """Bind a check to a claim. The function returns whether the claim, as worded, is
    true of the evidence it is handed.

    Raises ValueError if the claim has a check already.
    """

    def bind(function: Check) -> Check:
        _must_be_unbound(claim_id, _checks.get(claim_id))
        _checks[claim_id] = function
        return function

    return bind


def live(claim_id: str) -> Callable[[Check], Check]:
    """Bind a check of what a version's own programs answered (`ProgramAnswers`).

    Raises ValueError if the claim has such a check already.
    """

    def bind(function: Check) -> Check:
        _must_be_unbound(claim_id, _live.get(claim_id))
        _live[claim_id] = function
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
        _must_be_unbound(claim_id, _rebuilt.get(claim_id, (None,))[0])
        _rebuilt[claim_id] = function, model
        return function

    return bind


def _must_be_unbound(claim_id: str, bound: Callable[..., Any] | None) -> None:
    if bound is not None:
        raise ValueError(
            f"claim {claim_id!r} has a check already: {bound.__qualname__}"
        )


def checks() -> Mapping[str, Check]:
    """All bound checks of evidence by claim id."""
    return dict(_checks)


def live_checks() -> Mapping[str, Check]:
    """All bound checks of programs' answers by claim id."""
    return dict(_live)


def rebuilt_checks() -> Mapping[str, ModelCheck]:
    """All bound checks of our own components by claim id."""
    return {claim_id: function for claim_id, (function, _) in _rebuilt.items()}


def import_checks(package: ModuleType) -> None:
    """Import every module of a package, so that its `@check`s are bound."""
    for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def load_claims(path: str | Path) -> list[Claim]:
    """Read a ledger. Raises ValueError for an unknown verdict or kind of evidence, and
    for an id that comes twice.
    """
    claims = [_claim(entry) for entry in read_yaml(Path(path).read_bytes())[0]]
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
    evidence = {
        version.replace("_", "."): tuple(kinds)
        for version, kinds in entry["evidence"].items()
    }
    unknown = {kind for kinds in evidence.values() for kind in kinds} - set(KINDS)
    if unknown:
        raise ValueError(f"{entry['id']}: unknown evidence {sorted(unknown)}")
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
        evidence,
        tuple(entry["source"]),
        tuple(article["file"] for article in entry["seeds"]),
    )


Seen = bool | Partly | Refusal | None


def ask(function: Callable[..., bool | Partly | None], *evidence: Any) -> Seen:
    """What a check says. An assertion of its own that fails is an answer, too; a
    question that was not asked is none; every other exception is an accident and is
    raised.
    """
    try:
        seen = function(*evidence)
    except NotAsked:
        return None
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


Told = Callable[[str, Sequence[Claim]], Iterable[Claim]]


class ClaimsMatrix:
    """Claim × version, claim × the programs of a version, claim × what is rebuilt.

    `evidence` maps versions to recordings, `programs` versions to what the programs of
    that version answered; `stage` leaves the other stages' claims out. `unchecked` is
    to show only claims that no recording and no program speaks of, and to ask what is
    rebuilt, which takes longest, about no others. `told` gets what is about to be asked
    and the claims, hands them on one by one, and can say how far it is.
    Raises ValueError if there is a check for a claim that the ledger does not have.
    """

    def __init__(
        self,
        claims: Sequence[Claim],
        evidence: Mapping[str, Any],
        stage: str = "",
        programs: Mapping[str, ProgramAnswers] | None = None,
        *,
        unchecked: bool = False,
        told: Told = lambda what, claims: claims,
    ) -> None:
        self.ledger = list(claims)
        self.claims = [claim for claim in claims if stage in ("", claim.stage)]
        self.versions = list(evidence)
        programs = programs or {}
        self.columns = (REBUILT, *self.versions, *map(live_column, programs))
        known = {claim.id for claim in claims}
        strangers = sorted((_checks.keys() | _live.keys() | _rebuilt.keys()) - known)
        if strangers:
            raise ValueError(
                f"checks for claims that are not in the ledger: {', '.join(strangers)}"
            )
        self.cells: dict[tuple[str, str], Cell] = {}
        with _rarely_collecting():
            for claim in told("recordings and programs", self.claims):
                for version, cluster in evidence.items():
                    self.cells[claim.id, version] = _cell(
                        claim, version, _checks, cluster
                    )
                for version, answers in programs.items():
                    self.cells[claim.id, live_column(version)] = _cell(
                        claim, version, _live, answers
                    )
            self.shown = self.read_in_source if unchecked else self.claims
            for claim in told("what is rebuilt", self.shown):
                self.cells[claim.id, REBUILT] = rebuilt_cell(claim)

    def kinds(self, claim: Claim, version: str = NEWEST) -> tuple[str, ...]:
        """The kinds of evidence that speak of a claim in a version: recordings and
        programs if their checks said something, source if the ledger names any.
        """
        return tuple(
            kind
            for kind, there in (
                (RECORDED, self._speaks(claim, version)),
                (LIVE, self._speaks(claim, live_column(version))),
                (SOURCE, SOURCE in claim.evidence.get(version, ())),
            )
            if there
        )

    def _speaks(self, claim: Claim, column: str) -> bool:
        cell = self.cells.get((claim.id, column))
        return cell is not None and cell.seen is not None

    @property
    def read_in_source(self) -> list[Claim]:
        """Claims of which no recording and no program of the newest version speaks."""
        return [
            claim
            for claim in self.claims
            if not {RECORDED, LIVE} & set(self.kinds(claim))
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
    def counts(self) -> dict[str, int]:
        """How many claims rest on which kind of evidence of the newest version, each
        counted once, under the strongest.
        """
        strongest = Counter((self.kinds(claim) or ("",))[0] for claim in self.claims)
        return {kind: strongest[kind] for kind in KINDS}

    @property
    def summary(self) -> str:
        """One line."""
        counts = self.counts
        return (
            f"{len(self.claims)} claims: {counts[RECORDED] + counts[LIVE]} checked"
            f" ({counts[RECORDED]} against recordings, {counts[LIVE]} against live"
            f" programs), {len(self.read_in_source)} read in source,"
            f" {len(self.contradicted)} contradicted"
        )

    def __rich__(self) -> Table:
        table = Table(title=self.summary, title_justify="left")
        for column in ("stage", "claim", *self.columns):
            table.add_column(column, overflow="fold")
        unwitnessed = {claim.id for claim in self.read_in_source}
        for claim in self.shown:
            marker = " (read in source)" if claim.id in unwitnessed else ""
            cells = (str(self.cells[claim.id, column]) for column in self.columns)
            table.add_row(claim.stage, f"{claim.id}{marker}\n{claim.text}", *cells)
        return table


def _cell(
    claim: Claim, version: str, bound: Mapping[str, Check], evidence: Any
) -> Cell:
    function = bound.get(claim.id)
    seen = ask(function, evidence) if function and evidence is not None else None
    return Cell(claim.verdicts.get(version, "?"), seen)


def live_column(version: str) -> str:
    """The column of a version's programs."""
    return f"{LIVE} {version}"


REBUILT = "rebuilt"
"""The column of our own components."""
