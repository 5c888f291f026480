"""`metav1.Status`: how the API says no.

A stage that refuses raises `StatusError`; the server turns it into the answer, an
in-process client sees the exception itself. The messages are part of the API: kubectl
prints them word for word.

Upstream: `apimachinery/pkg/api/errors/errors.go` (`NewNotFound`, `NewAlreadyExists`,
`NewConflict`, `NewInvalid` …), v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object


class StatusError(Exception):
    """A refusal, carrying the whole `Status` object."""

    def __init__(self, status: Object) -> None:
        super().__init__(status.get("message", ""))
        self.status = status

    @property
    def code(self) -> int:
        """The HTTP status code."""
        return int(self.status.get("code", 500))

    @property
    def reason(self) -> str:
        """The machine-readable reason, e.g. `NotFound`."""
        return str(self.status.get("reason", ""))

    @property
    def message(self) -> str:
        """What kubectl prints."""
        return str(self.status.get("message", ""))


class PanicError(Exception):
    """A request that upstream's own code does not survive: the client gets no answer,
    its connection is closed. Upstream: `apimachinery/pkg/util/runtime` (`HandleCrash`
    panics again once it has logged).
    """


def failure(
    code: int, reason: str, message: str, details: Object | None = None
) -> StatusError:
    """A `Status` of kind Failure. `details=None` leaves the key out, as upstream does
    where it sets none.
    """
    status: Object = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
    }
    if not reason:
        del status["reason"]
    if details is not None:
        status["details"] = details
    status["code"] = code
    return StatusError(status)


def qualified(resource: str, group: str) -> str:
    """`deployments.apps`, or plain `pods` for the core group. Upstream:
    `GroupResource.String`.
    """
    return f"{resource}.{group}" if group else resource


def _details(name: str, group: str, kind: str) -> Object:
    details: Object = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    details["kind"] = kind
    return details


def not_found(resource: str, name: str, group: str = "") -> StatusError:
    """404 for an object that is not there."""
    return failure(
        404,
        "NotFound",
        f"{qualified(resource, group)} {go_quote(name)} not found",
        _details(name, group, resource),
    )


def already_exists(resource: str, name: str, group: str = "") -> StatusError:
    """409 for a create of a name that is taken."""
    message = f"{qualified(resource, group)} {go_quote(name)} already exists"
    return failure(409, "AlreadyExists", message, _details(name, group, resource))


MODIFIED = (
    "the object has been modified; please apply your changes to the latest version and"
    " try again"
)


def conflict(
    resource: str, name: str, why: str = MODIFIED, group: str = ""
) -> StatusError:
    """409 for a lost race."""
    message = (
        f"Operation cannot be fulfilled on {qualified(resource, group)}"
        f" {go_quote(name)}: {why}"
    )
    return failure(409, "Conflict", message, _details(name, group, resource))


def bad_request(message: str) -> StatusError:
    """400."""
    return failure(400, "BadRequest", message)


def forbidden(resource: str, name: str, why: str, group: str = "") -> StatusError:
    """403 with the authorizer's or admission plugin's reason."""
    message = f"forbidden: {why}"
    if resource:
        message = (
            f"{qualified(resource, group)} {go_quote(name)} is forbidden: {why}"
            if name
            else f"{qualified(resource, group)} is forbidden: {why}"
        )
    return failure(403, "Forbidden", message, _details(name, group, resource))


def unauthorized() -> StatusError:
    """401."""
    return failure(401, "Unauthorized", "Unauthorized")


def gone(message: str) -> StatusError:
    """410: the revision asked for has been compacted away."""
    return failure(410, "Expired", message)


def too_large_resource_version(minimum: int, current: int) -> StatusError:
    """504: a revision from the future was asked for."""
    details: Object = {
        "causes": [
            {
                "reason": "ResourceVersionTooLarge",
                "message": "Too large resource version",
            }
        ],
        "retryAfterSeconds": 1,
    }
    message = f"Timeout: Too large resource version: {minimum}, current: {current}"
    return failure(504, "Timeout", message, details)


def generic_not_found() -> StatusError:
    """404 for a path that means nothing."""
    return failure(
        404, "NotFound", "the server could not find the requested resource", {}
    )


def method_not_allowed() -> StatusError:
    """405."""
    message = "the server does not allow this method on the requested resource"
    return failure(405, "MethodNotAllowed", message, {})


def internal_error(message: str) -> StatusError:
    """500."""
    details: Object = {"causes": [{"message": message}]}
    return failure(500, "InternalError", f"Internal error occurred: {message}", details)


def request_entity_too_large(limit: int) -> StatusError:
    """413: a body over the limit in bytes."""
    return failure(
        413, "RequestEntityTooLarge", f"Request entity too large: limit is {limit}"
    )


def invalid(
    kind: str, name: str, causes: Sequence[Object], group: str = ""
) -> StatusError:
    """422 from field errors. Each cause: `reason` (`FieldValueInvalid` …), `message`
    and `field`.
    """
    parts = list(dict.fromkeys(f"{c['field']}: {c['message']}" for c in causes))
    joined = parts[0] if len(parts) == 1 else "[" + ", ".join(parts) + "]"
    details: Object = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    if causes:
        details["causes"] = list(causes)
    message = f"{qualified(kind, group)} {go_quote(name)} is invalid: {joined}"
    return failure(422, "Invalid", message, details)


def success(details: Object | None = None, **more: Any) -> Object:
    """A `Status` of kind Success, as a delete answers."""
    status: Object = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
    }
    if details is not None:
        status["details"] = details
    status.update(more)
    return status
