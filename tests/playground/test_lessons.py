"""Each lesson shows what it promises."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lifecycle.playground.lessons import LESSONS, Lesson
from lifecycle.playground.playground import Playground


def looks(picture: dict[str, Any]) -> list[str]:
    return sorted(each["looks"] for each in picture["objects"] if each["kind"] == "Pod")


def reasons(events: list[dict[str, Any]]) -> set[str]:
    return {event["reason"] for event in events}


SEEN: dict[str, Callable[[dict[str, Any], set[str]], bool]] = {
    "journey": lambda picture, events: looks(picture) == ["ready"] * 3,
    "hanging-rollout": lambda picture, events: looks(picture) == ["ready"] * 3 + ["trouble"],
    "failing-probe": lambda picture, events: looks(picture) == ["ready"] * 3 + ["unready"] and "Unhealthy" in events,
    "node-lost": lambda picture, events: looks(picture).count("ready") == 3 and "TaintManagerEviction" in events,
    "full-quota": lambda picture, events: looks(picture) == ["ready"] * 2 and "FailedCreate" in events,
    "no-scheduler": lambda picture, events: looks(picture) == ["ready"] * 3,
    "lost-watch": lambda picture, events: looks(picture) == ["ready"] * 3 and len(picture["pods"]) == 6,
    "nowhere-to-go": lambda picture, events: looks(picture) == ["waiting"] and "FailedScheduling" in events,
}


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_shows_what_it_promises(lesson: Lesson, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    playground = Playground(lesson.scenario, tmp_path)
    try:
        playground.advance(420 if lesson.name == "node-lost" else 90)
        news = json.loads(playground.news())
    finally:
        playground.close()
    refused = [said["text"] for said in news["said"] if said["kind"] == "err" and said["text"] != "^C\n"]
    assert refused == []
    assert SEEN[lesson.name](news["picture"], reasons(news["events"]))


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.name)
def test_a_lesson_is_told_in_whole_sentences(lesson: Lesson) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", lesson.name)
    assert re.match(r"[A-Z]", lesson.title)
    assert re.match(r"[A-Z`]", lesson.look)
    assert lesson.look.endswith(".")
    assert re.findall(r"[.,;:][A-Za-z]|  | [.,;]", lesson.look) == []
