"""Looking into flow control: `/debug/api_priority_and_fairness/dump_*`.

Three tables as plain text, comma and tab between the columns: the levels, their queues, and the requests that wait.

Upstream: `apiserver/pkg/util/flowcontrol/apf_controller_debug.go`, v1.36. Left out: requests that are being executed, and the columns of
virtual time, which our queues do not have (shown as 0).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lifecycle.api.clock import format_micro_time
from lifecycle.apiserver.filters.priority_and_fairness import FlowController

PREFIX = "/debug/api_priority_and_fairness/"
LEVELS = (
    "PriorityLevelName", "ActiveQueues", "IsIdle", "IsQuiescing", "WaitingRequests", "ExecutingRequests", "DispatchedRequests",
    "RejectedRequests", "TimedoutRequests", "CancelledRequests",
)  # fmt: skip
QUEUES = (
    "PriorityLevelName", "Index", "PendingRequests", "ExecutingRequests", "SeatsInUse", "NextDispatchR", "InitialSeatsSum",
    "MaxSeatsSum", "TotalWorkSum",
)  # fmt: skip
REQUESTS = (
    "PriorityLevelName", "FlowSchemaName", "QueueIndex", "RequestIndexInQueue", "FlowDistingsher", "ArriveTime", "InitialSeats",
    "FinalSeats", "AdditionalLatency", "StartTime",
)  # fmt: skip
"""Upstream's spelling."""


def dump(flow_control: FlowController, what: str, wall_clock_ahead: float = 0.0) -> str | None:
    """One of the tables; None for a name that is none. `wall_clock_ahead` is the wall clock's lead over the loop's time, in seconds."""
    levels = [flow_control.levels[name] for name in sorted(flow_control.levels)]
    if what == "dump_priority_levels":
        rows = []
        for level in levels:
            idle = str(not level.executing and not level.waiting).lower()
            counts = (
                level.waiting,
                level.executing,
                level.dispatched,
                level.rejected,
                level.timed_out,
                level.cancelled,
            )
            rows.append((level.name, str(len(level.queued())), idle, "false", *map(str, counts)))
        return tabulated(LEVELS, rows)
    if what == "dump_queues":
        rows = []
        for level in levels:
            for index, waiting in level.queued():
                seats = sum(each.width for each in waiting)
                rows.append((level.name, str(index), str(len(waiting)), "0", "0", "0", str(seats), str(seats), "0"))
        return tabulated(QUEUES, rows)
    if what == "dump_requests":
        rows = []
        for level in levels:
            for index, waiting in level.queued():
                for place, each in enumerate(waiting):
                    schema, _, flow = each.flow.partition("/")
                    arrived = format_micro_time(each.arrived + wall_clock_ahead)
                    rest = str(each.width), "0", "0s", "0001-01-01T00:00:00Z"
                    rows.append((level.name, schema, str(index), str(place), flow, arrived, *rest))
        return tabulated(REQUESTS, rows)
    return None


def tabulated(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns one under the other, at least eight wide. The last one is not filled up."""
    lines = [[*(f"{cell}," for cell in row[:-1]), row[-1]] for row in (header, *rows)]
    widths = [max(8, *(len(line[i]) + 1 for line in lines)) for i in range(len(header) - 1)]
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)) + line[-1] + "\n"
        for line in lines
    )
