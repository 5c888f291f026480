"""Answers given while somebody else was still writing.

The answer to a write is a snapshot: a controller or the kubelet may have added its
status a moment before, or not yet. Which fields are theirs is not guesswork, for the
object says so itself: `managedFields` lists, per writer, every field it set. In a
snapshot those fields may be absent. Where the kubelet writes, which passes through
several values, they may also differ, among those that a starting pod passes through; a
decision – of the scheduler, of a controller – is made once, and told in the same words
or not yet. Everywhere else they must be equal, and the freedom is not granted at all.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from lifecycle.compare.masked import ABSENT, Mark, Masked, as_optional, marks_of, raw_of

NAME = "still being written by its controller"
KUBELET = frozenset({"kubelet"})
PENDING = "Pending"
_ON_THE_WAY = {
    "phase": re.compile("Pending|Running"),
    "status": re.compile("True|False"),
    "ready": re.compile("True|False"),
    "started": re.compile("True|False"),
    "reason": re.compile(
        "ContainerCreating|PodInitializing|ContainersNotReady|ContainersNotInitialized"
    ),
    "message": re.compile(r"containers with (unready|incomplete) status: \[.*\]"),
    "image": re.compile(r"[a-z0-9][\w./:@-]*"),
    "imageID": re.compile(r"|(\S+@)?sha256:[0-9a-f]{64}"),
}
"""What a starting pod passes through."""
_MAY_WRITE = ("f:status", "f:metadata")
WRITERS = KUBELET | {"kube-controller-manager", "kube-scheduler"}


def soften_in_flight(raw: Any, normalised: Any, writers: frozenset[str]) -> Any:
    """The normalised object (or list of objects) with the fields of busy `writers` made
    optional.
    """
    if not isinstance(raw, dict):
        return normalised
    if isinstance(raw.get("items"), list):
        items = [
            soften_in_flight(a, b, writers)
            for a, b in zip(raw["items"], normalised["items"], strict=True)
        ]
        return normalised | {"items": items}
    entries = (raw.get("metadata") or {}).get("managedFields") or ()
    for index, entry in enumerate(entries):
        manager = entry.get("manager")
        if manager in writers and entry.get("subresource") == "status":
            loose = _free if manager in KUBELET else _optional
            fields = {key: entry["fieldsV1"].get(key) for key in _MAY_WRITE}
            fields = {key: below for key, below in fields.items() if below}
            normalised = _loosen(raw, normalised, fields, loose)
            if manager in KUBELET and (raw.get("status") or {}).get("phase") == PENDING:
                # what the server wrote at first; the kubelet owns a phase it changed
                phase = {"phase": loose(PENDING, "phase")}
                normalised = normalised | {"status": normalised["status"] | phase}
            managed = list(normalised["metadata"]["managedFields"])
            managed[index] = as_optional(managed[index], NAME)
            normalised = normalised | {
                "metadata": normalised["metadata"] | {"managedFields": managed}
            }
    return normalised


_Loose = Callable[[Any, str], Any]


def _loosen(
    raw: Any, value: Any, fields: dict[str, Any], loose: _Loose, of: str = ""
) -> Any:
    """Make the named fields of a value, which is `of` that name, `loose`."""
    inner = {key: below for key, below in fields.items() if key != "."}
    if not inner:
        return loose(value, of)
    if isinstance(value, dict):
        changed = dict(value)
        for key, below in inner.items():
            name = key.removeprefix("f:")
            if key.startswith("f:") and name in value:
                changed[name] = _loosen(raw[name], value[name], below, loose, name)
        return changed
    if isinstance(value, list):
        items = list(value)
        for key, below in inner.items():
            if key.startswith("k:"):
                key_fields = json.loads(key[2:])
                for index, item in enumerate(raw):
                    if isinstance(item, dict) and key_fields.items() <= item.items():
                        items[index] = _loosen(item, items[index], below, loose)
        return items
    return loose(value, of)


def _optional(value: Any, of: str) -> Any:
    return as_optional(value, NAME)


def _free(value: Any, of: str) -> Any:
    if isinstance(value, dict) and value:
        return {key: _free(item, key) for key, item in value.items()}
    if isinstance(value, list) and value:
        return [_free(item, of) for item in value]
    others = [mark for mark in marks_of(value) if mark.rule == NAME]
    passes = _ON_THE_WAY.get(of)
    if passes is None or not passes.fullmatch(str(value)):
        return value if others else as_optional(value, NAME)
    return Masked(
        "<still being written>",
        (*others, Mark(NAME, str(value), None, ABSENT)),
        raw_of(value),
    )
