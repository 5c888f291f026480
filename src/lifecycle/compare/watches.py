"""Comparing what watchers saw.

Two watch streams of the same journey are never the same list. The order across objects
is free; a controller may fold two updates into one; while pods start in parallel,
counters take different ways to the same end. What must hold is the contract of a watch:
per object, every field runs through its values in order, from the same first value to
the same last one.

So each object's stream becomes, field by field, a sequence of distinct values, per
segment of the journey (between two moments, when everything has settled). Two sequences
are equal, or one is a subsequence of the other (`COALESCED`), or only the way between
the same two ends differs (`INTERLEAVED`, for status and what follows from it). Siblings
with random names are compared by kind of life: born and gone in the same segments.
"""

from __future__ import annotations

import bisect
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from lifecycle.compare.compare import Comparison, Difference
from lifecycle.compare.masked import ABSENT, marks_of, optional_rule
from lifecycle.compare.normalise import Normaliser
from lifecycle.compare.placements import Placements

COALESCED = "updates folded together"
INTERLEAVED = "order of concurrent writers"
SIBLINGS = "number of siblings in a rollout"
_SEQUENCED = frozenset(
    {"Deployment", "ReplicaSet", "Service", "Endpoints", "EndpointSlice", "Pod"}
)
_Values = dict[str, list[str]]
_Life = tuple[str, int, int]


def compare_watches(
    ours: Iterable[dict[str, Any]],
    theirs: Iterable[dict[str, Any]],
    our_moments: Sequence[float],
    their_moments: Sequence[float],
    *,
    placements: tuple[Placements | None, Placements | None] = (None, None),
) -> dict[str, Comparison]:
    """Compare two recorded watches (lines with `t`, `path`, `event`), a `Comparison`
    per kind.

    Moments are the seconds at which everything had settled.
    """
    mine = _lives(list(ours), our_moments, placements[0])
    yours = _lives(list(theirs), their_moments, placements[1])
    result: dict[str, Comparison] = defaultdict(Comparison)
    for life in sorted(set(mine) | set(yours)):
        kind = life[0].partition(" ")[0]
        comparison = result[kind]
        if life not in mine or life not in yours:
            comparison.total += 1
            short_lived = "<random>" in life[0] and any(
                life[0] == other[0] for other in (yours if life in mine else mine)
            )
            if short_lived:
                comparison.equal += 1
                comparison.freedoms[SIBLINGS] += 1
            else:
                seen = ("seen", ABSENT) if life in mine else (ABSENT, "seen")
                comparison.differences.append(Difference(f"/{life[0]}", *seen))
            continue
        if len(mine[life]) != len(yours[life]):
            comparison.freedoms[SIBLINGS] += 1
        for a, b in _partners(mine[life], yours[life]):
            _compare_values(a, b, f"/{life[0]}", comparison)
    return dict(result)


def _lives(
    lines: list[dict[str, Any]],
    moments: Sequence[float],
    placements: Placements | None,
) -> dict[_Life, list[_Values]]:
    """Kind of life (label, first and last segment) → the value sequences of each object
    that led it.
    """
    documents = [line["event"].get("object") for line in lines]
    normaliser = Normaliser(placements).learn(*documents)
    stories: dict[str, list[tuple[int, str, Any]]] = defaultdict(list)
    for line, document in zip(lines, documents, strict=True):
        kind = (document or {}).get("kind", "")
        if (
            line["event"].get("type") in ("ADDED", "MODIFIED", "DELETED")
            and kind in _SEQUENCED
        ):
            segment = bisect.bisect_left(list(moments), line["t"])
            meta = document["metadata"]
            key = f"{kind}/{meta.get('namespace', '')}/{meta['name']}"
            stories[key].append(
                (segment, line["event"]["type"], normaliser.normalise(document))
            )
    lives: dict[_Life, list[_Values]] = defaultdict(list)
    for key, story in stories.items():
        kind, namespace, name = key.split("/", 2)
        entity = normaliser.known.by_name[kind, namespace, name]
        life = (
            entity.label,
            story[0][0],
            story[-1][0] if story[-1][1] == "DELETED" else -1,
        )
        lives[life].append(_sequences(story))
    return lives


