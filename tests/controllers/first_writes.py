"""First writes, kept: a situation as it was stored, and what the real controller asked for there; and both in a form that compares."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from lifecycle.api.http.wire import Object

Kept = dict[str, Any]
"""`controller`, `name` (the situation's namespace), `objects` (resource, object), `writes` (verb, about, body)."""
KEPT = Path(__file__).parent / "first_writes.json.gz"

_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_UID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_GIVEN = ("2023-", "2024-", "2026-01-01")
"""How the times begin that situations give; every other one is that of the recording, or of the test."""
_RANDOM = re.compile(r"(?<=[a-z0-9])-[bcdfghjklmnpqrstvwxz2456789]{5}(?![a-z0-9-])")
_NOT_COMPARED = ("resourceVersion", "$setElementOrder/conditions")
"""A patch that is computed says in which order the items come; conditions have none."""
_BY_SERVER = ("resourceVersion", "managedFields", "creationTimestamp", "generation")
VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def plain(value: Any) -> Any:
    """Without what is empty, with what is each side's own masked: times, versions, random endings of names."""
    if isinstance(value, dict):
        found = {key: plain(item) for key, item in value.items() if key not in _NOT_COMPARED}
        return {key: item for key, item in found.items() if item not in (None, {}, [], "")}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, str):
        text = _TIME.sub(lambda match: match[0] if match[0].startswith(_GIVEN) else "NOW", value)
        return _RANDOM.sub("-?", text)
    return value


DEFAULTED: dict[str, Object] = {
    "Job": {
        "completionMode": "NonIndexed", "completions": 1, "parallelism": 1, "backoffLimit": 6, "suspend": False,
        "manualSelector": False, "podReplacementPolicy": "TerminatingOrFailed",
    },
    "Pod": {"enableServiceLinks": True},
}  # fmt: skip
"""What the API server puts into a spec that is new; an audit log tells of a request what the server made of it."""


def shown(verb: str, what: str, name: str, body: Object) -> tuple[str, Object]:
    """A write: verb, resource and name; and what it says."""
    if what == "events" and verb == "patch":
        return "", {}  # once more
    if what == "events":
        about = {key: value for key, value in (body.get("involvedObject") or {}).items() if key != "resourceVersion"}
        told = {key: body.get(key) for key in ("type", "reason", "message", "source", "reportingComponent")}
        return "tell", plain({**told, "about": about})
    said = dict(body)
    if verb == "delete":  # no options are the usual ones
        said = {key: value for key, value in body.items() if key not in ("kind", "apiVersion")}
    meta = {key: value for key, value in (body.get("metadata") or {}).items() if key not in _BY_SERVER}
    for subset in said.get("subsets") or ():
        subset["ports"] = sorted(subset.get("ports") or (), key=str)  # the server puts them in an order of its own
    if what.startswith("endpointslices"):
        said["endpoints"] = sorted(said.get("endpoints") or (), key=str)  # a Go map has none
    for uids in ((said.get("status") or {}).get("uncountedTerminatedPods") or {}).values():
        uids.sort()  # nor has an informer's cache
    if verb == "create":
        said.pop("status", None)
        if body.get("kind") in DEFAULTED:
            said["spec"] = {**DEFAULTED[body["kind"]], **said["spec"]}
        meta.pop("namespace", None)
        name = meta.get("generateName") or meta.get("name", name)
    if verb == "update":
        meta.pop("uid", None)  # perhaps of what was made here
        said = (
            {"status": said.get("status")}
            if what.endswith("/status")
            else {k: v for k, v in said.items() if k != "status"}
        )
    if meta and "metadata" in said:
        said["metadata"] = meta
    return f"{verb} {what} {plain(name)}", plain(said)


def compared(kept: Kept, writes: list[tuple[str, Object]]) -> dict[str, list[str]]:
    """What was written in which words. Of a status the first and the last: how many looks it takes in between is a matter of time;
    where pods were deleted the first alone, since what comes then is their kubelets' business.
    """
    known = {obj["metadata"]["uid"] for _, obj in kept["objects"]}
    found: dict[str, list[str]] = {}
    for what, body in writes:
        text = _UID.sub(lambda match: match[0] if match[0] in known else "UID", json.dumps(body, sort_keys=True))
        found.setdefault(what, []).append(text)
    found.pop("", None)
    some = 1 if any(what.startswith("delete pods") for what in found) else 2
    return {
        what: [texts[0], texts[-1]][:some] if "/status" in what else sorted(set(texts)) for what, texts in found.items()
    }
