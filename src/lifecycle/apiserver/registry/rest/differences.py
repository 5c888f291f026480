"""What an update tried to change, for the message that says it may not.

A unified diff, as of two files: each side is the internal value as indented JSON.

Upstream: `apimachinery/pkg/util/diff/diff.go` (`Diff`), `pmezard/go-difflib`, which is
Python's own `difflib` in Go, v1.36.
"""

from __future__ import annotations

import difflib
from typing import Any

from lifecycle.api.go.json.encode import marshal_indent
from lifecycle.api.schema.internal_types import internal_value


def _lines(value: Any) -> list[str]:
    return [line + "\n" for line in marshal_indent(value, " ").split("\n")]


def internal_difference(type_: str, old: Any, new: Any) -> str:
    """The diff of two values of a Go type such as `core/v1.PodSpec`; empty if they
    print alike.
    """
    lines = difflib.unified_diff(
        _lines(internal_value(type_, old)), _lines(internal_value(type_, new))
    )
    return "".join(list(lines)[2:])  # without the two lines that would name the files
