"""Field by field: are two normalised documents equal?

Every scalar is a field, and so is every empty map and list. A field is equal if its
values are; if they differ but both are placeholders of the same rule for partners of
one another, the freedom is granted and counted. Anything else is a `Difference`. A
field that only one side has is a difference too: nothing is left out.

Lists are compared in order, except those whose order Kubernetes does not promise;
granting that is a counted freedom as well.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from lifecycle.compare.masked import (
    ABSENT,
    Identity,
    Mark,
    Masked,
    count_leaves,
    marks_of,
    optional_rule,
    raw_of,
)
from lifecycle.compare.pairing import Bijection


@dataclass(slots=True, frozen=True)
class Difference:
    """One place where two documents disagree; `fields` counts the scalars below it."""

    path: str
    ours: Any
    theirs: Any
    fields: int = 1

    def __str__(self) -> str:
        return f"{self.path}: {_short(self.ours)} ≠ {_short(self.theirs)}"


@dataclass(slots=True)
class Comparison:
    """The result: of `total` fields `equal` are; `freedoms` counts the granted ones
    among them by rule.
    """

    total: int = 0
    equal: int = 0
    differences: list[Difference] = field(default_factory=list)
    freedoms: Counter[str] = field(default_factory=Counter)

    @property
    def agrees(self) -> bool:
        """No difference at all."""
        return not self.differences

    def field(self, path: str, ours: object, theirs: object) -> None:
        """One more field: as a whole, freedoms aside."""
        self.total += 1
        if ours == theirs:
            self.equal += 1
        else:
            self.differences.append(Difference(f"/{path}", ours, theirs))

    def mapping(
        self, path: str, ours: Mapping[str, object], theirs: Mapping[str, object]
    ) -> None:
        """Field by field; one that only one side has is a difference too."""
        for key in sorted({*ours, *theirs}):
            self.field(f"{path}/{key}", ours.get(key), theirs.get(key))

    def __iadd__(self, other: Comparison) -> Comparison:
        self.total += other.total
        self.equal += other.equal
        self.differences += other.differences
        self.freedoms += other.freedoms
        return self


def compare(
    ours: Any, theirs: Any, bijection: Bijection | None = None, path: str = ""
) -> Comparison:
    """Compare two normalised documents. Pass one `bijection` for all documents of a
    scope, so that references have to match across them.
    """
    comparison = Comparison()
    _Comparer(bijection or Bijection(), comparison).value(ours, theirs, path)
    return comparison


class _Comparer:
    def __init__(self, bijection: Bijection, result: Comparison) -> None:
        self.bijection = bijection
        self.result = result

    def value(self, ours: Any, theirs: Any, path: str, kind: str = "") -> None:
        """Any two values; `kind` is that of the object they are in, where it says so
        itself.
        """
        if isinstance(ours, Masked) or isinstance(theirs, Masked):
            ours, theirs = _opened(ours, theirs), _opened(theirs, ours)
        if isinstance(ours, dict) and isinstance(theirs, dict) and (ours or theirs):
            self.maps(ours, theirs, path)
        elif isinstance(ours, list) and isinstance(theirs, list) and (ours or theirs):
            self.lists(ours, theirs, path, kind)
        else:
            self.leaf(ours, theirs, path)

    def leaf(self, ours: Any, theirs: Any, path: str) -> None:
        """Two scalars, or two values of different shape."""
        fields = 1
        if isinstance(ours, dict | list) or isinstance(theirs, dict | list):
            fields = max(count_leaves(ours), count_leaves(theirs))
        self.result.total += fields
        if self.same(ours, theirs):
            self.result.equal += fields
        else:
            self.result.differences.append(
                Difference(path or "/", ours, theirs, fields)
            )

    def same(self, ours: Any, theirs: Any) -> bool:
        """Equal values, or placeholders for partners (whose freedoms are counted
        here).
        """
        if not isinstance(ours, Masked) and not isinstance(theirs, Masked):
            return _equal(ours, theirs)
        our_marks, their_marks = marks_of(ours), marks_of(theirs)
        if not our_marks or not their_marks:
            return self.half_masked(our_marks or their_marks, ours, theirs)
        if str(ours) != str(theirs) or type(raw_of(ours)) is not type(raw_of(theirs)):
            return False
        granted: list[str] = []
        for mine, yours in zip(our_marks, their_marks, strict=False):
            if mine.rule != yours.rule:
                return False
            if (
                mine.identity
                and yours.identity
                and not self.bijection.bind(mine.identity, yours.identity)
            ):
                return False
            if mine.near and yours.near and not mine.near.holds(yours.near):
                return False
            if mine.raw != yours.raw:
                granted.append(mine.rule)
        self.result.freedoms.update(granted)
        return True

    def half_masked(self, marks: tuple[Mark, ...], ours: Any, theirs: Any) -> bool:
        """At most one placeholder: equal originals, or the plain value that the
        placeholder says it stands in for.

        A placeholder with such a value is part of a whole (a retried start counts one
        more restart *and* tells of it): the number alone, without the story, is a
        difference even where it happens to be the same number.
        """
        plain = theirs if isinstance(ours, Masked) else ours
        whole = any(mark.instead not in (None, ABSENT) for mark in marks)
        if not whole and _equal(raw_of(ours), raw_of(theirs)):
            return True
        for mark in marks:
            if mark.instead is not None and _equal(mark.instead, plain):
                self.result.freedoms[mark.rule] += 1
                return True
        return False

    def missing(self, ours: Any, theirs: Any, path: str) -> None:
        """A value only one side has."""
        present = theirs if ours is ABSENT else ours
        fields = count_leaves(present)
        self.result.total += fields
        optional = optional_rule(present)
        if optional:
            self.result.equal += fields
            self.result.freedoms[optional] += 1
        else:
            self.result.differences.append(Difference(path, ours, theirs, fields))

    def maps(self, ours: dict[str, Any], theirs: dict[str, Any], path: str) -> None:
        """Two maps: the order of keys means nothing."""
        their_keys = {str(key): key for key in theirs}
        for key, item in ours.items():
            there = their_keys.pop(str(key), None)
            if there is None or not (_plain(key, there) or self.same(key, there)):
                where = f"{path}/{key}"
                self.missing(item, ABSENT, where)
                if there is not None:
                    self.missing(ABSENT, theirs[there], where)
            elif _plain(item, theirs[there]):
                self.result.total += 1
                self.result.equal += 1
            else:
                where = f"{path}/{key}"
                self.value(item, theirs[there], where, str(ours.get("kind", "")))
        for text, key in their_keys.items():
            self.missing(ABSENT, theirs[key], f"{path}/{text}")

    def lists(self, ours: list[Any], theirs: list[Any], path: str, kind: str) -> None:
        """Two lists: by position, or by key where the order is free."""
        name = path.rpartition("/")[2]
        order = _ORDERS.get(f"{kind} {name}") or _ORDERS.get(name)
        if order is None or not all(isinstance(item, dict) for item in ours + theirs):
            for index in range(max(len(ours), len(theirs))):
                where = f"{path}/{index}"
                if index >= len(ours):
                    self.missing(ABSENT, theirs[index], where)
                elif index >= len(theirs):
                    self.missing(ours[index], ABSENT, where)
                else:
                    self.value(ours[index], theirs[index], where)
            return
        pairs = self.align(ours, theirs, order.key)
        self.check_order(pairs, ours, theirs, order, path)
        for i, j in pairs:
            mine = ABSENT if i is None else ours[i]
            yours = ABSENT if j is None else theirs[j]
            where = f"{path}/{_named(order.key(yours if i is None else mine)[0])}"
            if i is None or j is None:
                self.missing(mine, yours, where)
            else:
                self.value(mine, yours, where)

    def align(
        self, ours: list[Any], theirs: list[Any], key: _Key
    ) -> list[tuple[int | None, int | None]]:
        """Positions that belong together: same key, and among siblings the partner."""
        waiting: dict[Any, list[int]] = defaultdict(list)
        for j, item in enumerate(theirs):
            waiting[key(item)[0]].append(j)
        pairs: list[tuple[int | None, int | None]] = []
        undecided: list[int] = []
        for i, item in enumerate(ours):
            text, identity = key(item)
            partner = self.bijection.partner(identity) if identity else None
            match = next(
                (j for j in waiting[text] if partner and key(theirs[j])[1] == partner),
                None,
            )
            if match is None:
                undecided.append(i)
            else:
                waiting[text].remove(match)
                pairs.append((i, match))
        for i in undecided:
            text, _ = key(ours[i])
            pairs.append((i, waiting[text].pop(0) if waiting[text] else None))
        pairs.sort(key=lambda pair: pair[0] or 0)
        return pairs + [(None, j) for rest in waiting.values() for j in rest]

    def check_order(
        self,
        pairs: list[tuple[int | None, int | None]],
        ours: list[Any],
        theirs: list[Any],
        order: _Order,
        path: str,
    ) -> None:
        """Count the freedom of order where it was needed; report it where the list
        promises an order by name.
        """
        both = [(i, j) for i, j in pairs if i is not None and j is not None]
        moved = [j for _, j in both] != sorted(j for _, j in both)
        fixed = [
            (i, j) for i, j in both if order.by_name and order.key(ours[i])[1] is None
        ]
        if [j for _, j in fixed] != sorted(j for _, j in fixed):
            self.result.total += 1
            mine = [order.key(ours[i])[0] for i, _ in fixed]
            yours = [order.key(theirs[j])[0] for j in sorted(j for _, j in fixed)]
            self.result.differences.append(Difference(f"{path} (order)", mine, yours))
        elif order.promise and not self.promised(order.promise, ours, theirs, moved):
            self.result.total += 1
            words = [
                "sorted" if _sorted(order.promise, side) else "not sorted"
                for side in (ours, theirs)
            ]
            found = Difference(f"{path} (sorted)", words[0], words[1])
            self.result.differences.append(found)
        elif moved:
            self.result.freedoms[order.freedom] += 1

    @staticmethod
    def promised(by: _By, ours: list[Any], theirs: list[Any], moved: bool) -> bool:
        """Whether, whatever the names are, each side has sorted its list by its own:
        both of them or, where nothing moved, none.
        """
        mine, yours = _sorted(by, ours), _sorted(by, theirs)
        return mine == yours and (mine or not moved)


def _sorted(by: _By, items: list[Any]) -> bool:
    told = [by(item) for item in items]
    return told == sorted(told)


_Key = Callable[[Any], tuple[Any, Identity | None]]
_By = Callable[[Any], Any]


@dataclass(slots=True, frozen=True)
class _Order:
    """A list without a promised order: how to tell its items, and whether items with
    plain names are sorted all the same. `promise`: by what either side has sorted it
    for itself.
    """

    freedom: str
    key: _Key
    by_name: bool = False
    promise: _By | None = None


def _object_key(item: Any) -> tuple[Any, Identity | None]:
    meta = item.get("metadata") or {}
    name = meta.get("name", "")
    identity = _identity(meta.get("uid")) or _identity(name)
    if not isinstance(name, Masked):
        identity = None
    text: tuple[str, ...] = (str(meta.get("namespace", "")), str(name))
    if "reason" in item and (
        "involvedObject" in item or "regarding" in item
    ):  # an Event: its name says too little
        text = (
            *text,
            str(item["reason"]),
            str(item.get("message", item.get("note", ""))),
        )
    return text, identity


def _row_key(item: Any) -> tuple[Any, Identity | None]:
    text, identity = _object_key(item.get("object") or {})
    if "metadata" not in (item.get("object") or {}):
        return str(item["cells"][0]), _identity(item["cells"][0])
    return text, identity


def _endpoint_key(item: Any) -> tuple[Any, Identity | None]:
    target = item.get("targetRef") or {}
    address = item.get("ip") or (item.get("addresses") or [""])[0]
    return str(target.get("name", address)), _identity(target.get("uid")) or _identity(
        address
    )


def _manager_key(item: Any) -> tuple[Any, Identity | None]:
    return tuple(
        str(item.get(k, ""))
        for k in ("manager", "operation", "apiVersion", "subresource")
    ), None


def _stored_under(item: Any) -> str:
    """The last part of an object's key in etcd, by which lists are sorted."""
    meta = item.get("metadata") or (item.get("object") or {}).get("metadata")
    if not meta:
        return str(raw_of(item["cells"][0]) if "cells" in item else "")
    return f"{raw_of(meta.get('namespace', ''))}/{raw_of(meta.get('name', ''))}"


