"""Authentication: from here on the request has a user.

Credentials are taken off the request once they have been looked at, so nothing further
in can leak them. So are the headers in which a front proxy names a user, whoever sent
them.

A request that comes from inside the process brings its user along: `Request.user` is
set by the in-process transport, the counterpart of upstream's loopback client with its
privileged token. There is no way to do that from outside. A socket carries headers and
a certificate, and the HTTPS server makes its `Request` from those alone, always with
`user=None`; nothing a header says ends up in that field.

Upstream: `apiserver/pkg/endpoints/filters/authentication.go` (`WithAuthentication`,
`Unauthorized`), `authentication/authenticatorfactory/loopback.go`, v1.36.
"""

from __future__ import annotations

import logging

from lifecycle.api.http.wire import Handler, Request, Response
from lifecycle.api.status import unauthorized
from lifecycle.api.tracing import span
from lifecycle.apiserver.authn.authenticator import AuthenticationError
from lifecycle.apiserver.authn.union import Authenticator, add_authenticated_group
from lifecycle.apiserver.filters.refusal import refuse

CREDENTIALS = frozenset(
    {"authorization", "x-remote-user", "x-remote-uid", "x-remote-group"}
)
EXTRA_PREFIX = "x-remote-extra-"

log = logging.getLogger(__name__)


def with_authentication(
    handler: Handler, authenticator: Authenticator, failed: Handler | None = None
) -> Handler:
    """Fill in `request.user`, or answer 401 (through `failed`, if given, which the
    audit log wraps).
    """
    unauthorized_handler = failed or answer_unauthorized

    async def authentication(request: Request) -> Response:
        if request.user is not None:
            request.user = add_authenticated_group(request.user)
            return await handler(request)
        with span("apiserver", "authentication") as recorded:
            try:
                identity = await authenticator.authenticate_request(request)
            except AuthenticationError as error:
                log.info("Unable to authenticate the request: %s", error)
                return await unauthorized_handler(request)
            request.user = identity.user
            if recorded is not None:
                recorded.attributes["user"] = identity.user.name
        if any(_of_credentials(key) for key in request.headers):
            request.headers = {
                key: value
                for key, value in request.headers.items()
                if not _of_credentials(key)
            }
        return await handler(request)

    return authentication


def _of_credentials(header: str) -> bool:
    return header in CREDENTIALS or header.startswith(EXTRA_PREFIX)


async def answer_unauthorized(request: Request) -> Response:
    """401, without a word about why."""
    return refuse(unauthorized())