def _sequences(story: list[tuple[int, str, Any]]) -> _Values:
    """Field and segment → its distinct values in order."""
    values: _Values = defaultdict(list)
    last: dict[str, str] = {}
    for segment, _, document in story:
        flat = dict(_flatten(document, ""))
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
        where: found
        for where, found in values.items()
        if len(found) > 1 or found[0] != ABSENT
    }


def _flatten(value: Any, path: str) -> Iterable[tuple[str, str]]:
    """Leaves with paths. Lists keep their items' names; sets of endpoints and managed
    fields are one value each.
    """
    if isinstance(value, dict) and value and optional_rule(value):
        yield path, "{}"
    elif isinstance(value, dict) and value:
        for key, item in value.items():
            if key == "managedFields":
                # their order and merging follow the times of writes; the http snapshots
                # compare them
                continue
            if key in ("endpoints", "subsets"):
                yield (
                    f"{path}/{key}",
                    json.dumps(
                        sorted(json.dumps(_firm(i), sort_keys=True) for i in item or ())
                    ),
                )
            else:
                yield from _flatten(item, f"{path}/{key}")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            name = (
                item.get("type") or item.get("name") or index
                if isinstance(item, dict)
                else index
            )
            yield from _flatten(item, f"{path}/{name}")
    elif not optional_rule(value):
        instead = next(
            (mark.instead for mark in marks_of(value) if mark.instead is not None), None
        )
        yield path, json.dumps(value if instead is None else instead)


def _firm(value: Any) -> Any:
    """A value without what the other side may lack."""
    if isinstance(value, dict):
        return {
            key: _firm(item) for key, item in value.items() if not optional_rule(item)
        }
    return [_firm(item) for item in value] if isinstance(value, list) else value


def _partners(
    ours: list[_Values], theirs: list[_Values]
) -> list[tuple[_Values, _Values]]:
    """Siblings paired by how much of their sequences is equal."""
    counters = [Counter((k, *v) for k, v in values.items()) for values in theirs]
    pairs: list[tuple[_Values, _Values]] = []
    free = set(range(len(theirs)))
    for values in ours:
        if free:
            own = Counter((k, *v) for k, v in values.items())
            best = max(sorted(free), key=lambda j: (own & counters[j]).total())
            free.discard(best)
            pairs.append((values, theirs[best]))
    return pairs


def _compare_values(
    ours: _Values, theirs: _Values, path: str, comparison: Comparison
) -> None:
    for where in sorted(set(ours) | set(theirs)):
        segment, _, name = where.partition(":")
        a, b = _carried(ours, where), _carried(theirs, where)
        comparison.total += 1
        freedom = _freedom(a, b, name)
        if freedom is None:
            comparison.differences.append(
                Difference(
                    f"{path} segment {segment}{name}", " → ".join(a), " → ".join(b)
                )
            )
            continue
        comparison.equal += 1
        if freedom:
            comparison.freedoms[freedom] += 1


def _carried(values: _Values, where: str) -> list[str]:
    """The values in a segment; untouched there, the value carried over from the segment
    before.
    """
    if where in values:
        return values[where]
    segment, _, path = where.partition(":")
    for before in range(int(segment) - 1, -1, -1):
        if f"{before}:{path}" in values:
            return values[f"{before}:{path}"][-1:]
    return [ABSENT]


def _freedom(ours: list[str], theirs: list[str], path: str) -> str | None:
    """The freedom two sequences need: none (`""`), a named one, or None if nothing
    excuses them.
    """
    if ours == theirs:
        return ""
    if ours[-1] != theirs[-1]:
        return None
    if _is_subsequence(ours, theirs) or _is_subsequence(theirs, ours):
        return COALESCED
    follows = path.startswith(
        (
            "/status",
            "/endpoints",
            "/subsets",
            "/metadata/annotations",
            "/metadata/generation",
            "/spec/replicas",
        )
    )
    return INTERLEAVED if follows and ours[0] == theirs[0] else None


def _is_subsequence(short: list[str], long: list[str]) -> bool:
    rest = iter(long)
    return all(value in rest for value in short)
