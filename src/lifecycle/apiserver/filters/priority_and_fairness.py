"""Priority and fairness: when there is too much to do, the important things first, and everybody their turn.

A request is classified (which FlowSchema, which priority level), takes one of the level's seats, and gives it back with the answer. A watch
gives it back once it has begun; streams take none. The answer says how it was classified, in two headers.

Schemas and levels are API objects, read from the server's own cache: whoever may write them can change this while the server runs. The same
user asks the same kind of thing again and again, so classifications are remembered until one of the objects changes.

Upstream: `apiserver/pkg/server/filters/priority-and-fairness.go`, `pkg/util/flowcontrol/apf_controller.go`, v1.36. Left out: estimating
how many seats a list is worth, borrowing between levels, the status that says whether a schema's level exists.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from lifecycle.api.resources import resource
from lifecycle.api.tracing import span
from lifecycle.api.wire import ANONYMOUS, Handler, Object, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.filters.flow_schema import flow_distinguisher, matches_flow_schema, sort_flow_schemas
from lifecycle.apiserver.filters.max_in_flight import MAX_MUTATING_REQUESTS, MAX_REQUESTS, too_many_requests
from lifecycle.apiserver.filters.priority_level import PriorityLevel
from lifecycle.apiserver.filters.request_info import is_long_running
from lifecycle.apiserver.object_reader import ObjectReader

FLOW_SCHEMA_UID = "X-Kubernetes-Pf-Flowschema-Uid"
PRIORITY_LEVEL_UID = "X-Kubernetes-Pf-Prioritylevel-Uid"
GROUP = "flowcontrol.apiserver.k8s.io"
MEMO_SIZE = 10_000


class Classification(NamedTuple):
    """Where a request belongs."""

    schema: str
    schema_uid: str
    level: PriorityLevel
    flow: str


class FlowController:
    """Schemas and levels as they are now. `concurrency` is the number of seats shared out among all levels."""

    def __init__(self, reader: ObjectReader, concurrency: int = MAX_REQUESTS + MAX_MUTATING_REQUESTS) -> None:
        self._reader = reader
        self._concurrency = concurrency
        self._schemas_row = resource(f"flowschemas.{GROUP}")
        self._levels_row = resource(f"prioritylevelconfigurations.{GROUP}")
        self._state: tuple[int, int] | None = None
        self._schemas: list[Object] = []
        self.levels: dict[str, PriorityLevel] = {}
        self._memo: dict[tuple[object, ...], Classification | None] = {}

    def classify(self, user: UserInfo, info: RequestInfo) -> Classification | None:
        """The schema and level of a request; None if no schema wants it (as long as the defaults do not exist)."""
        state = (self._reader.resource_version(self._schemas_row), self._reader.resource_version(self._levels_row))
        if state != self._state:
            self._configure(state)
        key: tuple[object, ...] = (user.name, user.groups, info.verb, info.path)
        if info.is_resource_request:
            key = (user.name, user.groups, info.verb, info.group, info.resource, info.subresource, info.namespace)
        try:
            return self._memo[key]
        except KeyError:
            if len(self._memo) >= MEMO_SIZE:
                self._memo.clear()
            found = self._memo[key] = self._classify(user, info)
            return found

    def _classify(self, user: UserInfo, info: RequestInfo) -> Classification | None:
        for schema in self._schemas:
            level = self.levels.get(schema["spec"]["priorityLevelConfiguration"]["name"])
            if level is not None and matches_flow_schema(schema, user, info):
                name = schema["metadata"]["name"]
                flow = f"{name}/{flow_distinguisher(schema, user, info)}"
                return Classification(name, schema["metadata"].get("uid", ""), level, flow)
        return None

    def _configure(self, state: tuple[int, int]) -> None:
        """Take in changed objects. A level that stays the same keeps its queues; the requests of a changed one finish as they began."""
        self._state = state
        self._memo.clear()
        self._schemas = sort_flow_schemas(self._reader.list(self._schemas_row))
        configurations = self._reader.list(self._levels_row)
        shares = {c["metadata"]["name"]: _nominal_shares(c) for c in configurations}
        total = sum(shares.values()) or 1
        before, self.levels = self.levels, {}
        for configuration in configurations:
            name = configuration["metadata"]["name"]
            level = PriorityLevel(configuration, math.ceil(self._concurrency * shares[name] / total))
            known = before.get(name)
            self.levels[name] = known if known is not None and known.shape == level.shape else level


def _nominal_shares(configuration: Object) -> int:
    spec = configuration["spec"]
    part = spec.get("limited") if spec.get("type") == "Limited" else spec.get("exempt")
    default = 30 if spec.get("type") == "Limited" else 0
    return int((part or {}).get("nominalConcurrencyShares", default))


def with_priority_and_fairness(handler: Handler, flow_control: FlowController, wait_limit: float) -> Handler:
    """Let a request through when its level has a seat; 429 if it would have to wait too long for one."""

    async def priority_and_fairness(request: Request) -> Response:
        info = request.info
        assert info is not None, "request info comes first"
        if info.verb != "watch" and is_long_running(info):
            return await handler(request)
        with span("apiserver", "flow control") as recorded:
            classified = flow_control.classify(request.user or ANONYMOUS, info)
            if classified is not None:
                level = classified.level
                if recorded is not None:
                    recorded.attributes.update(level=level.name, flow=classified.flow)
                if not level.try_acquire() and not await level.acquire(classified.flow, wait_limit):
                    return _marked(too_many_requests(), classified)
        if classified is None:
            return await handler(request)
        try:
            return _marked(await handler(request), classified)
        finally:
            level.release()

    return priority_and_fairness


def _marked(response: Response, classified: Classification) -> Response:
    response.headers[FLOW_SCHEMA_UID] = classified.schema_uid
    response.headers[PRIORITY_LEVEL_UID] = classified.level.uid
    return response
