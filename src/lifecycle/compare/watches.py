"""Comparing what watchers saw.

Two watch streams of the same journey are never the same list: the order across objects
is free. What must hold is a partial order: every object, and every endpoint of a
Service, runs through the values of each of its fields in order, the values in between
included.

So each object's stream becomes, field by field, a sequence of distinct values, per
segment of the journey (between two moments, when everything has settled). Two sequences
have to be equal; the few that need not be are in `watch_freedoms`, each bounded by what
arithmetic allows. Siblings with random names are compared by kind of life: born and
gone in the same segments. One that has no partner is a difference.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from lifecycle.compare.compare import Comparison, Difference
from lifecycle.compare.lawful import watch_complaints
from lifecycle.compare.masked import ABSENT, Masked, marks_of, optional_rule
from lifecycle.compare.normalise import Normaliser
from lifecycle.compare.placements import Placements
from lifecycle.compare.watch_freedoms import (
    ARRIVALS,
    Values,
    Ways,
    carried,
    freedom,
)

_SEQUENCED = frozenset(
    {"Deployment", "ReplicaSet", "Service", "Endpoints", "EndpointSlice", "Pod"}
)
_WITH_ENDPOINTS = frozenset({"Endpoints", "EndpointSlice"})
_Life = tuple[str, int, int]


def compare_watches(
    ours: Iterable[dict[str, Any]],
    theirs: Iterable[dict[str, Any]],
    our_moments: Sequence[float],
    their_moments: Sequence[float],
    *,
    placements: tuple[Placements | None, Placements | None] = (None, None),
    lawful: bool = False,
) -> dict[str, Comparison]:
    """Compare two recorded watches (lines with `t`, `path`, `event`), a `Comparison`
    per kind.

    Moments are the seconds at which everything had settled. `lawful`: see `Ways`.
    """
    sides = list(ours), list(theirs)
    mine = _lives(sides[0], our_moments, placements[0])
    yours = _lives(sides[1], their_moments, placements[1])
    result: dict[str, Comparison] = defaultdict(Comparison)
    for lines, words in zip(sides, (("seen", ABSENT), (ABSENT, "seen")), strict=True):
        for kind, complaint in watch_complaints(lines):
            result[kind].total += 1
            found = Difference(f"/{complaint} (by itself)", *words)
            result[kind].differences.append(found)
    for life in sorted(set(mine) | set(yours)):
        kind = life[0].partition(" ")[0]
        comparison = result[kind]
        if life not in mine or life not in yours:
            _lacking(life, mine.get(life, []), yours.get(life, []), comparison)
            continue
        pairs, ours_left, theirs_left = _partners(mine[life], yours[life])
        _lacking(life, ours_left, theirs_left, comparison)
        for a, b in pairs:
            _compare_values(a, b, f"/{life[0]}", comparison, lawful)
    return dict(result)


def _lacking(
    life: _Life, ours: list[Values], theirs: list[Values], comparison: Comparison
) -> None:
    """What led a life that nobody led on the other side."""
    comparison.total += len(ours) + len(theirs)
    sides = [("seen", ABSENT)] * len(ours) + [(ABSENT, "seen")] * len(theirs)
    comparison.differences += [Difference(f"/{life[0]}", *side) for side in sides]


def _lives(
    lines: list[dict[str, Any]],
    moments: Sequence[float],
    placements: Placements | None,
) -> dict[_Life, list[Values]]:
    """Kind of life (label, first and last segment) → the value sequences of each object
    that led it.
    """
    documents = [line["event"].get("object") for line in lines]
    normaliser = Normaliser(placements).learn(*documents)
    stories: dict[str, list[tuple[int, str, Any]]] = defaultdict(list)
    labels: dict[str, str] = {}
    present: dict[str, set[str]] = defaultdict(set)
    arrivals: Counter[tuple[str, int]] = Counter()
    for line, document in zip(lines, documents, strict=True):
        kind = (document or {}).get("kind", "")
        change = line["event"].get("type")
        if change not in ("ADDED", "MODIFIED", "DELETED") or kind not in _SEQUENCED:
            continue
        segment = bisect.bisect_left(list(moments), line["t"])
        meta = document["metadata"]
        key = f"{kind}/{meta.get('namespace', '')}/{meta['name']}"
        labels[key] = normaliser.known.by_name[
            kind, meta.get("namespace", ""), meta["name"]
        ].label
        normalised = normaliser.normalise(document)
        stories[key].append((segment, change, normalised))
        if kind not in _WITH_ENDPOINTS:
            continue
        entries = {} if change == "DELETED" else _endpoints_of(document, normalised)
        for name in present[key] - set(entries):
            stories[name].append((segment, "DELETED", {}))
        for name, entry in entries.items():
            earlier = stories[name]
            back = not earlier or earlier[-1][1] == "DELETED"
            earlier.append((segment, "ADDED" if back else "MODIFIED", entry))
            arrivals[key, segment] += back
            labels[name] = f"{labels[key]} endpoint {entry['of']}"
        present[key] = set(entries)
    lives: dict[_Life, list[Values]] = defaultdict(list)
    for key, story in stories.items():
        gone = story[-1][0] if story[-1][1] == "DELETED" else -1
        life = _sequences(story)
        for segment in range(len(moments) + 1):
            if arrivals[key, segment]:
                life[f"{segment}:{ARRIVALS}"] = [str(arrivals[key, segment])]
        lives[labels[key], story[0][0], gone].append(life)
    return lives


def _endpoints_of(raw: dict[str, Any], normalised: dict[str, Any]) -> dict[str, Any]:
    """Each endpoint of a Service by its address, raw; what is said of it,
    normalised.
    """
    endpoints: dict[str, Any] = {}
    where = f"{raw['kind']}/{raw['metadata']['name']}"
    for mine, endpoint in zip(
        raw.get("endpoints") or (), normalised.get("endpoints") or (), strict=True
    ):
        endpoints[f"{where} {' '.join(mine['addresses'])}"] = {
            "of": str((endpoint.get("targetRef") or {}).get("name", "")),
            "endpoint": _firm(endpoint),
        }
    for mine, subset in zip(
        raw.get("subsets") or (), normalised.get("subsets") or (), strict=True
    ):
        for state in ("addresses", "notReadyAddresses"):
            for address, entry in zip(
                mine.get(state) or (), subset.get(state) or (), strict=True
            ):
                endpoints[f"{where} {address['ip']}"] = {
                    "of": str((entry.get("targetRef") or {}).get("name", "")),
                    "state": state,
                    "endpoint": _firm(entry),
                }
    return endpoints


def _sequences(story: list[tuple[int, str, Any]]) -> Values:
    """Field and segment → its distinct values in order."""
    values: Values = defaultdict(list)
    last: dict[str, str] = {}
    for segment, _, document in story:
        flat: dict[str, str] = {}
        _flatten(document, "", flat)
        for path in set(flat) | set(last):
            value = flat.get(path, ABSENT)
            where = f"{segment}:{path}"
            if not values[where]:
                if path in last:
                    values[where].append(last[path])
                elif segment != story[0][0] or value == ABSENT:
                    values[where].append(ABSENT)
            if not values[where] or values[where][-1] != value:
                values[where].append(value)
            last[path] = value
    return {
        where: sequence
        for where, sequence in values.items()
        if len(sequence) > 1 or sequence[0] != ABSENT
    }


def _flatten(value: Any, path: str, flat: dict[str, str]) -> None:
    """Add leaves by their paths. Lists keep their items' names."""
    if isinstance(value, dict) and value:
        if optional_rule(value):
            flat[path] = "{}"
            return
        for key, item in value.items():
            if key == "managedFields":
                # their order and merging follow the times of writes; the http snapshots
                # compare them
                continue
            if key in ("endpoints", "subsets"):
                # each endpoint has a story of its own
                continue
            _flatten(item, f"{path}/{key}", flat)
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            name = (
                item.get("type") or item.get("name") or index
                if isinstance(item, dict)
                else index
            )
            _flatten(item, f"{path}/{name}", flat)
    elif not isinstance(value, Masked):
        flat[path] = _ENCODE(value)
    elif not optional_rule(value):
        instead = next(
            (mark.instead for mark in marks_of(value) if mark.instead is not None), None
        )
        flat[path] = _ENCODE(value if instead is None else instead)


