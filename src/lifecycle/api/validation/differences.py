"""What an update tried to change, for the message that says it may not.

Upstream prints a Go diff (`apimachinery/pkg/util/diff/diff.go`, `Diff`); we print paths and both values.
"""

from __future__ import annotations

from typing import Any


def differences(old: Any, new: Any, path: str) -> list[str]:
    """The paths at which two values differ, with both values."""
    if isinstance(old, dict) and isinstance(new, dict):
        return [line for key in {**old, **new} for line in differences(old.get(key), new.get(key), f"{path}.{key}")]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [line for i, pair in enumerate(zip(old, new)) for line in differences(*pair, f"{path}[{i}]")]
    return [] if old == new else [f"{path}: {old!r} -> {new!r}"]
