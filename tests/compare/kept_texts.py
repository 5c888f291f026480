"""What a comparison makes of small documents, as text that is kept beside the tests in `kept/`.

Whoever changes a rule writes it anew (`KEEP=anew pytest tests/compare/test_kept.py`) and reads in the difference what
else has changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lifecycle.compare import Comparison
from lifecycle.compare.masked import Masked
from tests.kept_text import kept

KEPT = Path(__file__).with_name("kept")


def is_kept(name: str, text: str) -> bool:
    """Whether the text is the one that is kept under this name."""
    return text == kept(KEPT / name, text)


def flat(value: Any, path: str = "") -> Iterator[str]:
    """A normalised document, a leaf a line: a placeholder with its original and all its marks."""
    if isinstance(value, dict) and value:
        for key, item in value.items():
            yield from flat(item, f"{path}/{leaf(key) if isinstance(key, Masked) else key}")
    elif isinstance(value, list) and value:
        for index, item in enumerate(value):
            yield from flat(item, f"{path}/{index}")
    else:
        yield f"{path}: {leaf(value)}"


def leaf(value: Any) -> str:
    if not isinstance(value, Masked):
        return json.dumps(value)
    marks = "; ".join(
        f"{mark.rule} | {mark.raw} | {mark.identity} | {mark.instead!r} | {mark.near}" for mark in value.marks
    )
    return f"{str(value)!r} of {value.raw!r} [{marks}]"


def told(result: Comparison) -> Iterator[str]:
    yield f"= {result.equal} of {result.total}, {dict(sorted(result.freedoms.items()))}"
    for each in result.differences:
        yield f"≠ {each} ({each.fields})"
