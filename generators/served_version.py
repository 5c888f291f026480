"""What an older Kubernetes served, from the recorded answers of discovery."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from generators.first_line import first_line

AGGREGATED = "apidiscovery"


def _answers(recording: Path) -> dict[str, Any]:
    """By path; those to clients that ask for the aggregated form left out."""
    lines = (recording / "http" / "discovery.jsonl").read_text().splitlines()
    found = [json.loads(line) for line in lines]
    return {
        e["path"]: e["response"]
        for e in found
        if e["status"] == 200 and AGGREGATED not in (e["accept"] or "")
    }


def _version(answer: dict[str, str]) -> dict[str, str]:
    """A program that was built without its tag in full does not know its numbers; they
    are in the tag.
    """
    major, minor, _ = answer["gitVersion"].removeprefix("v").split(".")
    return {
        **answer,
        "major": answer["major"] or major,
        "minor": answer["minor"] or minor,
    }


def _row(group_version: str, entry: dict[str, Any]) -> str:
    other = "/".join(filter(None, (entry.get("group"), entry.get("version"))))
    cells = [
        group_version,
        entry["name"],
        str(entry["namespaced"]).lower(),
        entry["kind"],
        other,
        " ".join(entry["verbs"]),
        " ".join(entry.get("shortNames") or ()),
        " ".join(entry.get("categories") or ()),
        entry.get("storageVersionHash", ""),
    ]
    return "\t".join(cells)


def generate(recording: Path) -> bytes:
    """The table: what `/version` says, then a row for each resource, in the order of
    `/apis`.
    """
    answers = _answers(recording)
    rows = [
        f"version\t{key}\t{value}"
        for key, value in _version(answers["/version"]).items()
    ]
    group_versions = [
        each["groupVersion"]
        for group in answers["/apis"]["groups"]
        for each in group["versions"]
    ]
    for group_version in ("v1", *group_versions):
        path = (
            f"/apis/{group_version}"
            if "/" in group_version
            else f"/api/{group_version}"
        )
        rows += [_row(group_version, entry) for entry in answers[path]["resources"]]
    version = answers["/version"]["gitVersion"]
    head = first_line(
        f"What Kubernetes {version} served: group and version, resource, namespaced,"
        " kind, the kind's own group and version, verbs, short names, categories, hash"
        " of the storage version",
        f"recordings/{recording.name}",
        "served-version",
    )
    return (head + "\n".join(rows) + "\n").encode()
