"""Manifests with something odd in them, each validated and not: what our kubectl says of them, and what the real one said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from lifecycle.agreements.kubectl.printed import told
from tests.kubectl.beside import Both, recorded_answers

RECORDED = Path(__file__).parent / "real_manifest_answers.json"
"""Each line's exit code, stdout and stderr from kubectl 1.36. Written anew with `RECORD_KUBECTL=1 pytest …`."""

FILES: dict[str, str] = json.loads((Path(__file__).parent / "odd_manifests.json").read_text())
"""Manifests by what is odd in them."""

LINES = [
    f"create -f HOME/odd/{name} --dry-run=client --validate={how} -o name"
    for name in FILES
    for how in ("true", "false")
]
ASKED = {line: line for line in LINES}
KNOWN = {
    "nested.yaml": "the real one opens one list only; ours all of them",
    "no-version.yaml": "the real one finds a kind without its version",
}


@pytest.fixture(scope="module")
def home(both: Both) -> Path:
    (both.home / "odd").mkdir(exist_ok=True)
    for name, text in FILES.items():
        (both.home / "odd" / name).write_text(text)
    return both.home


@pytest.fixture(scope="module")
def recorded(both: Both, home: Path) -> dict[str, list[str]]:
    return recorded_answers(RECORDED, ASKED, both)


@pytest.mark.parametrize("line", [line for line in LINES if not any(name in line for name in KNOWN)])
def test_the_same_answer(both: Both, home: Path, recorded: dict[str, list[str]], line: str) -> None:
    assert told(both.ours(line), home) == recorded[line]


@pytest.mark.parametrize("name", KNOWN)
def test_what_is_known_to_be_answered_otherwise_still_is(
    both: Both, home: Path, recorded: dict[str, list[str]], name: str
) -> None:
    assert [line for line in LINES if name in line and told(both.ours(line), home) != recorded[line]] != []
