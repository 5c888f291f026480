"""The request's audit event, for those who have something to note on it.

Authorization notes its decision, impersonation the second user, admission what a
webhook wants remembered. They do not know whether anybody logs: with the log off (the
default) there is no event, and a note costs one look-up.

Upstream: `apiserver/pkg/audit/context.go` (`AuditContext`, `AddAuditAnnotations`),
`request.go` (`LogImpersonatedUser`, `LogRequestObject`), v1.36.
"""

from __future__ import annotations

from contextvars import ContextVar

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.apiserver.audit.event import user_fields

audit_event: ContextVar[Object | None] = ContextVar(
    "lifecycle_audit_event", default=None
)
"""The event of the request that is served in this context; set by the audit filter."""


def annotate(*pairs: str) -> None:
    """Note keys and values on the request's event, if there is one: `annotate(key,
    value, key, value …)`. A key's first note counts.
    """
    event = audit_event.get()
    if event is not None:
        annotations = event.setdefault("annotations", {})
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            annotations.setdefault(key, value)


def annotate_at_end(key: str, value: str) -> None:
    """Note what stands only in the event of the request's end."""
    event = audit_event.get()
    if event is not None:
        event.setdefault("later", {})[key] = value


def log_impersonated_user(user: UserInfo, constraint: str = "") -> None:
    """Note as whom the request goes on."""
    event = audit_event.get()
    if event is not None:
        event["impersonatedUser"] = user_fields(user)
        if constraint:
            event["authenticationMetadata"] = {"impersonationConstraint": constraint}


def log_request_object(obj: Object) -> None:
    """Note the object as the registry understood it: decoded and defaulted. Without
    this note the event shows what was posted.
    """
    event = audit_event.get()
    if event is not None:
        event["_request"] = fast_json.loads(
            fast_json.dumps(obj)
        )  # as it is now: admission will change it
