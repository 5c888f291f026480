"""Points in time, as describers show them: in full in the reader's own time zone, or as
the time that has passed since.

Upstream: `kubectl/pkg/describe/describe.go` (`translateTimestampSince`), Go's `time`
(`RFC1123Z`), `apimachinery/pkg/apis/meta/v1/time.go` (`Time.UnmarshalJSON`: `Local`),
v1.36.
"""

from __future__ import annotations

from datetime import datetime
from email.utils import format_datetime

from lifecycle.api.human_duration import since
from lifecycle.api.loop.clock import Clock

NEVER = "Mon, 01 Jan 0001 00:00:00 +0000"
"""Go's zero time, which stands where an object has none."""


def rfc1123z(timestamp: str | None) -> str:
    """A timestamp of an object, such as `Fri, 01 Jan 2027 00:00:00 +0000`."""
    if not timestamp:
        return NEVER
    return format_datetime(datetime.fromisoformat(timestamp).astimezone())


def translate_timestamp_since(timestamp: str | None) -> str:
    """`5m18s`; `<unknown>` without a timestamp."""
    return since(timestamp, Clock().now())
