"""What `--help` says of every command, in our words, to the letter.

It stands beside this file in `help_in_full.txt`. Whoever changes a command or a flag writes it anew
(`KEEP=anew pytest tests/kubectl/test_help_in_full.py`).
"""

from __future__ import annotations

import asyncio
import io
from pathlib import Path

import pytest

from lifecycle.kubectl.help_texts import COMMANDS
from lifecycle.kubectl.main import main
from tests.kept_text import kept

KEPT = Path(__file__).with_name("help_in_full.txt")


def ours(line: str) -> str:
    out, err = io.StringIO(), io.StringIO()
    code = asyncio.run(main(line.split(), out=out, err=err, environ={"HOME": "/nowhere"}))
    return f"$ kubectl {line}\n[{code}]\n{out.getvalue()}{err.getvalue()}"


def test_help_is_what_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/nowhere")
    lines = [
        "--help",
        "options",
        *(f"{name} --help" for name in COMMANDS if name != "options"),
        "nothing",
        "get --nothing",
    ]
    text = "\n".join(map(ours, lines))
    assert text == kept(KEPT, text)
