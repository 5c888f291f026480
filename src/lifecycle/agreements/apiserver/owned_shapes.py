"""Do a real server's notes about field owners follow the schema that it publishes?

`metadata.managedFields` names an item of a keyed list by its key fields
(`k:{"name":"nginx"}`), an item of a set by its value (`v:…`), a field by its name
(`f:…`). Which of the three may stand where is said by `x-kubernetes-list-type` and its
companions in the OpenAPI document. So each note of a recording can be held against the
document.

Upstream: `structured-merge-diff/fieldpath/serialize.go` (how paths are written),
`kube-openapi/pkg/schemaconv/smd.go` (how schemas become types), v1.36.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.managedfields.typed import (
    KEYED,
    MAP,
    SET,
    STRUCT,
    Type,
    type_for,
)
from lifecycle.inspector import Recording

MARKS = {STRUCT: "f:", MAP: "f:", KEYED: "k:", SET: "v:"}
NAMES = {
    STRUCT: "fields of a struct",
    MAP: "keys of a map",
    KEYED: "items of a keyed list",
    SET: "items of a set",
}


def owned_shapes(recording: Recording) -> tuple[Counter[str], list[str]]:
    """How many path elements of each shape the recorded notes have, and those that do
    not fit the document: none, if servers do what they publish.
    """
    counts: Counter[str] = Counter()
    misfits: list[str] = []
    for obj in _objects(recording):
        for entry in obj["metadata"]["managedFields"]:
            kind = type_for(entry["apiVersion"], obj["kind"])
            _walk(entry.get("fieldsV1") or {}, kind, obj["kind"], counts, misfits)
    return counts, misfits


def _walk(
    fields: Object, kind: Type, path: str, counts: Counter[str], misfits: list[str]
) -> None:
    for element, inner in fields.items():
        if element == ".":
            continue
        here = f"{path} {element}"
        mark = MARKS.get(kind.shape, "nothing below a leaf")
        keys = fast_json.loads(element[2:]) if element.startswith("k:") else {}
        if element[:2] != mark or (kind.shape == KEYED and set(keys) != set(kind.keys)):
            misfits.append(here)
            continue
        counts[NAMES[kind.shape]] += 1
        _walk(inner, kind.child(element), here, counts, misfits)


def _objects(recording: Recording) -> Iterator[Object]:
    """All recorded objects with such notes, those in lists as well."""
    for scenario in ("journey", "corpus", "objects", "admission", "services"):
        for exchange in recording.exchanges(scenario):
            answer: Any = exchange.response
            if not isinstance(answer, dict) or "kind" not in answer:
                continue
            for obj in answer.get("items", [answer]):
                if isinstance(obj, dict) and "managedFields" in obj.get("metadata", {}):
                    yield {"kind": answer["kind"].removesuffix("List"), **obj}
