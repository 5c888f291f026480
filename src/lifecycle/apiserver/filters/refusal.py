"""A refusal as an answer.

Stages of the chain answer; they do not raise. An exception would fly past the outer
filters, and those have work to do on every answer: the audit log has to note it, flow
control to add its headers. So a stage that refuses turns its `StatusError` into a
`Response`.

Upstream: `apiserver/pkg/endpoints/handlers/responsewriters/errors.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.status import StatusError
from lifecycle.api.wire import Response


def refuse(error: StatusError) -> Response:
    """The answer that carries an error's `Status`, with `Retry-After` where the Status
    asks for it.
    """
    response = Response(status=error.code, obj=error.status)
    seconds = (error.status.get("details") or {}).get("retryAfterSeconds")
    if seconds:
        response.headers["Retry-After"] = str(seconds)
    return response
