"""Looking into flow control: `/debug/api_priority_and_fairness/dump_*`.

Three tables as plain text, comma and tab between the columns: the levels, their queues,
and the requests.

Upstream: `apiserver/pkg/util/flowcontrol/apf_controller_debug.go`,
`request/seat_seconds.go`, v1.36. Left out: the details that `?includeRequestDetails`
adds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.api.go.duration import go_duration
from lifecycle.api.loop.clock import format_micro_time
from lifecycle.apiserver.filters.priority_and_fairness import FlowController
from lifecycle.apiserver.filters.queue_set import SCALE, Ticket

PREFIX = "/debug/api_priority_and_fairness/"
LEVELS = (
    "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests",
    "ExecutingRequests", "DispatchedRequests",
    "RejectedRequests", "TimedoutRequests", "CancelledRequests",
)  # fmt: skip
QUEUES = (
    "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse",
    "NextDispatchR", "InitialSeatsSum",
    "MaxSeatsSum", "TotalWorkSum",
)  # fmt: skip
REQUESTS = (
    "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue",
    "FlowDistingsher", "ArriveTime", "InitialSeats",
    "FinalSeats", "AdditionalLatency", "StartTime",
)  # fmt: skip
"""Upstream's spelling."""


def dump(
    flow_control: FlowController, what: str, wall_clock_ahead: float = 0.0
) -> str | None:
    """One of the tables; None for a name that is none. `wall_clock_ahead` is the wall
    clock's lead over the loop's time, in seconds.
    """
    levels = [flow_control.levels[name] for name in sorted(flow_control.levels)]
    if what == "dump_priority_levels":
        rows = []
        for level in levels:
            counts = (
                level.waiting,
                level.executing,
                level.dispatched,
                level.rejected + level.timed_out + level.cancelled,
                0,  # upstream counts who waited too long as cancelled
                level.timed_out + level.cancelled,
            )
            idle = str(level.idle).lower()
            rows.append(
                (
                    level.name,
                    str(sum(bool(queue.waiting) for queue in level.queues())),
                    idle,
                    "false",
                    *map(str, counts),
                )
            )
        return tabulated(LEVELS, rows)
    if what == "dump_queues":
        rows = []
        for level in levels:
            for queue in level.queues():
                waiting = [ticket.work for ticket in queue.waiting]
                sums = (
                    sum(work.initial for work in waiting),
                    sum(work.seats for work in waiting),
                )
                requests = len(waiting), len(queue.executing), queue.seats_in_use
                times = (
                    seat_seconds(queue.next_dispatch),
                    *map(str, sums),
                    seat_seconds(queue.work_waiting),
                )
                rows.append((level.name, str(queue.index), *map(str, requests), *times))
        return tabulated(QUEUES, rows)
    if what == "dump_requests":
        rows = []
        for level in levels:
            for queue in level.queues():
                standing = [
                    (place, ticket) for place, ticket in enumerate(queue.waiting)
                ]
                for place, ticket in (
                    *standing,
                    *((-1, ticket) for ticket in queue.executing),
                ):
                    rows.append(
                        (
                            level.name,
                            *_request(ticket, queue.index, place, wall_clock_ahead),
                        )
                    )
            rows += [
                (level.name, *_request(ticket, -1, -1, wall_clock_ahead))
                for ticket in level.queueless
            ]
        return tabulated(REQUESTS, rows)
    return None


def _request(ticket: Ticket, queue: int, place: int, ahead: float) -> tuple[str, ...]:
    """One row, without the level. A request at work has no place, and perhaps had no
    queue: -1.
    """
    arrived = format_micro_time(ticket.arrived + ahead)
    started = (
        "0001-01-01T00:00:00Z"
        if ticket.started is None
        else format_micro_time(ticket.started + ahead)
    )
    work = (
        str(ticket.work.initial),
        str(ticket.work.final),
        go_duration(ticket.work.latency),
    )
    return (
        ticket.flow[0],
        str(queue),
        str(place),
        ticket.flow[1],
        arrived,
        *work,
        started,
    )


def seat_seconds(work: int) -> str:
    """Work, or a moment of virtual time. Upstream: `SeatSeconds.String`."""
    return f"{work // SCALE}.{work % SCALE:08d}ss"


def tabulated(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns one under the other, at least eight wide. The last one is not filled
    up.
    """
    lines = [[*(f"{cell}," for cell in row[:-1]), row[-1]] for row in (header, *rows)]
    widths = [
        max(8, *(len(line[i]) + 1 for line in lines)) for i in range(len(header) - 1)
    ]
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False))
        + line[-1]
        + "\n"
        for line in lines
    )
