"""Priority and fairness: when there is too much to do, the important things first, and
everybody their turn.

A request is classified (which FlowSchema, which priority level), takes seats of the
level, and gives them back with the answer. A watch gives them back once it has begun;
streams take none. The answer says how it was classified, in two headers, also if it is
429.

Schemas and levels are API objects, read from the server's own cache: whoever may write
them can change this while the server runs. The same user asks the same kind of thing
again and again, so what schemas make of it is remembered until one of the objects
changes: for those whom a schema names by their name, for all others by their groups.
Five thousand nodes ask alike, and are judged once.

Upstream: `apiserver/pkg/server/filters/priority-and-fairness.go`,
`pkg/util/flowcontrol/apf_controller.go`, v1.36. Left out: the status that says whether
a schema's level exists.
"""

from __future__ import annotations

import asyncio
import math
from typing import NamedTuple

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.http.wire import (
    ANONYMOUS,
    Handler,
    Object,
    Request,
    RequestInfo,
    Response,
    UserInfo,
)
from lifecycle.api.resources import resource
from lifecycle.api.tracing import span
from lifecycle.apiserver.authn.service_account import USERNAME_PREFIX
from lifecycle.apiserver.filters.flow_schema import (
    flow_distinguisher,
    matches_flow_schema,
    named_users,
    sort_flow_schemas,
)
from lifecycle.apiserver.filters.max_in_flight import (
    MAX_MUTATING_REQUESTS,
    MAX_REQUESTS,
    too_many_requests,
)
from lifecycle.apiserver.filters.priority_level import PriorityLevel
from lifecycle.apiserver.filters.queue_set import ONE_SEAT
from lifecycle.apiserver.filters.request_info import is_long_running
from lifecycle.apiserver.filters.seat_borrowing import (
    ADJUSTMENT_PERIOD,
    Claim,
    compute_concurrency_allocation,
)
from lifecycle.apiserver.filters.work_estimate import WorkEstimator
from lifecycle.apiserver.storage.object_reader import ObjectReader

FLOW_SCHEMA_UID = "X-Kubernetes-Pf-Flowschema-Uid"
PRIORITY_LEVEL_UID = "X-Kubernetes-Pf-Prioritylevel-Uid"
GROUP = "flowcontrol.apiserver.k8s.io"
MEMO_SIZE = 8192
LONGEST_WAIT = 60.0


class Classification(NamedTuple):
    """Where a request belongs. A flow is a schema's name and what tells its flows
    apart.
    """

    schema: str
    schema_uid: str
    level: PriorityLevel
    flow: tuple[str, str]


