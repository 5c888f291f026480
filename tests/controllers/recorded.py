"""What the recorded cluster's controllers did, read from the repository's recordings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

RECORDING = Path(__file__).parents[2] / "recordings" / "kind-1.36.2"


@cache
def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (RECORDING / name).read_text().splitlines()]


def audited(component: str, verb: str, part: str) -> Iterator[dict[str, Any]]:
    """Finished requests of a component of the controller manager whose URI contains `part`."""
    for event in _lines("audit/journey.jsonl"):
        if (
            event["stage"] == "ResponseComplete"
            and event["verb"] == verb
            and event["user"]["username"].endswith(component)
            and part in event["requestURI"]
        ):
            yield event


def watched(plural: str) -> list[dict[str, Any]]:
    """Watch events of a resource in the journey, oldest first."""
    return [line["event"] for line in _lines("watch/journey.jsonl") if f"/{plural}" in line["path"]]


def exchange(scenario: str, path: str, method: str = "GET") -> dict[str, Any]:
    """The (last) exchange of a scenario with that method and path."""
    found = [
        x for x in _lines(f"http/{scenario}.jsonl") if x["method"] == method and x["path"].partition("?")[0] == path
    ]
    return found[-1]


def items(scenario: str, path: str, kind: str, api_version: str = "v1") -> list[dict[str, Any]]:
    """The items of a recorded list, with their kind."""
    return [{"kind": kind, "apiVersion": api_version, **item} for item in exchange(scenario, path)["response"]["items"]]


def without_managed_fields(obj: dict[str, Any]) -> dict[str, Any]:
    """The object as informers of the recorded controllers saw it."""
    return {**obj, "metadata": {k: v for k, v in obj["metadata"].items() if k != "managedFields"}}
