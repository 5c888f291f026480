"""Attempts at versions and watches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

RENAMED = {
    "message": "note",
    "involvedObject": "regarding",
    "reportingComponent": "reportingController",
    "source": "deprecatedSource",
    "firstTimestamp": "deprecatedFirstTimestamp",
    "lastTimestamp": "deprecatedLastTimestamp",
    "count": "deprecatedCount",
}


def event_versions(slip: str) -> Callable[..., Any]:
    """One table, read from either side."""

    def convert(event: Any, version: str) -> Any:
        if event["apiVersion"] == version and slip != "always":
            return event
        found = {"apiVersion": version}
        table = {new: old for old, new in RENAMED.items()} if version == "v1" else RENAMED
        if slip == "no counters":
            table = {old: new for old, new in table.items() if "count" not in f"{old}{new}".lower()}
        if slip == "one way":
            table = RENAMED
        for key in event:
            if key != "apiVersion":
                found[table.get(key, key)] = event[key]
                if slip == "the old name stays" and key in table:
                    found[key] = event[key]
        if version == "v1":
            empty: dict[str, Any] = {"involvedObject": {}, "source": {}, "reportingComponent": ""}
            empty |= {"reportingInstance": "", "firstTimestamp": None, "lastTimestamp": None, "eventTime": None}
        else:
            empty = {"regarding": {}, "deprecatedSource": {}, "eventTime": None}
            empty |= {"deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None}
            for key in ("reportingController", "reportingInstance"):
                if not found.get(key) and slip != "empty texts stay":
                    found.pop(key, None)
        if slip == "what is empty is left out":
            empty = {}
        for key, value in empty.items():
            found.setdefault(key, value)
        return found

    return convert


def watch_events(slip: str) -> Callable[..., Any]:
    """First where everything is, then what each change means."""

    def fits(labels: Any, selector: Any) -> bool:
        if labels is None:
            return False
        test = any if slip == "one label is enough" and selector else all
        return test(labels.get(key) == value for key, value in selector.items())

    def watch(changes: Any, oldest: int, start: Any, selector: Any) -> Any:
        if start is not None and (start <= oldest if slip == "one too strict" else start < oldest):
            return [] if slip == "too late is nothing" else "Gone"
        now: dict[str, Any] = {}
        heard = []
        for change in changes:
            before = now.get(change["name"], (None, 0))
            now[change["name"]] = (change["labels"], change["revision"])
            if start is None or change["revision"] < start + (slip != "the start itself"):
                continue
            was, fits_now = fits(before[0], selector), fits(change["labels"], selector)
            if slip == "only what fits now":
                was = fits_now and was
            if slip == "a change is a change" and fits_now:
                was = before[0] is not None
            if slip == "forgets what was before":
                was = was and before[1] > start
            if slip == "deletions are for everybody" and change["labels"] is None and before[0] is not None:
                was = True
            revision = change["revision"]
            if not fits_now and slip == "its own last revision":
                revision = before[1]
            if fits_now or was:
                kind = {(False, True): "ADDED", (True, True): "MODIFIED"}.get((was, fits_now), "DELETED")
                heard.append([kind, change["name"], revision])
        if start is None:
            for name in now if slip == "as they came" else sorted(now):
                if fits(now[name][0], selector):
                    heard.append(["ADDED", name, now[name][1]])
        return heard

    return watch
