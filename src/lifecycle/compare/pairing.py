"""Which of their pods is which of ours.

Three pods of a ReplicaSet have random names, so nothing says that our `…-l4z6p` is
their `…-x7k2w`. Within one scope a one-to-one pairing of such siblings is chosen by all
that is said about them (their own object, events, endpoints); from then on every
reference on one side has to lead to the partner on the other. That is what makes
renaming a freedom and not an excuse.

Identities that no object carries (a container's id, a token volume's name) are paired
at their first encounter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from lifecycle.compare.masked import Identity, marks_of

_UNITS = frozenset({"items", "endpoints", "addresses", "notReadyAddresses", "rows"})
_Signature = Counter[tuple[Any, ...]]


class Bijection:
    """A growing one-to-one map between two clusters' identities."""

    def __init__(self) -> None:
        self._forward: dict[Identity, Identity] = {}
        self._backward: dict[Identity, Identity] = {}

    def bind(self, ours: Identity, theirs: Identity) -> bool:
        """Pair two identities, or confirm that they are paired already. False if either
        has another partner.
        """
        if ours[0] != theirs[0]:
            return False
        if ours in self._forward:
            return self._forward[ours] == theirs
        if theirs in self._backward:
            return False
        self._forward[ours] = theirs
        self._backward[theirs] = ours
        return True

    def partner(self, ours: Identity) -> Identity | None:
        """Their partner of ours, if it has one."""
        return self._forward.get(ours)

    def number(self, identity: Identity, *, theirs: bool) -> int | None:
        """A number that partners share."""
        pair = (
            self._backward.get(identity)
            if theirs
            else (identity if identity in self._forward else None)
        )
        return None if pair is None else hash(pair)


def pair_siblings(ours: Iterable[Any], theirs: Iterable[Any]) -> Bijection:
    """Pair the siblings of two normalised scopes: objects first, then the events that
    speak of them.
    """
    bijection = Bijection()
    our_units, their_units = list(_units(ours)), list(_units(theirs))
    for events in (False, True):
        our_signatures = _signatures(our_units, bijection, theirs=False)
        their_signatures = _signatures(their_units, bijection, theirs=True)
        classes: dict[str, tuple[list[Identity], list[Identity]]] = defaultdict(
            lambda: ([], [])
        )
        for identity in our_signatures:
            classes[identity[0]][0].append(identity)
        for identity in their_signatures:
            classes[identity[0]][1].append(identity)
        for label, (us, them) in classes.items():
            if label[0].isupper() and label.startswith("Event ") == events:
                _pair_class(
                    us, them, our_signatures, their_signatures, bijection, strict=events
                )
    return bijection


def _pair_class(
    us: list[Identity],
    them: list[Identity],
    our_signatures: dict[Identity, _Signature],
    their_signatures: dict[Identity, _Signature],
    bijection: Bijection,
    *,
    strict: bool,
) -> None:
    """Equal signatures first, then the most similar; `strict` leaves alone what has
    nothing in common.
    """
    by_signature: dict[Any, list[Identity]] = defaultdict(list)
    for identity in them:
        by_signature[frozenset(their_signatures[identity].items())].append(identity)
    left: list[Identity] = []
    for identity in us:
        same = by_signature.get(frozenset(our_signatures[identity].items()))
        if same:
            bijection.bind(identity, same.pop(0))
        else:
            left.append(identity)
    rest = [identity for same in by_signature.values() for identity in same]
    our_lines = {a: _lines(our_signatures[a]) for a in left}
    their_lines = {b: _lines(their_signatures[b]) for b in rest}
    scores = [
        ((our_lines[a] & their_lines[b]).total(), -i, -j)
        for i, a in enumerate(left)
        for j, b in enumerate(rest)
    ]
    for score, i, j in sorted(scores, reverse=True):
        if score or not strict:
            a, b = left[-i], rest[-j]
            if bijection.partner(a) is None:
                bijection.bind(a, b)


def _lines(signature: _Signature) -> Counter[str]:
    """A signature taken apart, for siblings that are similar and not equal."""
    lines: Counter[str] = Counter()
    for path, text, _ in signature:
        lines.update(f"{path} {line}" for line in text.split("\n"))
    return lines


def _units(
    documents: Iterable[Any],
) -> Iterator[tuple[str, list[tuple[str, Identity]]]]:
    """Each statement of the documents: its text and the identities in it with their
    places.
    """
    for document in documents:
        yield from _split(document)


def _split(value: Any) -> Iterator[tuple[str, list[tuple[str, Identity]]]]:
    parts: list[str] = []
    identities: list[tuple[str, Identity]] = []
    inner: list[Any] = []
    _collect(value, "", parts, identities, inner)
    if identities:
        yield "\n".join(sorted(parts)), identities
    for item in inner:
        yield from _split(item)


def _collect(
    value: Any,
    path: str,
    parts: list[str],
    identities: list[tuple[str, Identity]],
    inner: list[Any],
) -> None:
    if isinstance(value, dict):
        for key, item in value.items():
            identities += [
                (f"{path}/{key}", mark.identity)
                for mark in marks_of(key)
                if mark.identity
            ]
            if key in _UNITS and isinstance(item, list):
                inner += item
            else:
                _collect(item, f"{path}/{key}", parts, identities, inner)
    elif isinstance(value, list):
        for item in value:
            _collect(item, f"{path}/*", parts, identities, inner)
    else:
        parts.append(f"{path}={value}")
        identities += [
            (path, mark.identity) for mark in marks_of(value) if mark.identity
        ]


def _signatures(
    units: list[tuple[str, list[tuple[str, Identity]]]],
    bijection: Bijection,
    *,
    theirs: bool,
) -> dict[Identity, _Signature]:
    """All that is said about each identity, partners of already paired identities named
    by their number.
    """
    signatures: dict[Identity, _Signature] = defaultdict(Counter)
    for text, identities in units:
        numbers = tuple(
            (path, bijection.number(identity, theirs=theirs))
            for path, identity in identities
        )
        numbers = tuple(
            sorted((path, number) for path, number in numbers if number is not None)
        )
        for path, identity in identities:
            signatures[identity][path, text, numbers] += 1
    return signatures
