"""Audit: who asked for what, when, and what came of it.

One event when a request has been received, one when it has been answered; a watch has one more when its answer begins. The event
is filled in on the way: authorization notes its decision, impersonation the second user. They do not know whether anybody logs;
with the log off (the default) the filter is not even in the chain and a note costs one look-up.

Upstream: `apiserver/pkg/endpoints/filters/audit.go` (`WithAudit`), `authn_audit.go`, `pkg/audit/{context,request}.go`,
`plugin/pkg/audit/log/backend.go`, v1.36. The total latency of slow requests is `apiserver/pkg/server/filters`' `endpoints/filters/audit.go`
(`writeLatencyToAnnotation`). Left out: its parts.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from typing import Any
from urllib.parse import urlencode

import orjson

from lifecycle.api.clock import Clock, parse_time
from lifecycle.api.tracing import span
from lifecycle.api.wire import Handler, Object, Request, Response, UserInfo, WatchFrame
from lifecycle.apiserver.filters.audit_policy import METADATA, NONE, REQUEST_RESPONSE, AuditConfig, AuditPolicy
from lifecycle.apiserver.filters.request_info import is_long_running

RECEIVED = "RequestReceived"
STARTED = "ResponseStarted"
COMPLETE = "ResponseComplete"
PANIC = "Panic"

MAX_USER_AGENT = 1024
TRUNCATED = "...TRUNCATED"
SLOW = 0.5
"""Requests that take longer (seconds) say so in an annotation."""
LATENCY_TOTAL = "apiserver.latency.k8s.io/total"

Sink = Callable[[bytes], None]
"""Takes one event as a line of JSON, without the newline."""

_event: ContextVar[Object | None] = ContextVar("lifecycle_audit_event", default=None)


def annotate(*pairs: str) -> None:
    """Note keys and values on the request's event, if there is one: `annotate(key, value, key, value …)`. A key's first note counts."""
    event = _event.get()
    if event is not None:
        annotations = event.setdefault("annotations", {})
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            annotations.setdefault(key, value)


def annotate_at_end(key: str, value: str) -> None:
    """Note what stands only in the event of the request's end."""
    event = _event.get()
    if event is not None:
        event.setdefault("later", {})[key] = value


def log_impersonated_user(user: UserInfo, constraint: str = "") -> None:
    """Note as whom the request goes on."""
    event = _event.get()
    if event is not None:
        event["impersonatedUser"] = _user(user)
        if constraint:
            event["authenticationMetadata"] = {"impersonationConstraint": constraint}


def log_request_object(obj: Object) -> None:
    """Note the object as the registry understood it: decoded and defaulted. Without this note the event shows what was posted."""
    event = _event.get()
    if event is not None:
        event["_request"] = orjson.loads(orjson.dumps(obj))  # as it is now: admission will change it


class AuditLog:
    """Policy and sink together."""

    def __init__(self, policy: AuditPolicy, sink: Sink, clock: Clock) -> None:
        self._policy = policy
        self._sink = sink
        self._clock = clock

    async def logged(self, handler: Handler, request: Request) -> Response:
        """Call the handler and log the request as the policy wants."""
        info = request.info
        config = AuditConfig(NONE) if info is None else self._policy.evaluate(request.user, info)
        if info is None or config.level == NONE:
            return await handler(request)
        event: Object = {"received": self._clock.micro_timestamp()}
        token = _event.set(event)
        posted: Any = request.obj
        user = request.user  # impersonation replaces it further in
        self._write(RECEIVED, request, user, event, config)
        try:
            response = await handler(request)
        except Exception as error:
            status = {"metadata": {}, "status": "Failure", "message": f"APIServer panic'd: {error}"}
            event["status"] = {**status, "reason": "InternalError", "code": 500}
            self._write(PANIC, request, user, event, config)
            raise
        finally:
            _event.reset(token)
        event["status"] = _response_status(response)
        if config.level in ("Request", REQUEST_RESPONSE):
            event["request"] = event.pop("_request", None) or posted or _decoded(request.body)
        if is_long_running(info):
            self._write(STARTED, request, user, event, config)
        if response.stream is not None:
            response.stream = self._until_closed(response.stream, request, user, event, config)
            return response
        if config.level == REQUEST_RESPONSE:
            event["response"] = response.obj if response.obj is not None else _decoded(response.body or b"")
        self._write(COMPLETE, request, user, event, config)
        return response

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
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()
            self._write(COMPLETE, request, user, event, config)

    def _write(self, stage: str, request: Request, user: UserInfo | None, event: Object, config: AuditConfig) -> None:
        if stage in config.omit_stages:
            return
        info = request.info
        assert info is not None
        line: Object = {
            "kind": "Event",
            "apiVersion": "audit.k8s.io/v1",
            "level": config.level,
            "auditID": request.audit_id,
            "stage": stage,
            "requestURI": _request_uri(request),
            "verb": info.verb,
            "user": _user(user) if user is not None else {},
        }
        for key in ("impersonatedUser", "authenticationMetadata"):
            if key in event:
                line[key] = event[key]
        line["sourceIPs"] = [request.remote_addr]
        agent = request.headers.get("user-agent", "")
        if agent:
            line["userAgent"] = agent if len(agent) <= MAX_USER_AGENT else agent[:MAX_USER_AGENT] + TRUNCATED
        done = stage != RECEIVED
        if info.is_resource_request:
            line["objectRef"] = _object_ref(request, event if done else {}, config)
        if done:
            line["responseStatus"] = event.get("status", {})
            for key, field in (("request", "requestObject"), ("response", "responseObject")):
                if event.get(key) is not None:
                    line[field] = _without_managed_fields(event[key]) if config.omit_managed_fields else event[key]
        line["requestReceivedTimestamp"] = event["received"]
        line["stageTimestamp"] = event["received"] if stage == RECEIVED else self._clock.micro_timestamp()
        if stage == COMPLETE and "later" in event:
            event.setdefault("annotations", {}).update(event["later"])
        if stage == COMPLETE and not is_long_running(info):
            took = self._clock.now() - parse_time(event["received"])
            if took > SLOW:
                event.setdefault("annotations", {})[LATENCY_TOTAL] = go_duration(took)
        if done and event.get("annotations"):
            line["annotations"] = dict(sorted(event["annotations"].items()))
        with span("apiserver", "audit", audit_stage=stage):
            self._sink(orjson.dumps(line))