_ENCODE = json.JSONEncoder().encode


def _firm(value: Any) -> Any:
    """A value without what the other side may lack."""
    if isinstance(value, dict):
        return {
            key: _firm(item) for key, item in value.items() if not optional_rule(item)
        }
    return [_firm(item) for item in value] if isinstance(value, list) else value


def _partners(
    ours: list[Values], theirs: list[Values]
) -> tuple[list[tuple[Values, Values]], list[Values], list[Values]]:
    """Siblings paired by how much of their sequences is equal, and who was left."""
    counters = [Counter((k, *v) for k, v in values.items()) for values in theirs]
    pairs: list[tuple[Values, Values]] = []
    left: list[Values] = []
    free = set(range(len(theirs)))
    for values in ours:
        if not free:
            left.append(values)
            continue
        own = Counter((k, *v) for k, v in values.items())
        best = max(sorted(free), key=lambda j: (own & counters[j]).total())
        free.discard(best)
        pairs.append((values, theirs[best]))
    return pairs, left, [theirs[j] for j in sorted(free)]


def _compare_values(
    ours: Values, theirs: Values, path: str, comparison: Comparison, lawful: bool
) -> None:
    kind = path[1:].partition(" ")[0]
    for where in sorted(set(ours) | set(theirs)):
        segment, _, name = where.partition(":")
        if name == ARRIVALS:
            continue
        a, b = carried(ours, where), carried(theirs, where)
        comparison.total += 1
        ways = Ways(a, b, segment, (ours, theirs), lawful)
        granted = "" if a == b else freedom(kind, name, ways)
        if granted is None:
            comparison.differences.append(
                Difference(
                    f"{path} segment {segment}{name}", " → ".join(a), " → ".join(b)
                )
            )
            continue
        comparison.equal += 1
        if granted:
            comparison.freedoms[granted] += 1
