"""Tests keep their folders in memory only where there is a place for them."""

from __future__ import annotations

import os
import sys
import tempfile
from types import SimpleNamespace

import pytest

from tests.files_in_memory import ROOM, use_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no /dev/shm")


def chosen(monkeypatch: pytest.MonkeyPatch, *, room: int = ROOM, flags: int = 0, **environ: str) -> str | None:
    monkeypatch.setattr(tempfile, "tempdir", "/before")
    monkeypatch.setattr(os, "access", lambda *_: True)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=room >> 12, f_frsize=1 << 12, f_flag=flags))
    use_memory(environ)
    assert tempfile.tempdir == (None if environ.get("TMPDIR") == "/dev/shm" else "/before")
    return environ.get("TMPDIR")


def test_folders_are_made_in_memory_where_there_is_room(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(monkeypatch) == "/dev/shm"


def test_a_small_memory_stays_free(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(monkeypatch, room=ROOM - (1 << 12)) is None


def test_programs_of_tests_must_be_allowed_to_run_there(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(monkeypatch, flags=os.ST_NOEXEC) is None


def test_who_says_where_is_obeyed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert chosen(monkeypatch, TMPDIR="/elsewhere") == "/elsewhere"