def with_audit(handler: Handler, audit: AuditLog | None) -> Handler:
    """Log requests. Without a log the handler stays as it is."""
    if audit is None:
        return handler

    async def audited(request: Request) -> Response:
        return await audit.logged(handler, request)

    return audited


def _user(user: UserInfo) -> Object:
    shown: Object = {"username": user.name}
    if user.uid:
        shown["uid"] = user.uid
    if user.groups:
        shown["groups"] = list(user.groups)
    if user.extra:
        shown["extra"] = {key: list(values) for key, values in sorted(user.extra.items())}
    return shown


def _request_uri(request: Request) -> str:
    pairs = [(key, value) for key, values in request.query.items() for value in values]
    return f"{request.path}?{urlencode(pairs)}" if pairs else request.path


def _object_ref(request: Request, event: Object, config: AuditConfig) -> Object:
    """What the request is about; once it is done, also what its object says."""
    info = request.info
    assert info is not None
    posted = event.get("request") if config.level != METADATA else None
    said: Object = (posted.get("metadata") or {}) if isinstance(posted, dict) else {}
    name = info.name or said.get("name", "")
    in_the_body = {} if info.verb in ("patch", "delete", "deletecollection") else said
    fields = (
        ("resource", info.resource),
        ("namespace", info.namespace or said.get("namespace", "")),
        ("name", name),
        ("uid", in_the_body.get("uid", "")),
        ("apiGroup", info.group),
        ("apiVersion", info.version),
        ("resourceVersion", in_the_body.get("resourceVersion", "")),
        ("subresource", info.subresource),
    )
    return {key: value for key, value in fields if value}


def _response_status(response: Response) -> Object:
    """The code, and the whole `Status` if the answer is one."""
    obj = response.obj
    if obj is not None and obj.get("kind") == "Status":
        shown = {
            key: obj[key] for key in ("metadata", "status", "message", "reason", "details") if obj.get(key) is not None
        }
        return {**shown, "code": response.status}
    return {"metadata": {}, "code": response.status}


def _decoded(body: bytes) -> Any:
    if body[:1] not in (b"{", b"["):  # a JSON patch is a list
        return None
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError:
        return None


def go_duration(seconds: float) -> str:
    """Go's way to write a span of time of less than an hour: `612.5ms`, `1.25s`, `2m0.5s`."""
    if seconds < 1:
        return f"{seconds * 1e3:.6f}".rstrip("0").rstrip(".") + "ms"
    minutes, rest = divmod(seconds, 60)
    text = f"{rest:.9f}".rstrip("0").rstrip(".") + "s"
    return f"{int(minutes)}m{text}" if minutes else text


def _without_managed_fields(obj: Any) -> Any:
    if not isinstance(obj, dict):
        return obj
    meta = obj.get("metadata")
    if isinstance(meta, dict) and "managedFields" in meta:
        obj = {**obj, "metadata": {key: value for key, value in meta.items() if key != "managedFields"}}
    if isinstance(obj.get("items"), list):
        obj = {**obj, "items": [_without_managed_fields(item) for item in obj["items"]]}
    return obj
