"""Recordings are parsed once, and a changed copy is another file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from lifecycle.inspector import InspectorError, Recording
from lifecycle.inspector.parsed_files import ParsedFiles
from tests.conftest import RECORDINGS


def counted() -> tuple[list[bytes], object]:
    asked: list[bytes] = []

    def parse(content: bytes, suffix: str = "") -> str:
        asked.append(content)
        return content.decode() + suffix

    return asked, parse


def test_what_was_parsed_is_remembered_by_its_bytes_and_the_other_arguments():
    asked, parse = counted()
    files = ParsedFiles()
    assert [files.get(parse, b"one"), files.get(parse, bytes(bytearray(b"one"))), files.get(parse, b"One")] == [
        "one",
        "one",
        "One",
    ]
    assert files.get(parse, b"one", "!") == "one!"
    assert asked == [b"one", b"One", b"one"]


def test_another_function_makes_something_else_of_the_same_bytes():
    files = ParsedFiles()
    assert (files.get(bytes.decode, b"7"), files.get(int, b"7")) == ("7", 7)


def test_the_least_recently_asked_for_is_dropped_when_it_is_too_much():
    asked, parse = counted()
    files = ParsedFiles(limit=6)
    for content in (b"one", b"two", b"one", b"six", b"one", b"two", b"too long for it", b"too long for it"):
        files.get(parse, content)
    assert asked == [b"one", b"two", b"six", b"two", b"too long for it", b"too long for it"]


def test_what_cannot_be_parsed_is_refused_each_time():
    files = ParsedFiles()
    for _ in range(2):
        with pytest.raises(ValueError, match="invalid literal"):
            files.get(int, b"seven")


def test_two_openings_of_a_recording_share_what_was_read():
    first, second = (Recording(RECORDINGS / "kind-1.36.2") for _ in range(2))
    assert first.exchanges("discovery") is second.exchanges("discovery")
    assert next(first.watch("journey")) is next(second.watch("journey"))


def test_a_file_that_changes_is_read_again(tmp_path: Path):
    (tmp_path / "http").mkdir()
    file = tmp_path / "http" / "discovery.jsonl"
    shutil.copy(RECORDINGS / "kind-1.36.2" / "http" / "discovery.jsonl", file)
    before = Recording(tmp_path).exchanges("discovery")
    text = file.read_text()
    file.write_text(text.replace('"n":0,', '"n":9,', 1))
    assert text != file.read_text()
    after = Recording(tmp_path).exchanges("discovery")
    assert (before[0].n, after[0].n, after[1:]) == (0, 9, before[1:])
    file.write_text(text + "{}\n")
    with pytest.raises(InspectorError, match=f"line {len(before) + 1} of .* is no recorded exchange: KeyError"):
        Recording(tmp_path).exchanges("discovery")
