"""The writes of one request's journey, with the object before and after each.

An audit log at level RequestResponse holds every answer of the API server, and so every
state that an object went through; `metadata.managedFields` says who owns which field of
it. Recorded logs and our own server's are read alike.

Upstream: `apiserver/pkg/apis/audit/v1/types.go` (`Event`), `managedfields` in
`apimachinery/pkg/apis/meta/v1/types.go` (`ManagedFieldsEntry`).
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lifecycle.api import fast_json
from lifecycle.trace.recorded import Audited

_BOOKKEEPING = ("managedFields", "resourceVersion", "uid", "generateName")
"""Parts of the metadata that change with each write, or say nothing to a reader."""


@dataclass(slots=True, frozen=True)
class Line:
    """One line of an object as YAML. `owner`: the manager that owns the field, or
    nobody; `change`: `+` new, `~` another value, `-` gone, or nothing.
    """

    depth: int
    text: str
    owner: str
    change: str


@dataclass(slots=True, frozen=True)
class Write:
    """One request that changed something. `start` and `duration` in seconds of the
    journey; `lines`: the object afterwards, and what it lost.
    """

    component: str
    stage: str
    about: str
    start: float
    duration: float
    lines: tuple[Line, ...]


def writes_of(requests: Iterable[Audited]) -> Iterator[Write]:
    """What each request made of its object, up to the moment at which all pods of the
    Deployment are ready. A binding is shown as what it makes of its pod.
    """
    before: dict[str, Any] = {}
    for step, entry in requests:
        reference = entry["objectRef"]
        key = step.about
        after = copy.deepcopy(entry.get("responseObject") or {})
        if reference.get("subresource") == "binding":
            after = copy.deepcopy(before.get(key, {}))
            after.setdefault("spec", {})["nodeName"] = entry["requestObject"]["target"][
                "name"
            ]
        owners = owners_of(after)
        lines = tuple(
            _lines(
                _without_bookkeeping(before.get(key)),
                _without_bookkeeping(after),
                owners,
            )
        )
        before[key] = after
        yield Write(
            step.component, step.stage, step.about, step.start, step.duration, lines
        )
        if _all_ready(after):
            return


def _all_ready(obj: dict[str, Any]) -> bool:
    status = obj.get("status") or {}
    return (
        obj.get("kind") == "Deployment"
        and status.get("readyReplicas") == obj["spec"]["replicas"]
    )


def _without_bookkeeping(obj: dict[str, Any] | None) -> dict[str, Any] | None:
    if obj is None:
        return None
    metadata = obj.get("metadata") or {}
    return obj | {
        "metadata": {k: v for k, v in metadata.items() if k not in _BOOKKEEPING}
    }


Path = tuple[str, ...]


def owners_of(obj: dict[str, Any]) -> dict[Path, str]:
    """Field → its owner, from the object's managedFields. Items of lists go by their
    position, as they stand in the object; the youngest entry wins.
    """
    owners: dict[Path, str] = {}
    entries = (obj.get("metadata") or {}).get("managedFields") or []
    for entry in sorted(entries, key=lambda entry: entry.get("time", "")):
        for path in _owned(entry.get("fieldsV1") or {}, obj, ()):
            owners[path] = entry["manager"]
    return owners


def _owned(fields: dict[str, Any], value: Any, at: Path) -> Iterator[Path]:
    if not fields or set(fields) == {"."}:
        yield at
    for element, inner in fields.items():
        step = step_into(element, value)
        if step is not None:
            key, item = step
            yield from _owned(inner, item, (*at, key))


def step_into(element: str, value: Any) -> tuple[str, Any] | None:
    """Where an element of FieldsV1 leads in a value: the name or position, and what is
    there; None if it is not there.
    """
    kind, _, rest = element.partition(":")
    if kind == "f" and isinstance(value, dict) and rest in value:
        return rest, value[rest]
    if kind in ("k", "v") and isinstance(value, list):
        keys = fast_json.loads(rest)
        for position, item in enumerate(value):
            same = (
                item == keys
                if kind == "v"
                else isinstance(item, dict)
                and all(item.get(k) == v for k, v in keys.items())
            )
            if same:
                return str(position), item
    return None


def _lines(before: Any, after: Any, owners: dict[Path, str]) -> Iterator[Line]:
    """A list's dash stands before the first field of its item, as in YAML."""
    dash = False
    for path, depth, text, change in _walk(before, after, (), 0, first=before is None):
        if text == "-":
            dash = True
            continue
        yield Line(
            depth - 1 if dash else depth,
            f"- {text}" if dash else text,
            _owner(owners, path),
            change,
        )
        dash = False


def _owner(owners: dict[Path, str], path: Path) -> str:
    """The owner of the field, or of the nearest part around it that is owned as one."""
    for length in range(len(path), 0, -1):
        if path[:length] in owners:
            return owners[path[:length]]
    return ""


Walked = tuple[Path, int, str, str]


def _walk(
    before: Any, after: Any, path: Path, depth: int, *, first: bool
) -> Iterator[Walked]:
    """YAML, line by line. Lists are compared by position."""
    for key, label in _keys(before, after):
        old, new = _at(before, key), _at(after, key)
        gone = new is _ABSENT
        value = old if gone else new
        where = (*path, str(key))
        change = _change(old, new, first=first)
        if isinstance(value, dict | list) and value:
            yield where, depth, label, change if gone or old is _ABSENT else ""
            other = value if gone else old
            for inner in _walk(other, value, where, depth + 1, first=first):
                yield (*inner[:3], "-") if gone else inner
        else:
            yield where, depth, f"{label} {_scalar(value)}".strip(), change


_ABSENT = object()


def _keys(before: Any, after: Any) -> Iterable[tuple[Any, str]]:
    if isinstance(after, list) or (isinstance(before, list) and after is _ABSENT):
        longer = max(len(side) for side in (before, after) if isinstance(side, list))
        return [(position, "-") for position in range(longer)]
    sides = [side for side in (after, before) if isinstance(side, dict)]
    return [
        (key, f"{key}:") for key in dict.fromkeys(k for side in sides for k in side)
    ]


def _at(value: Any, key: Any) -> Any:
    if isinstance(value, dict):
        return value.get(key, _ABSENT)
    if isinstance(value, list) and isinstance(key, int) and key < len(value):
        return value[key]
    return _ABSENT


def _change(old: Any, new: Any, *, first: bool) -> str:
    if first or old == new:
        return "+" if first else ""
    if old is _ABSENT:
        return "+"
    return "-" if new is _ABSENT else "~"


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return value if value else '""'
    return fast_json.dumps(value).decode()