def _written_at(item: Any) -> tuple[str, ...]:
    """Who applies comes first, then who wrote earlier.

    Upstream: `structured-merge-diff` in `managedfields/internal/structuredmerge.go`
    (`sortEncodedManagers`).
    """
    keys = ("operation", "time", "manager", "apiVersion", "subresource")
    return tuple(str(raw_of(item.get(key, ""))) for key in keys)


def _identity(value: Any) -> Identity | None:
    return next(
        (mark.identity for mark in reversed(marks_of(value)) if mark.identity), None
    )


BY_NAME = "order of lists sorted by a generated name"
OF_ENDPOINTS = "order of endpoints"
_ORDERS = {
    "ComponentStatusList items": _Order(
        "order of component statuses, asked for in parallel", _object_key
    ),
    "items": _Order(BY_NAME, _object_key, by_name=True, promise=_stored_under),
    "rows": _Order(BY_NAME, _row_key, by_name=True, promise=_stored_under),
    "endpoints": _Order(OF_ENDPOINTS, _endpoint_key),
    "addresses": _Order(OF_ENDPOINTS, _endpoint_key),
    "notReadyAddresses": _Order(OF_ENDPOINTS, _endpoint_key),
    "nonResourceRules": _Order(
        "order of rules, from unordered bindings", lambda item: (_canonical(item), None)
    ),
    "resourceRules": _Order(
        "order of rules, from unordered bindings", lambda item: (_canonical(item), None)
    ),
    "conditions": _Order(
        BY_NAME,
        lambda item: (str(item.get("type", "")), None),
        by_name=True,
    ),
    "managedFields": _Order(
        "order of managed fields, by time", _manager_key, promise=_written_at
    ),
}


def _opened(value: Any, other: Any) -> Any:
    """A placeholder for an empty map is that map again when it meets a fuller one."""
    return (
        {}
        if isinstance(value, Masked) and value.raw == {} and isinstance(other, dict)
        else value
    )


def _plain(ours: Any, theirs: Any) -> bool:
    """Whether both are the same scalar, no placeholder: most fields are, and there is
    nothing more to ask.
    """
    kind = type(ours)
    return kind in _SCALARS and type(theirs) is kind and bool(ours == theirs)


_SCALARS = frozenset({str, int, float, bool, type(None)})


def _canonical(item: Any) -> str:
    return json.dumps(item, sort_keys=True)


def _equal(ours: Any, theirs: Any) -> bool:
    """Equality as JSON has it: 1 is not true, and 1 is not 1.0 on a wire that tells
    them apart.
    """
    if type(ours) is not type(theirs) and not (
        isinstance(ours, str) and isinstance(theirs, str)
    ):
        return False
    return bool(ours == theirs)


def _named(key: Any) -> str:
    if isinstance(key, tuple):
        return " ".join(part for part in key if part)[:90]
    return str(key)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 90 else text[:89] + "…"
