"""How long to wait before the next try: 10 s after a failure, doubled for each further
one in a row, ten minutes at most.

Upstream: `pkg/controller/job/backoff_utils.go` (`newBackoffRecord`,
`getFinishedTime`, `getRemainingTimeForFailuresCount`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable

from lifecycle.api.conditions import get_condition
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.pods.pod_util import is_restartable_init_container

DEFAULT_JOB_POD_FAILURE_BACKOFF = 10.0
MAX_JOB_POD_FAILURE_BACKOFF = 600.0


def finished_at(pod: Object) -> float:
    """When the pod ended: its last container, if all have; else when it was last ready,
    when its deletion was asked for, or, for want of anything better, its beginning.
    Seconds since 1970. Upstream: `getFinishedTime`.
    """
    end = _end_of_containers(pod)
    if end is not None:
        return end
    ready, meta = get_condition(pod, "Ready"), pod["metadata"]
    if ready is not None and ready["status"] == "False":
        since = ready.get("lastTransitionTime")
        if since:
            return parse_time(since)
    if "deletionTimestamp" in meta:
        grace = meta.get("deletionGracePeriodSeconds") or 0
        return parse_time(meta["deletionTimestamp"]) - grace
    return parse_time(meta["creationTimestamp"])


def _end_of_containers(pod: Object) -> float | None:
    """When the last container or sidecar ended; None if one of the sidecars has not.

    Upstream asks the containers first and then goes on to the sidecars with what it
    knows; so if a container has not ended, it is the sidecars alone that count.
    Upstream: `getFinishTimeFromContainers`.
    """
    status = pod.get("status") or {}
    sidecars = {
        container["name"]
        for container in pod["spec"].get("initContainers") or ()
        if is_restartable_init_container(container)
    }
    end = _latest_end(None, status.get("containerStatuses") or ())
    inits = status.get("initContainerStatuses") or ()
    return _latest_end(end, [each for each in inits if each["name"] in sidecars])


def _latest_end(before: float | None, statuses: Iterable[Object]) -> float | None:
    """The latest of an end that is known and these; None if one of these has not ended.
    Upstream: `latestFinishTime`.
    """
    ends = [] if before is None else [before]
    for each in statuses:
        terminated = (each.get("state") or {}).get("terminated") or {}
        if not terminated.get("finishedAt"):
            return None
        ends.append(parse_time(terminated["finishedAt"]))
    return max(ends, default=None)


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
