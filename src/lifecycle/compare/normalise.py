"""The one normaliser: a cluster's answers with every freedom made visible.

First `learn` all documents of a scope, then `normalise` each. The result is an ordinary
document in which what Kubernetes was free to choose is a placeholder (`masked.Masked`);
`counts` says how many each rule put in. Chapters, labs, tests and the command line all
use this one, so that "equal" means the same everywhere.

    normaliser = Normaliser()
    normaliser.learn(answer)
    shown = normaliser.normalise(answer)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.compare.accidents import soften
from lifecycle.compare.entities import Entities, Entity, kind_of_rows
from lifecycle.compare.in_flight import soften_in_flight
from lifecycle.compare.masked import Mark, Masked
from lifecycle.compare.placements import Placements
from lifecycle.compare.rules import FIELD_RULES, TEXT_RULES, Site

_REPEATED = frozenset({"fieldsV1", "spec"})
"""Maps that stay as they are from one answer about an object to the next."""
_REFERENCES = frozenset({"involvedObject", "regarding", "targetRef"})


class Normaliser:
    """Normalises the documents of one cluster in one scope. `placements`: what is
    known of its pods beyond the scope; else what is learned has to do.
    """

    def __init__(self, placements: Placements | None = None) -> None:
        self.known = Entities(placements=placements)
        self.counts: Counter[str] = Counter()
        self._again: dict[
            tuple[object, ...], tuple[Any, tuple[tuple[str, int], ...]]
        ] = {}

    def learn(self, *documents: Any) -> Normaliser:
        """Read documents to learn names, uids and addresses from. Call it for all
        documents of the scope first.
        """
        self.known.learn(documents)
        self._again.clear()
        return self

    def normalise(
        self, document: Any, *, in_flight: frozenset[str] = frozenset()
    ) -> Any:
        """The document with placeholders. The original is not touched. `in_flight`:
        who was still at work, see there.
        """
        normalised = self._value(document, "", "", "", None)
        return soften_in_flight(document, normalised, in_flight)

    def text(self, text: str) -> str:
        """A string outside any document, such as a URL or a program's output."""
        return self._text(text, Site("", "", "", None, self.known))

    def _value(
        self,
        value: Any,
        key: str,
        parent: str,
        kind: str,
        pod: Entity | None,
        reason: str = "",
    ) -> Any:
        if isinstance(value, dict):
            if key not in _REPEATED:
                return self._dict(value, key, kind, pod)
            again: tuple[object, ...] = (dict, fast_json.dumps(value))
        elif isinstance(value, list):
            item_kind = kind.removesuffix("List") if key == "items" else kind
            return [self._value(item, key, parent, item_kind, pod) for item in value]
        elif value is None or isinstance(value, bool):
            return value
        else:
            again = (type(value), value)
        again += (key, parent, kind, id(pod), reason)
        # the same fields are answered again and again, and to every rule a value at a
        # place is the same however often it is met; what was counted is counted again
        if again not in self._again:
            counts, self.counts = self.counts, Counter()
            masked = (
                self._dict(value, key, kind, pod)
                if isinstance(value, dict)
                else self._scalar(
                    value, Site(key, parent, kind, pod, self.known, reason)
                )
            )
            self._again[again] = masked, tuple(self.counts.items())
            self.counts = counts
        masked, counted = self._again[again]
        for name, times in counted:
            self.counts[name] += times
        return masked

    def _scalar(self, value: Any, site: Site) -> Any:
        for rule in FIELD_RULES:
            masked = rule.mask(value, site)
            if masked is not None:
                self.counts[rule.name] += 1
                return masked
        return self._text(value, site) if isinstance(value, str) else value

    def _dict(
        self, value: dict[str, Any], key: str, kind: str, pod: Entity | None
    ) -> dict[str, Any]:
        own = value.get("kind")
        if (
            isinstance(own, str)
            and ("metadata" in value or "items" in value)
            and not (kind and own == "PartialObjectMetadata")
        ):
            kind = own
        pod = self._pod_of(value, kind, key) or pod
        if kind == "Table" and "rows" in value:
            return self._table(value)
        reason = str(value.get("reason", "")) if kind == "Event" else ""
        normalised: dict[str, Any] = {}
        for name, item in value.items():
            masked_name = name
            if (
                name.startswith("k:{")
                or len(name) == 36
                or ("." in name and name[0].isdigit())
            ):  # a list item's key in managedFields, by uid or address
                masked_name = self._text(name, Site("key", key, kind, pod, self.known))
            normalised[_unique(masked_name, normalised)] = self._value(
                item, name, key, kind, pod, reason
            )
        return soften(value, normalised, key, kind, self.known)

    def _table(self, table: dict[str, Any]) -> dict[str, Any]:
        """A Table: its cells carry their column's name as key, so that rules can speak
        of ages and names.
        """
        columns = [column["name"] for column in table.get("columnDefinitions", ())]
        kind = kind_of_rows(table)
        rows = []
        for row in table["rows"]:
            about = row.get("object") or {}
            meta = about.get("metadata") or {}
            pod = (
                self.known.pod(meta.get("namespace", ""), meta.get("name", ""))
                if kind == "Pod"
                else None
            )
            if kind == "Event" and "Object" in columns:
                subject = row["cells"][columns.index("Object")]
                if isinstance(subject, str) and subject.startswith("pod/"):
                    pod = self.known.pod(meta.get("namespace", ""), subject[4:])
            named = dict(zip(columns, row["cells"], strict=False))
            reason = str(named.get("Reason", "")) if kind == "Event" else ""
            cells = [
                self._value(cell, column, "cells", kind, pod, reason)
                for cell, column in zip(row["cells"], columns, strict=False)
            ]
            rest = {
                k: self._value(v, k, "rows", kind, pod)
                for k, v in row.items()
                if k != "cells"
            }
            shown = {"cells": cells} | rest
            rows.append(soften(row, shown, "rows", kind, self.known))
        others = {
            k: self._value(v, k, "", "Table", None)
            for k, v in table.items()
            if k != "rows"
        }
        return others | {"rows": rows}

    def _pod_of(self, value: dict[str, Any], kind: str, key: str) -> Entity | None:
        """The pod that a map speaks of: a Pod, an Event about one, an endpoint that is
        one.
        """
        meta = value.get("metadata")
        if kind == "Pod" and isinstance(meta, dict) and "spec" in value:
            return self.known.pod(meta.get("namespace", ""), meta.get("name", ""))
        if _REFERENCES.isdisjoint(value):
            return None
        for name in ("involvedObject", "regarding", "targetRef"):
            reference = value.get(name)
            if isinstance(reference, dict) and reference.get("kind") == "Pod":
                return self.known.pod(
                    reference.get("namespace", ""), reference.get("name", "")
                )
        return None

    def _text(self, value: str, site: Site) -> str:
        pieces: list[str | Masked] = [value]
        for rule in TEXT_RULES:
            if rule.hint not in value or not rule.applies(site):
                continue
            split: list[str | Masked] = []
            for piece in pieces:
                if isinstance(piece, Masked):
                    split.append(piece)
                    continue
                end = 0
                for match in rule.pattern.finditer(piece):
                    replacement = rule.replace(match, site)
                    if replacement is None:
                        continue
                    self.counts[rule.name] += 1
                    text, identity = replacement
                    split += [
                        piece[end : match.start()],
                        Masked(text, [Mark(rule.name, match[0], identity)], match[0]),
                    ]
                    end = match.end()
                split.append(piece[end:])
            pieces = split
        marks = [
            mark
            for piece in pieces
            if isinstance(piece, Masked)
            for mark in piece.marks
        ]
        return Masked("".join(pieces), marks, value) if marks else value


def normalise_all(documents: Iterable[Any]) -> tuple[list[Any], Normaliser]:
    """Normalise documents that belong together."""
    documents = list(documents)
    normaliser = Normaliser().learn(*documents)
    return [normaliser.normalise(document) for document in documents], normaliser


def _unique(key: str, taken: dict[str, Any]) -> str:
    """Two keys may look the same once masked (a pod's two addresses): number them."""
    if key not in taken:
        return key
    number = 2
    while f"{key} #{number}" in taken:
        number += 1
    text = f"{key} #{number}"
    return Masked(text, key.marks, key.raw) if isinstance(key, Masked) else text
