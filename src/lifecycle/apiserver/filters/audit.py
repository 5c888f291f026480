"""Audit: who asked for what, when, and what came of it.

One event when a request has been received, one when it has been answered; a watch has
one more when its answer begins. The event is filled in on the way: authorization notes
its decision, impersonation the second user. They do not know whether anybody logs; with
the log off (the default) the filter is not even in the chain and a note costs one
look-up.

Upstream: `apiserver/pkg/endpoints/filters/audit.go` (`WithAudit`,
`writeLatencyToAnnotation`), `authn_audit.go` (`WithFailedAuthenticationAudit`),
`request_deadline.go` (`withFailedRequestAudit`), `pkg/audit/context.go`, v1.36. Left
out: the parts of a slow request's latency; only the total is noted.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.go.duration import go_duration
from lifecycle.api.http.wire import (
    Handler,
    Object,
    Request,
    Response,
    UserInfo,
    WatchFrame,
)
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.tracing import span
from lifecycle.apiserver.audit.context import audit_event
from lifecycle.apiserver.audit.event import (
    decoded,
    object_ref,
    request_uri,
    response_object,
    response_status,
    source_ips,
    user_agent,
    user_fields,
    without_managed_fields,
)
from lifecycle.apiserver.audit.policy import (
    METADATA,
    NONE,
    REQUEST_RESPONSE,
    AuditConfig,
    AuditPolicy,
)
from lifecycle.apiserver.filters.request_info import is_long_running
from lifecycle.apiserver.filters.timeout import deadline_exceeded

RECEIVED = "RequestReceived"
STARTED = "ResponseStarted"
COMPLETE = "ResponseComplete"
PANIC = "Panic"

CLOSED_EARLY: Object = {
    "metadata": {},
    "status": "Success",
    "message": "Connection closed early",
    "code": 200,
}
SLOW = 0.5
"""Requests that take longer (seconds) say so in an annotation."""
LATENCY_TOTAL = "apiserver.latency.k8s.io/total"

Sink = Callable[[bytes], Awaitable[None] | None]
"""Takes one event as a line of JSON, without the newline."""


class AuditLog:
    """Policy and sink together."""

    def __init__(self, policy: AuditPolicy, sink: Sink, clock: Clock) -> None:
        self._policy = policy
        self._sink = sink
        self._clock = clock

    async def logged(self, handler: Handler, request: Request) -> Response:
        """Call the handler and log the request as the policy wants."""
        info = request.info
        config = (
            AuditConfig(NONE)
            if info is None
            else self._policy.evaluate(request.user, info)
        )
        if info is None or config.level == NONE:
            return await handler(request)
        event: Object = {"received": self._clock.micro_timestamp()}
        token = audit_event.set(event)
        posted: Any = request.obj
        user = request.user  # impersonation replaces it further in
        await self._write(RECEIVED, request, user, event, config)
        try:
            response = await handler(request)
        except Exception as error:
            await self._panicked(error, request, user, event, config)
            raise
        except asyncio.CancelledError:
            event["status"] = (
                CLOSED_EARLY if is_long_running(info) else _timed_out_status(request)
            )
            if is_long_running(info):
                await self._write(STARTED, request, user, event, config)
            await self._write(COMPLETE, request, user, event, config)
            raise
        finally:
            audit_event.reset(token)
        event["size"] = _size(request, response)
        event["status"] = response_status(response)
        event["request"] = event.pop("_request", None) or posted
        if event["request"] is None and config.level != METADATA:
            event["request"] = await beside(len(request.body), decoded, request.body)
        if is_long_running(info):
            await self._write(STARTED, request, user, event, config)
        if response.stream is not None:
            response.stream = self._until_closed(
                response.stream, request, user, event, config
            )
            return response
        if config.level == REQUEST_RESPONSE:
            event["response"] = await beside(event["size"], response_object, response)
        await self._write(COMPLETE, request, user, event, config)
        return response

    async def refused(self, handler: Handler, request: Request) -> Response:
        """Log a request that gets no further than the handler's refusal: nobody knows
        whose it is, and there is one event.
        """
        info = request.info
        config = (
            AuditConfig(NONE) if info is None else self._policy.evaluate(None, info)
        )
        if config.level == NONE:
            return await handler(request)
        event: Object = {"received": self._clock.micro_timestamp()}
        response = await handler(request)
        event["size"] = _size(request, response)
        event["status"] = response_status(response)
        if config.level == REQUEST_RESPONSE:
            event["response"] = await beside(event["size"], response_object, response)
        await self._write(STARTED, request, None, event, config)
        return response

    async def _panicked(
        self,
        error: Exception,
        request: Request,
        user: UserInfo | None,
        event: Object,
        config: AuditConfig,
    ) -> None:
        status = {
            "metadata": {},
            "status": "Failure",
            "message": f"GenericAPIServer panic'd: {error}",
        }
        event["status"] = {**status, "reason": "InternalError", "code": 500}
        await self._write(PANIC, request, user, event, config)

    async def _until_closed(
        self,
        stream: AsyncIterator[WatchFrame],
        request: Request,
        user: UserInfo | None,
        event: Object,
        config: AuditConfig,
    ) -> AsyncIterator[WatchFrame]:
        try:
            async for frame in stream:
                yield frame
        except Exception as error:
            await self._panicked(error, request, user, event, config)
            raise
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
            if event["status"]["code"] != 500:
                await self._write(COMPLETE, request, user, event, config)

    async def _write(
        self,
        stage: str,
        request: Request,
        user: UserInfo | None,
        event: Object,
        config: AuditConfig,
    ) -> None:
        if stage in config.omit_stages:
            return
        size = _head_size(request)
        if stage != RECEIVED:
            size += event.get("size", 0)
        with span("apiserver", "audit", audit_stage=stage):
            line = await beside(size, self._line, stage, request, user, event, config)
            waiting = self._sink(line)
            if waiting is not None:
                await waiting

    def _line(
        self,
        stage: str,
        request: Request,
        user: UserInfo | None,
        event: Object,
        config: AuditConfig,
    ) -> bytes:
        info = request.info
        assert info is not None
        line: Object = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": config.level,
            "auditID": request.audit_id,
            "stage": stage,
            "requestURI": request_uri(request),
            "verb": info.verb,
            "user": user_fields(user) if user is not None else {},
        }
        for key in ("impersonatedUser", "authenticationMetadata"):
            if key in event:
                line[key] = event[key]
        line["sourceIPs"] = source_ips(request)
        if agent := user_agent(request):
            line["userAgent"] = agent
        done = stage != RECEIVED
        if info.is_resource_request:
            line["objectRef"] = object_ref(
                request, event.get("request") if done else None
            )
        if done:
            line["responseStatus"] = event.get("status", {})
            for key, field in (
                ("request", "requestObject"),
                ("response", "responseObject"),
            ):
                if event.get(key) is not None and config.level != METADATA:
                    line[field] = (
                        without_managed_fields(event[key])
                        if config.omit_managed_fields
                        else event[key]
                    )
        line["requestReceivedTimestamp"] = event["received"]
        line["stageTimestamp"] = (
            event["received"] if stage == RECEIVED else self._clock.micro_timestamp()
        )
        if stage == COMPLETE and "later" in event:
            event.setdefault("annotations", {}).update(event["later"])
        if stage == COMPLETE and not is_long_running(info):
            took = self._clock.now() - parse_time(event["received"])
            if took > SLOW:
                event.setdefault("annotations", {})[LATENCY_TOTAL] = go_duration(took)
        if done and event.get("annotations"):
            line["annotations"] = dict(sorted(event["annotations"].items()))
        large = event.get("size", 0) > LARGE
        return (fast_json.dumps_in_parts if large else fast_json.dumps)(line)


def _size(request: Request, response: Response) -> int:
    """Bytes of what an event tells of, about."""
    return len(request.body) + len(response.body or b"") + response.size


def _head_size(request: Request) -> int:
    """The same of what every event tells: a header may name a hundred thousand proxies,
    each of which is read.
    """
    return len(request.target) + sum(map(len, request.headers.values()))


def with_audit(handler: Handler, audit: AuditLog | None) -> Handler:
    """Log requests. Without a log the handler stays as it is."""
    if audit is None:
        return handler

    async def audited(request: Request) -> Response:
        return await audit.logged(handler, request)

    return audited


def with_failed_request_audit(refuse: Handler, audit: AuditLog | None) -> Handler:
    """Log what is refused before anybody knows who asks. Without a log the handler
    stays as it is.
    """
    if audit is None:
        return refuse

    async def refused(request: Request) -> Response:
        return await audit.refused(refuse, request)

    return refused


def _timed_out_status(request: Request) -> Object:
    """What a request came to that was cancelled: by its deadline, or because the client
    has gone.
    """
    why = (
        "context deadline exceeded"
        if deadline_exceeded(request)
        else "context canceled"
    )
    message = f"Timeout: request did not complete within requested timeout - {why}"
    return {
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": "Timeout",
        "details": {},
        "code": 504,
    }
