"""What is kept of a run."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from conformance.results import LONGEST, by_area, keep, read, results_of, words_pattern


def spec(name: str, state: str, *, area: str = "sig-node", message: str = "", kind: str = "It") -> dict[str, Any]:
    failure = {"Failure": {"Message": message}} if message else {}
    return {
        "ContainerHierarchyTexts": [f"[{area}] Pods"],
        "LeafNodeText": f"{name} [NodeConformance] [Conformance]",
        "LeafNodeType": kind,
        "State": state,
        "RunTime": 1_250_000_000,
        **failure,
    }


def report(*specs: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"SpecReports": list(specs)}]


def test_tests_that_ran_are_told_with_their_area_time_and_message() -> None:
    found = results_of(
        report(
            spec("b", "failed", message="timed out\n  waiting"),
            spec("a", "passed"),
            spec("c", "skipped"),
            spec("d", "passed", area="sig-apps"),
            spec("", "passed", kind="SynchronizedBeforeSuite"),
        ),
        "2026-01-02",
    )
    assert [(each.area, each.name, each.passed) for each in found] == [
        ("sig-apps", "Pods d", True),
        ("sig-node", "Pods a", True),
        ("sig-node", "Pods b", False),
    ]
    assert (found[2].message, found[2].seconds, found[2].day) == ("timed out waiting", 1.2, "2026-01-02")


def test_a_test_that_hung_or_panicked_did_not_pass() -> None:
    found = results_of(report(spec("a", "timedout"), spec("b", "panicked"), spec("c", "interrupted")), "")
    assert [each.passed for each in found] == [False] * 3


@pytest.mark.parametrize(
    ("name", "alone"),
    [("a [Serial] b", True), ("b", False), ("evicts [Disruptive]", True), ("serial devices", False)],
)
def test_who_wants_a_cluster_for_itself_says_so_in_its_name(name: str, alone: bool) -> None:
    (found,) = results_of(report(spec(name, "passed")), "")
    assert found.alone is alone


def test_a_long_message_is_cut() -> None:
    (found,) = results_of(report(spec("a", "failed", message="x" * 1000)), "")
    assert found.message == "x" * LONGEST + "…"


def test_a_run_of_some_replaces_those_and_leaves_the_rest(tmp_path: Path) -> None:
    kept = tmp_path / "results.json"
    keep("sandbox", results_of(report(spec("a", "failed", message="no"), spec("b", "passed")), "1"), kept)
    keep("hollow", results_of(report(spec("a", "failed", message="no")), "1"), kept)
    keep("sandbox", results_of(report(spec("a", "passed")), "2"), kept)
    assert [(each.name, each.passed, each.day) for each in read("sandbox", kept)] == [
        ("Pods a", True, "2"),
        ("Pods b", True, "1"),
    ]
    assert by_area(read("hollow", kept)) == {"sig-node": (0, 1)}
    assert read("containerd", kept) == []


@pytest.mark.parametrize(
    "whole",
    [
        "Pods [It] should be updated [NodeConformance] [Conformance]",
        "Pods should be updated",
    ],
)
def test_a_kept_name_finds_its_test_whatever_marks_stand_in_it(whole: str) -> None:
    assert re.search(words_pattern("Pods should be updated"), whole)
    assert not re.search(words_pattern("Pods should be update.d"), whole)
