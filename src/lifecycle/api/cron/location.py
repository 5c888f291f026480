"""Time zones by the names that Go knows them by.

Upstream: Go's `time.LoadLocation`.
"""

from __future__ import annotations

from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError


def load_location(name: str) -> tzinfo:
    """The zone; UTC if there is no name, and for `Local`, where a control plane's clock
    stands. Raises ValueError in Go's words.
    """
    if name in ("", "UTC", "Local"):
        return UTC
    if ".." in name or name[0] in "/\\":
        raise ValueError("time: invalid location name")
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"unknown time zone {name}") from None
