"""A refusal as an answer.

Stages of the chain answer; they do not raise. An exception would fly past the outer
filters, and those have work to do on every answer: the audit log has to note it, flow
control to add its headers. So a stage that refuses turns its `StatusError` into a
`Response`.

Upstream: `apiserver/pkg/endpoints/handlers/responsewriters/errors.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Response
from lifecycle.api.status import StatusError

CAUSES = 3
"""So many bytes of a refusal are there for each of its message, which tells again what
each of the causes says.
"""


def refuse(error: StatusError) -> Response:
    """The answer that carries an error's `Status`, with `Retry-After` where the Status
    asks for it.
    """
    size = CAUSES * len(error.status.get("message") or "")
    response = Response(status=error.code, obj=error.status, size=size)
    seconds = (error.status.get("details") or {}).get("retryAfterSeconds")
    if seconds:
        response.headers["Retry-After"] = str(seconds)
    return response
