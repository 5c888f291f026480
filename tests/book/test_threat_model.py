"""Each promise of the threat model is kept by a test that exists, and what the page counts is so."""

from __future__ import annotations

import ast
import re

import pytest

from lifecycle.cri.capability_names import DEFAULT_CAPABILITIES
from tests.conftest import ROOT
from tests.cri.test_escapes import ATTEMPTS
from tests.cri.test_seccomp import ONLY_HERE, ONLY_THERE

PAGE = (ROOT / "book" / "threat-model.md").read_text()
PROMISES = re.findall(r"^\| ([^|]+) \| `(tests/[\w/]+\.py)::(\w+)` \|$", PAGE, re.MULTILINE)


@pytest.mark.parametrize(("promise", "file", "name"), PROMISES, ids=[name for _, _, name in PROMISES])
def test_each_promise_has_its_test(promise: str, file: str, name: str) -> None:
    functions = {
        node.name for node in ast.walk(ast.parse((ROOT / file).read_text())) if isinstance(node, ast.FunctionDef)
    }
    assert name in functions, promise


def test_every_row_of_the_table_is_such_a_promise() -> None:
    table = PAGE.partition("## The promises")[2]
    rows = [line for line in table.splitlines() if line.startswith("|")]
    assert len(PROMISES) == len(rows) - 2 > 15


def test_what_the_page_counts_is_so() -> None:
    assert "Fifty documented ways out" in PAGE
    assert 50 <= len(ATTEMPTS) < 60
    assert "with fourteen capabilities" in PAGE
    assert len(DEFAULT_CAPABILITIES) == 14
    assert "but for four calls" in PAGE
    assert len(ONLY_HERE | ONLY_THERE) == 4


def test_the_page_is_as_long_as_a_story() -> None:
    prose = re.sub(r"```.*?```|^\|[^\n]*$|^---.*?---$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
    assert 600 <= len(prose.split()) <= 900
