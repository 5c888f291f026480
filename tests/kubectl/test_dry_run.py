"""What the generators make and what the client refuses, word for word as the real kubectl printed it."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.kubectl.fake_server import kubectl

RECORDED = Path(__file__).parents[2] / "recordings" / "kind-1.36.2" / "kubectl" / "dry-run"
FILES = sorted(p.stem for p in RECORDED.glob("*.txt") if p.stem.startswith(("create-", "run-")))


def recorded(name: str) -> tuple[list[str], int, str, str]:
    """(argv, exit code, stdout, stderr) of a recording."""
    first, second, rest = (RECORDED / f"{name}.txt").read_text().split("\n", 2)
    out, _, err = rest.partition("[stderr]\n")
    return shlex.split(first.removeprefix("$ kubectl ")), int(second.strip("[]").removeprefix("exit ")), out, err


@pytest.mark.parametrize("name", FILES)
def test_the_same_object_or_the_same_refusal(name):
    argv, code, out, err = recorded(name)
    cut = argv.index("--") if "--" in argv else len(argv)
    made = kubectl([*argv[:cut], "--dry-run=client", "-o", "json", *argv[cut:]])
    assert (made[0], made[1].strip(), made[2].strip()) == (code, out.strip(), err.strip())
    assert made[3].requests == [], "a client-side dry run sends nothing but discovery"


def test_every_recording_of_a_generator_is_compared():
    assert len(FILES) > 35
