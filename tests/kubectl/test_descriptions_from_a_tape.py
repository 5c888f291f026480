"""`describe` as the real kubectl 1.36 answered it once, from what the server said then: no cluster and no program is needed.

The tape is kept by the tests beside the real kubectl, for lines that both answered the same.
"""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lifecycle.kubectl.describe import moments
from tests.kubectl.beside import FILES
from tests.kubectl.tape import DESCRIBED, Tape
from tests.kubectl.test_describe_beside_real_kubectl import LINES, PinnedClock, whole

TAPE = Tape(DESCRIBED)


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Times are told in the reader's zone, and that one's was this."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize("line", TAPE.lines)
def test_the_same_is_said_from_the_same_answers(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    then = TAPE.lines[line]
    monkeypatch.setattr(moments, "Clock", lambda: PinnedClock(then["now"]))
    argv = [word.replace("HOME", str(tmp_path)) for word in shlex.split(whole(line))]
    assert [str(part).replace(str(tmp_path), "HOME") for part in TAPE.play(line, argv)] == then["said"]


def test_every_line_is_on_the_tape() -> None:
    assert set(TAPE.lines) == set(LINES)