class FlowController:
    """Schemas and levels as they are now. `concurrency` is the number of seats shared
    out among all levels, `estimator` knows what a request is worth.
    """

    def __init__(
        self,
        reader: ObjectReader,
        concurrency: int = MAX_REQUESTS + MAX_MUTATING_REQUESTS,
        estimator: WorkEstimator | None = None,
    ) -> None:
        self._reader = reader
        self._concurrency = concurrency
        self._schemas_row = resource(f"flowschemas.{GROUP}")
        self._levels_row = resource(f"prioritylevelconfigurations.{GROUP}")
        self._changes = reader.changes((self._schemas_row, self._levels_row))
        self._state: int | None = None
        self._schemas: list[Object] = []
        self.levels: dict[str, PriorityLevel] = {}
        self._named: frozenset[str] = frozenset()
        self._memo: BoundedCache[
            tuple[object, ...], tuple[Object, PriorityLevel] | tuple[()]
        ] = BoundedCache(MEMO_SIZE)
        self._adjusted: float | None = None
        self._next: asyncio.TimerHandle | None = None
        self.estimator = estimator or WorkEstimator(lambda group, plural: None)

    def classify(self, user: UserInfo, info: RequestInfo) -> Classification | None:
        """The schema and level of a request; None if no schema wants it (as long as the
        defaults do not exist).
        """
        state = self._changes()
        if state != self._state:
            self._configure(state)
        by_name = user.name in self._named or user.name.startswith(USERNAME_PREFIX)
        name = user.name if by_name else ""
        key: tuple[object, ...] = (name, user.groups, info.verb, info.path)
        if info.is_resource_request:
            key = (
                name,
                user.groups,
                info.verb,
                info.group,
                info.resource,
                info.subresource,
                info.namespace,
            )
        known = self._memo.get(key)
        if known is None:
            known = self._classify(user, info)
            self._memo.put(key, known)
        if not known:
            return None
        schema, level = known
        metadata = schema["metadata"]
        flow = metadata["name"], flow_distinguisher(schema, user, info)
        return Classification(metadata["name"], metadata.get("uid", ""), level, flow)

    def _classify(
        self, user: UserInfo, info: RequestInfo
    ) -> tuple[Object, PriorityLevel] | tuple[()]:
        for schema in self._schemas:
            level = self.levels.get(
                schema["spec"]["priorityLevelConfiguration"]["name"]
            )
            if level is not None and matches_flow_schema(schema, user, info):
                return schema, level
        return ()

    def _configure(self, state: int) -> None:
        """Take in changed objects. A level that stays the same keeps its queues; the
        requests of a changed one finish as they began.
        """
        self._state = state
        self._memo.clear()
        self._schemas = sort_flow_schemas(self._reader.list(self._schemas_row))
        self._named = named_users(self._schemas)
        configurations = self._reader.list(self._levels_row)
        shares = {c["metadata"]["name"]: _nominal_shares(c) for c in configurations}
        total = sum(shares.values()) or 1
        before, self.levels = self.levels, {}
        for configuration in configurations:
            name = configuration["metadata"]["name"]
            level = PriorityLevel(
                configuration,
                math.ceil(self._concurrency * shares[name] / total),
                self._concurrency,
            )
            known = before.get(name)
            self.levels[name] = (
                known if known is not None and known.shape == level.shape else level
            )

    def adjust(self, now: float) -> None:
        """Deal out the seats anew, if ten seconds have passed (the loop's time). Seats
        lent come to those who wait at once, so this goes on while somebody waits, even
        if nobody else comes.
        """
        if self._adjusted is None:
            self._adjusted = now
        if now - self._adjusted >= ADJUSTMENT_PERIOD:
            self._adjusted = now
            self._deal(now)
        if self._next is None:
            due = self._adjusted + ADJUSTMENT_PERIOD
            self._next = asyncio.get_running_loop().call_at(due, self._again, due)

    def _again(self, now: float) -> None:
        self._next = None
        if any(level.waiting for level in self.levels.values()):
            self.adjust(now)

    def _deal(self, now: float) -> None:
        limited = [level for level in self.levels.values() if not level.exempt]
        total = sum(level.nominal for level in self.levels.values())
        claims = []
        for level in limited:
            highest = level.demand.close_period(now) if level.demand is not None else 0
            smoothed = level.demand.smoothed if level.demand is not None else 0.0
            least = max(level.least, min(level.nominal, highest))
            claims.append(
                Claim(least, max(level.most, least), max(least, smoothed, 1e-6))
            )
        try:
            dealt = compute_concurrency_allocation(total, claims)
        except ValueError:
            # the levels are set up so that nothing can be dealt: everybody keeps what
            # is theirs
            dealt = [float(level.nominal) for level in limited]
        for level, seats in zip(limited, dealt, strict=True):
            level.seats = round(seats)
            level.dispatch()


def _nominal_shares(configuration: Object) -> int:
    spec = configuration["spec"]
    part = spec.get("limited") if spec.get("type") == "Limited" else spec.get("exempt")
    default = 30 if spec.get("type") == "Limited" else 0
    return int((part or {}).get("nominalConcurrencyShares", default))


def with_priority_and_fairness(
    handler: Handler, flow_control: FlowController, wait_limit: float
) -> Handler:
    """Let a request through when its level has a seat; 429 if it would have to wait too
    long for one.
    """

    async def priority_and_fairness(request: Request) -> Response:
        info = request.info
        assert info is not None, "request info comes first"
        if info.verb != "watch" and is_long_running(info):
            return await handler(request)
        with span("apiserver", "flow control") as recorded:
            classified = flow_control.classify(request.user or ANONYMOUS, info)
            if classified is None:
                return await handler(request)
            level = classified.level
            if recorded is not None:
                recorded.attributes.update(
                    level=level.name, flow="/".join(classified.flow)
                )
            work = ONE_SEAT
            if not level.exempt:
                flow_control.adjust(asyncio.get_running_loop().time())
                work = flow_control.estimator.estimate(
                    info, request.query, level.max_seats
                )
            ticket = level.start(classified.flow, work)
            if ticket is None or (
                ticket.started is None
                and not await level.wait(ticket, _patience(request, wait_limit))
            ):
                return _marked(too_many_requests(level.dropped.retry_after), classified)
        try:
            return _marked(await handler(request), classified)
        finally:
            level.release(ticket)

    return priority_and_fairness


def _patience(request: Request, default: float) -> float:
    """How long a request waits for seats: a quarter of the time it has, but no longer
    than a minute.
    """
    if request.deadline is None:
        return min(default, LONGEST_WAIT)
    return min((request.deadline - asyncio.get_running_loop().time()) / 4, LONGEST_WAIT)


def _marked(response: Response, classified: Classification) -> Response:
    response.headers[FLOW_SCHEMA_UID] = classified.schema_uid
    response.headers[PRIORITY_LEVEL_UID] = classified.level.uid
    return response
