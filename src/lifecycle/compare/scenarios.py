"""Comparing two clusters over a whole scenario.

The same questions were put to both; their answers are normalised scope by scope (a
scope is a scenario, or in *journey* one moment of it), siblings are paired, and every
answer is compared field by field into an `AgreementTable`.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lifecycle.compare.agreement import AgreementTable
from lifecycle.compare.agreement_row import Row
from lifecycle.compare.compare import Comparison, Difference, compare
from lifecycle.compare.documents import body_of, document_of
from lifecycle.compare.held import compare_held
from lifecycle.compare.in_flight import KUBELET, WRITERS
from lifecycle.compare.lawful import Laws
from lifecycle.compare.masked import ABSENT
from lifecycle.compare.normalise import Normaliser
from lifecycle.compare.observations import Observations, observations_of
from lifecycle.compare.pairing import pair_siblings
from lifecycle.compare.placements import Placements
from lifecycle.compare.rollout_steps import soften_steps
from lifecycle.compare.rollouts import Rollouts
from lifecycle.compare.slow_start import SlowStart
from lifecycle.compare.watches import compare_watches
from lifecycle.inspector import Exchange, Recording

BY_MOMENT = frozenset({"journey"})
"""Scenarios in which everything settles between moments, and pods come and go: each
moment is a scope of its own.
"""

UNSETTLED = frozenset({"scheduling"})
"""Scenarios whose reads, too, look at pods that the kubelet is still writing. What the
scheduler had to say of them it has said by then.
"""

STAND_IN = "a namespace made for the recording"

Pair = tuple[Exchange | None, Exchange | None]


def compare_recordings(
    ours: Recording, theirs: Recording, scenario: str
) -> AgreementTable:
    """Compare two recordings over one scenario, watches included where both have
    them.
    """
    renamed: Counter[str] = Counter()
    sides = [
        replace(
            observations_of(side, scenario),
            exchanges=in_own_place(side, scenario, renamed),
        )
        for side in (ours, theirs)
    ]
    table = compare_observations(
        scenario,
        sides[0],
        sides[1],
        f"recording {ours.provenance}",
        f"recording {theirs.provenance}",
    )
    if renamed and table.rows:
        table.rows[0].comparison.freedoms += renamed
    return table


def compare_observations(
    scenario: str,
    ours: Observations,
    theirs: Observations,
    our_name: str,
    their_name: str,
    *,
    given: str = "",
) -> AgreementTable:
    """Compare what two clusters told: their answers and, where everything settles
    between moments and both were watched, what watchers saw. `given`: see `Row`.
    """
    placements = ours.placements(), theirs.placements()
    watched = scenario in BY_MOMENT and bool(ours.lines and theirs.lines)
    rollouts = [
        Rollouts.of(side.lines, side.exchanges) for side in (ours, theirs) if watched
    ]
    lawful = watched and compare_held(*rollouts).agrees
    table = compare_exchanges(
        scenario,
        ours.exchanges,
        theirs.exchanges,
        our_name,
        their_name,
        placements=placements,
        given=given,
        rollouts=(rollouts[0], rollouts[1]) if lawful else None,
    )
    if watched:
        add_rollouts(table, scenario, rollouts[0], rollouts[1])
        if ours.audit and theirs.audit:
            add_slow_starts(table, scenario, (ours, theirs), rollouts)
        add_watches(table, scenario, ours, theirs, lawful=lawful)
    return table


def in_own_place(
    recording: Recording, scenario: str, renamed: Counter[str]
) -> Sequence[Exchange]:
    """A scenario's exchanges, told as if they had been made in the namespace that a
    stand-in was made for; `renamed` counts them.
    """
    exchanges: Sequence[Exchange] = recording.exchanges(scenario)
    for stand_in, instead_of in recording.stand_ins(scenario).items():
        word = re.compile(rf"(?<![a-z0-9.-]){re.escape(stand_in)}(?![a-z0-9-])")
        rewritten = [_rewritten(exchange, word, instead_of) for exchange in exchanges]
        renamed[STAND_IN] += sum(
            1
            for before, after in zip(exchanges, rewritten, strict=True)
            if before != after
        )
        exchanges = rewritten
    return exchanges


def _rewritten(exchange: Exchange, word: re.Pattern[str], instead: str) -> Exchange:
    parts = {
        name: json.loads(word.sub(instead, json.dumps(getattr(exchange, name))))
        for name in ("path", "body", "response")
    }
    return replace(exchange, **parts)


def add_watches(
    table: AgreementTable,
    scenario: str,
    ours: Observations,
    theirs: Observations,
    *,
    lawful: bool = False,
) -> None:
    """Compare what watchers saw, a row per kind. `lawful`: see `Ways`."""
    for kind, comparison in compare_watches(
        ours.lines,
        theirs.lines,
        _settled(ours.exchanges),
        _settled(theirs.exchanges),
        placements=(ours.placements(), theirs.placements()),
        lawful=lawful,
    ).items():
        table.add(
            f"{scenario}: watch",
            f"{kind} events",
            f"{comparison.total} sequences",
            "the same",
            comparison,
        )


def add_rollouts(
    table: AgreementTable, scenario: str, ours: Rollouts, theirs: Rollouts
) -> Row:
    """Hold each side's rollouts to the arithmetic of its own strategy."""
    our_steps, their_steps = (
        f"{len(side.steps)} steps, {side.checks - len(side.complaints)} of"
        f" {side.checks} checks hold"
        for side in (ours, theirs)
    )
    return table.add(
        f"{scenario}: watch",
        "steps of rollouts",
        our_steps,
        their_steps,
        compare_held(ours, theirs),
    )


