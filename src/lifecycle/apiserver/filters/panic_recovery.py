"""Panic recovery: one request's bug is one request's 500.

The outermost stage. A `StatusError` that got this far is an ordinary refusal and
becomes its answer; anything else is a bug in the server, is logged with its traceback,
and the client learns no more than that something went wrong. Where upstream's code has
a bug of its own, the client gets what it gets there: a closed connection. A library
that is not installed is no bug; whoever needed it is told its name.

Upstream: `apiserver/pkg/server/filters/wrap.go` (`WithPanicRecovery`), v1.36.
"""

from __future__ import annotations

import logging

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.late_import import LibraryMissingError
from lifecycle.api.loop.spent_error import spend
from lifecycle.api.status import PanicError, StatusError, internal_error
from lifecycle.apiserver.endpoints.document import text
from lifecycle.apiserver.filters.refusal import refuse

MESSAGE = "This request caused apiserver to panic. Look in the logs for details."

log = logging.getLogger(__name__)


def with_panic_recovery(handler: Handler) -> Handler:
    """Answer whatever happens. Cancellation passes through: the client has gone or the
    server stops.
    """

    async def panic_recovery(request: Request) -> Response:
        try:
            return await handler(request)
        except StatusError as error:
            return _spent(error, request)
        except PanicError as error:  # upstream's bug, which its clients know
            log.warning("panic on %s %s: %s", request.method, request.path, error)
            raise
        except LibraryMissingError as error:
            return refuse(internal_error(str(error)))
        except Exception as error:
            log.exception("apiserver panic'd on %s %s", request.method, request.path)
            spend(error, len(request.body))
            return text(f"{MESSAGE}\n", 500)

    return panic_recovery


def with_status_errors(handler: Handler) -> Handler:
    """The innermost stage: what the API handler raises becomes an answer, which every
    filter can then see and mark.
    """

    async def status_errors(request: Request) -> Response:
        try:
            return await handler(request)
        except StatusError as error:
            return _spent(error, request)

    return status_errors


def _spent(error: StatusError, request: Request) -> Response:
    response = refuse(error)
    spend(error, max(response.size, len(request.body)))
    return response
