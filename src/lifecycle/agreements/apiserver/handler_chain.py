"""The handler chain held against a recorded cluster's audit log: each request goes
through our chain again.

An audit event says who asked for what and what came of it, so it holds all that the
chain needs to write the same event: the request with its object, the user, the
authorizer's decision, the answer. Those stand in for authenticator, authorizer and
registry; everything between – request info, the audit id, when which stage is written,
the reference to the object, the response status – is ours, and the events are compared
whole.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import zip_longest
from urllib.parse import parse_qs, unquote, urlsplit

from lifecycle.agreements.asked_again import OURS
from lifecycle.agreements.claim_checks.on_a_loop import on_a_loop
from lifecycle.api.http.wire import (
    Handler,
    Object,
    Request,
    RequestInfo,
    Response,
    UserInfo,
    WatchFrame,
)
from lifecycle.api.loop.clock import Clock
from lifecycle.apiserver.audit.context import annotate
from lifecycle.apiserver.audit.policy import AuditPolicy
from lifecycle.apiserver.authn.authenticator import Identity
from lifecycle.apiserver.authn.union import Authenticator
from lifecycle.apiserver.authz.authorizer import ALLOW, Decision, UserRules, Verdict
from lifecycle.apiserver.filters.audit import AuditLog
from lifecycle.apiserver.filters.metrics import RequestMetrics
from lifecycle.apiserver.server.chain import (
    ChainConfig,
    default_build_handler_chain,
)
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.inspector import Recording

METHODS = {
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
    "deletecollection": "DELETE",
}
DECIDED = ("authorization.k8s.io/decision", "authorization.k8s.io/reason")
DEPRECATED = "k8s.io/deprecated"
TIMES = ("requestReceivedTimestamp", "stageTimestamp")
LATENCY = "apiserver.latency.k8s.io/"
"""Annotations of slow requests: how slow is the machine's business."""


def recorded_events(recording: Recording) -> list[Object]:
    """The audit log of the journey; nothing if it was not recorded."""
    path = recording.path / "audit" / "journey.jsonl"
    return list(recording.audit("journey")) if path.is_file() else []


def requests_of(events: list[Object]) -> Iterator[list[Object]]:
    """The events of each request, in the order of the requests."""
    by_id: dict[str, list[Object]] = {}
    for event in events:
        by_id.setdefault(event["auditID"], []).append(event)
    yield from by_id.values()


class _AsRecorded:
    """Authenticator and authorizer in one: whatever the event says."""

    def __init__(self, event: Object) -> None:
        user = event["user"]
        extra = {
            key: tuple(values) for key, values in (user.get("extra") or {}).items()
        }
        self.user = UserInfo(
            user["username"], tuple(user.get("groups", ())), user.get("uid", ""), extra
        )
        decision, self.reason = (
            (event.get("annotations") or {}).get(key, "") for key in DECIDED
        )
        self.allowed = decision == "allow"

    def authenticate_request(self, request: Request) -> Identity:
        """The event's user."""
        return Identity(self.user)

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """The event's decision."""
        return Verdict(
            ALLOW.decision if self.allowed else Decision.NO_OPINION, self.reason
        )

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """Nobody asks."""
        return UserRules()


def _request(event: Object) -> Request:
    url = urlsplit(event["requestURI"])
    body = (
        json.dumps(event["requestObject"]).encode() if "requestObject" in event else b""
    )
    headers = {
        "audit-id": event["auditID"],
        "user-agent": event.get("userAgent", ""),
        "authorization": "Bearer x",
    }
    return Request(
        METHODS.get(event["verb"], "GET"),
        unquote(url.path),
        query=parse_qs(url.query, keep_blank_values=True),
        headers=headers,
        body=body,
        remote_addr=event["sourceIPs"][0],
        target=event["requestURI"],
    )


def _api_handler(event: Object) -> Handler:
    """What stands in for the registry: the recorded answer, and the notes that the
    registry and admission made.
    """

    annotations = event.get("annotations") or {}
    notes = {
        key: v
        for key, v in annotations.items()
        if key not in (*DECIDED, DEPRECATED) and LATENCY not in key
    }

    async def nothing() -> AsyncIterator[WatchFrame]:
        frames: tuple[WatchFrame, ...] = ()
        for frame in frames:
            yield frame

    async def serve(request: Request) -> Response:
        for key, value in notes.items():
            annotate(key, value)
        status = event["responseStatus"]
        if event["verb"] == "watch":
            return Response(status["code"], stream=nothing())
        return Response(
            status["code"],
            obj=event.get("responseObject") or {"metadata": {}, **status},
        )

    return serve


async def written_again(
    events: list[Object], chain: Callable[[Handler, ChainConfig], Handler]
) -> list[Object]:
    """The events that our chain writes for one recorded request."""
    last = events[-1]
    lines: list[Object] = []
    level = last["level"]
    log = AuditLog(
        AuditPolicy({"rules": [{"level": level}]}),
        lambda line: lines.append(json.loads(line)),
        Clock(),
    )
    as_recorded = _AsRecorded(last)

    config = ChainConfig(
        Authenticator(as_recorded), as_recorded, audit=log, metrics=RequestMetrics()
    )
    response = await chain(_api_handler(last), config)(_request(last))
    if response.stream is not None:
        async for _ in response.stream:
            pass
    return lines


def _compared(event: Object) -> Object:
    """An event without its times; and, since JSON compares dictionaries without regard
    to order, with the order of its fields.
    """
    annotations = {
        key: v
        for key, v in (event.get("annotations") or {}).items()
        if LATENCY not in key
    }
    kept = {key: value for key, value in event.items() if key not in TIMES}
    if "annotations" in kept:
        kept["annotations"] = annotations
    return {**kept, "fields": list(event)}


def handler_chain_agreement(
    recording: Recording,
    chain: Callable[[Handler, ChainConfig], Handler] = default_build_handler_chain,
) -> AgreementTable:
    """One row for each event of the recorded log, against the event that our chain
    writes. `chain` is judged in place of ours.
    """
    table = AgreementTable(
        "The audit log, written again",
        OURS,
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(requests):,} requests went through a real API server, which wrote"
            f" {len(table.computed):,} lines into its audit log; sent through our chain"
            f" again, they leave the same log: {table.outcome('lines')}."
        ),
    )
    requests = list(requests_of(recorded_events(recording)))

    async def all_of_them() -> list[list[Object]]:
        return [await written_again(events, chain) for events in requests]

    nothing: Object = {}
    for events, ours in zip(requests, on_a_loop(all_of_them()), strict=True):
        for mine, theirs in zip_longest(ours, events, fillvalue=nothing):
            event = theirs or mine
            table.add(
                f"audit: {event['stage']}",
                f"{event['verb']} {event['requestURI']}",
                mine.get("stage", "nothing"),
                theirs.get("stage", "nothing"),
                compare(
                    _compared(mine) if mine else nothing,
                    _compared(theirs) if theirs else nothing,
                ),
            )
    return table