def add_slow_starts(
    table: AgreementTable,
    scenario: str,
    sides: Sequence[Observations],
    rollouts: Sequence[Rollouts],
) -> Row:
    """Hold each side's creations of pods to the batches of a slow start."""
    held = [
        SlowStart.of(side.audit, rollout.raised)
        for side, rollout in zip(sides, rollouts, strict=True)
    ]
    ours, theirs = (
        f"{one.checks - len(one.complaints)} of {one.checks} pods waited for the batch"
        " before"
        for one in held
    )
    return table.add(
        f"{scenario}: audit log",
        "slow start of replica sets",
        ours,
        theirs,
        compare_held(*held),
    )


def compare_exchanges(
    scenario: str,
    ours: Sequence[Exchange],
    theirs: Sequence[Exchange],
    our_name: str,
    their_name: str,
    *,
    placements: tuple[Placements, Placements] | None = None,
    given: str = "",
    rollouts: tuple[Rollouts, Rollouts] | None = None,
) -> AgreementTable:
    """Compare two lists of exchanges, matched by what was asked. `placements`: what is
    known of either side's pods; else each scope's own answers have to do. `given`: see
    `Row`. `rollouts`: both sides', if all of them were lawful.
    """
    table = AgreementTable(f"agreement: {scenario}", our_name, their_name)
    broken = [
        _broken_laws(side, placements[i] if placements else None)
        for i, side in enumerate((ours, theirs))
    ]
    scopes: dict[str, list[Pair]] = defaultdict(list)
    for mine, yours in align(ours, theirs):
        moment = (mine or yours).moment if scenario in BY_MOMENT else ""  # type: ignore[union-attr]
        scopes[moment].append((mine, yours))
    for pairs in scopes.values():
        _compare_scope(
            scenario,
            pairs,
            table,
            placements or (None, None),
            given,
            rollouts or (None, None),
            broken,
        )
    return table


def _broken_laws(
    exchanges: Sequence[Exchange], placements: Placements | None
) -> dict[int, list[str]]:
    """What is wrong with one side's answers by themselves, by exchange."""
    laws = Laws(placements.nodes if placements else {})
    broken: dict[int, list[str]] = {}
    for exchange in exchanges:
        answer = body_of(exchange.response, exchange.accept)
        cached = "resourceVersion=" in exchange.path
        broken[id(exchange)] = laws.broken_by(answer, fresh=not cached)
    return broken


