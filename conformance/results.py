"""What came out, kept as data: `conformance/results.json`, from which the book's page is made.

A run of some tests replaces what is kept of those and leaves the rest, so an area can be run again by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

KEPT = Path(__file__).with_name("results.json")
REASONS = KEPT.with_name("reasons.yaml")
RAN = ("passed", "failed", "panicked", "timedout", "interrupted", "aborted")
ALONE = r"\[Serial\]|\[Disruptive\]"
"""Marks of tests that want a cluster for themselves."""
_AREA = re.compile(r"\[(sig-[a-z-]+)\]")
_MARKS = re.compile(r"\s*\[(?:Conformance|NodeConformance|sig-[a-z-]+)\]")
LONGEST = 300
"""Characters of a message that are kept."""


@dataclass(frozen=True)
class Result:
    """`seconds` it took; `message` is empty for what passed; `day` it ran."""

    area: str
    name: str
    passed: bool
    seconds: float
    message: str
    day: str

    @property
    def alone(self) -> bool:
        """Whether it wants a cluster for itself."""
        return re.search(ALONE, self.name) is not None


def results_of(report: list[dict[str, Any]], day: str) -> list[Result]:
    """What a report of ginkgo says of the tests that ran, in order of area and name."""
    found = [
        _result(spec, day)
        for suite in report
        for spec in suite["SpecReports"] or ()
        if spec["LeafNodeType"] == "It" and spec["State"] in RAN
    ]
    return sorted(found, key=lambda result: (result.area, result.name))


def _result(spec: dict[str, Any], day: str) -> Result:
    whole = " ".join([*(spec["ContainerHierarchyTexts"] or ()), spec["LeafNodeText"]])
    area = _AREA.search(whole)
    message = " ".join((spec.get("Failure") or {}).get("Message", "").split())
    return Result(
        area=area[1] if area else "",
        name=_MARKS.sub("", whole).strip(),
        passed=spec["State"] == "passed",
        seconds=round(spec["RunTime"] / 1e9, 1),
        message=message if len(message) <= LONGEST else message[:LONGEST] + "…",
        day=day,
    )


def words_pattern(name: str) -> str:
    """A pattern that finds a test by its kept name in its whole one, which has marks in between."""
    return r"\s+(\[[^]]*\]\s+)*".join(map(re.escape, name.split()))


def subject_of(runtime: str, tests: str = "conformance") -> str:
    """What results are kept under: the runtime, and which tests were put to it if they are not those that every cluster has to pass."""
    return runtime if tests == "conformance" else f"{runtime} {tests}"


def read(subject: str, kept: Path = KEPT) -> list[Result]:
    """What is kept of a subject, in order; empty if it never ran."""
    if not kept.exists():
        return []
    return [Result(**each) for each in json.loads(kept.read_text()).get(subject, ())]


def reasons(subject: str, kept: Path = REASONS) -> dict[str, str]:
    """Why a test does not pass, by its name, as far as somebody has written it down."""
    groups = (yaml.safe_load(kept.read_text()) or {}).get(subject) or ()
    return {name: group["because"] for group in groups for name in group["tests"]}


def keep(subject: str, new: Iterable[Result], kept: Path = KEPT) -> list[Result]:
    """Put new results in the place of old ones; all of that subject, in order."""
    document = json.loads(kept.read_text()) if kept.exists() else {}
    by_name = {(each.area, each.name): each for each in (*read(subject, kept), *new)}
    merged = [by_name[key] for key in sorted(by_name)]
    document[subject] = [asdict(each) for each in merged]
    kept.write_text(json.dumps(document, indent=1, ensure_ascii=False, sort_keys=True) + "\n")
    return merged


def by_area(results: Iterable[Result]) -> dict[str, tuple[int, int]]:
    """(passed, run) of each area."""
    counted: dict[str, tuple[int, int]] = {}
    for each in results:
        passed, ran = counted.get(each.area, (0, 0))
        counted[each.area] = passed + each.passed, ran + 1
    return dict(sorted(counted.items()))
