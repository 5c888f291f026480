"""Attempts at what an apply sends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def three_way_merge(slip: str) -> Callable[..., Any]:
    """One walk over the keys of all three."""

    def patch(last: Any, wanted: Any, live: Any) -> Any:
        found: dict[str, Any] = {}
        for key in sorted({*last, *wanted, *live}):
            if key in wanted:
                mine, there = wanted[key], live.get(key)
                if isinstance(mine, dict) and isinstance(there, dict) and slip != "objects as a whole":
                    before = last.get(key)
                    inner = patch(before if isinstance(before, dict) else {}, mine, there)
                    if inner or slip == "empty objects stay":
                        found[key] = inner
                elif slip == "lists grow" and isinstance(mine, list) and isinstance(there, list):
                    if any(item not in there for item in mine):
                        found[key] = [*there, *(item for item in mine if item not in there)]
                elif mine != there and not (slip == "only what changed in the file" and last.get(key) == mine):
                    found[key] = mine
            elif key in last and (key in live or slip != "gone is left alone"):
                if slip != "nothing is deleted":
                    found[key] = None
            elif key in live and slip == "whatever is not wanted goes":
                found[key] = None
        return found

    return patch
