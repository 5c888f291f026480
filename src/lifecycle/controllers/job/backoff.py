"""How long to wait before the next try: 10 s after a failure, doubled for each further
one in a row, ten minutes at most.

Upstream: `pkg/controller/job/backoff_utils.go` (`newBackoffRecord`,
`getRemainingTimeForFailuresCount`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.clock import parse_time
from lifecycle.api.wire import Object

DEFAULT_JOB_POD_FAILURE_BACKOFF = 10.0
MAX_JOB_POD_FAILURE_BACKOFF = 600.0


def finished_at(pod: Object) -> float:
    """When the last container ended; the pod's own start if none did. Seconds since
    1970.
    """
    status = pod.get("status") or {}
    ends = [
        parse_time(c["state"]["terminated"]["finishedAt"])
        for c in status.get("containerStatuses") or ()
        if ((c.get("state") or {}).get("terminated") or {}).get("finishedAt")
    ]
    return max(ends) if ends else parse_time(pod["metadata"]["creationTimestamp"])


def remaining_backoff(
    succeeded: Iterable[Object], failed: Iterable[Object], now: float
) -> float:
    """Seconds still to wait. Only failures after the last success count."""
    last_success = max((finished_at(pod) for pod in succeeded), default=0.0)
    ends = [end for end in map(finished_at, failed) if end > last_success]
    if not ends:
        return 0.0
    return remaining_after(len(ends), max(ends), now)


def remaining_after(failures: int, last_failure: float, now: float) -> float:
    """Seconds still to wait after so many failures, the last one then. Upstream:
    `getRemainingTimeForFailuresCount`.
    """
    wait = min(
        DEFAULT_JOB_POD_FAILURE_BACKOFF * 2 ** min(failures - 1, 10),
        MAX_JOB_POD_FAILURE_BACKOFF,
    )
    return max(0.0, last_failure + wait - now)