def align(ours: Iterable[Exchange], theirs: Iterable[Exchange]) -> list[Pair]:
    """Exchanges that ask the same: the k-th time one side asks a question belongs to
    the k-th time the other side does.
    """
    waiting: dict[tuple[str, ...], list[Exchange]] = defaultdict(list)
    for exchange in theirs:
        waiting[_asked(exchange)].append(exchange)
    pairs: list[Pair] = []
    for exchange in ours:
        same = waiting[_asked(exchange)]
        pairs.append((exchange, same.pop(0) if same else None))
    return pairs + [(None, exchange) for rest in waiting.values() for exchange in rest]


def _asked(exchange: Exchange) -> tuple[str, ...]:
    question = exchange.question
    query = sorted(
        f"{k}={v}"
        for k, v in question.query
        if k not in ("continue", "resourceVersion")
    )
    return (
        question.method,
        question.path,
        "&".join(query),
        question.form,
        exchange.moment,
        exchange.identity,
        exchange.content_type,
    )


def _compare_scope(
    scenario: str,
    pairs: list[Pair],
    table: AgreementTable,
    placements: Sequence[Placements | None],
    given: str,
    rollouts: Sequence[Rollouts | None],
    broken: Sequence[dict[int, list[str]]],
) -> None:
    sides = []
    for side in (0, 1):
        exchanges = [pair[side] for pair in pairs]
        documents = [document_of(e) if e else None for e in exchanges]
        normaliser = Normaliser(placements[side]).learn(
            *(d["body"] for d in documents if d)
        )
        normalised: list[Any] = []
        for exchange, document in zip(exchanges, documents, strict=True):
            if exchange is None or document is None:
                normalised.append(None)
                continue
            in_flight = frozenset[str]()
            if exchange.method != "GET":
                in_flight = WRITERS
            elif scenario in UNSETTLED:
                in_flight = KUBELET
            body = normaliser.normalise(document["body"], in_flight=in_flight)
            body = soften_steps(document["body"], body, rollouts[side])
            normalised.append(
                normaliser.normalise({k: v for k, v in document.items() if k != "body"})
                | {"body": body}
            )
        sides.append(normalised)
    bijection = pair_siblings(*([d for d in side if d is not None] for side in sides))
    for (mine, yours), ours, theirs in zip(pairs, *sides, strict=True):
        exchange = mine or yours
        assert exchange is not None
        stage = f"{scenario}: {exchange.moment}" if exchange.moment else f"{scenario}:"
        path = exchange.path
        if len(path) > 120:
            path = path.partition("?")[0]
        question = f"{exchange.method} {path}"
        if mine is None or yours is None:
            comparison = Comparison(total=1)
            comparison.differences = []
            _absent(comparison, mine, yours)
        else:
            comparison = compare(ours, theirs, bijection)
            for held, words in (
                (broken[0][id(mine)], ("seen", ABSENT)),
                (broken[1][id(yours)], (ABSENT, "seen")),
            ):
                comparison.total += len(held)
                comparison.differences += [
                    Difference(f" (by itself) {each}", *words) for each in held
                ]
        fields = f"{mine.status if mine else '–'}, {comparison.total} fields"
        table.add(
            stage,
            question,
            fields,
            f"{yours.status if yours else '–'}, {comparison.total} fields",
            comparison,
            given,
        )


def _absent(
    comparison: Comparison, mine: Exchange | None, yours: Exchange | None
) -> None:
    comparison.differences.append(
        Difference(
            " (asked)", "asked" if mine else ABSENT, "asked" if yours else ABSENT
        )
    )


def _settled(exchanges: Sequence[Exchange]) -> list[float]:
    """When each moment's first question was asked."""
    first: dict[str, float] = {}
    for exchange in exchanges:
        if exchange.moment:
            first.setdefault(exchange.moment, exchange.t)
    return sorted(first.values())
