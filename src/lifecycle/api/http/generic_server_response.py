"""What a client makes of an answer that is no success and no `Status`: a load
balancer's page, an empty body.

Upstream: `apimachinery/pkg/api/errors/errors.go` (`NewGenericServerResponse`),
`client-go/rest/request.go` (`transformResponse`, `newUnstructuredResponseError`),
v1.36. Left out: the resource and name that are appended where a request has them.
"""

from __future__ import annotations

from lifecycle.api.go.format import go_quote
from lifecycle.api.status import StatusError, failure

_OF_CODE = {
    400: ("BadRequest", "the server rejected our request for an unknown reason"),
    401: ("Unauthorized", "the server has asked for the client to provide credentials"),
    404: ("NotFound", "the server could not find the requested resource"),
    405: (
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    ),
    422: ("Invalid", "the server rejected our request due to an error in our request"),
    429: (
        "TooManyRequests",
        "the server has received too many requests and has asked us to try again later",
    ),
    503: ("ServiceUnavailable", "the server is currently unable to handle the request"),
    504: (
        "Timeout",
        (
            "the server was unable to return a response in the time allotted, but may"
            " still be processing the request"
        ),
    ),
}
_REASON_OF_CODE = {403: "Forbidden", 415: "UnsupportedMediaType"}


def generic_server_response(
    code: int, server_message: str = "unknown", *, method: str = ""
) -> StatusError:
    """The error for a status code; `server_message` is the body where it was text. Only
    some codes repeat it.
    """
    if code in _REASON_OF_CODE:
        return failure(code, _REASON_OF_CODE[code], server_message)
    if code == 406:
        words = (
            "the server was unable to respond with a content type that the client"
            " supports"
        )
        return failure(
            code,
            "NotAcceptable",
            words if server_message in ("", "unknown") else server_message,
        )
    if code == 409:
        return failure(
            code,
            "AlreadyExists" if method == "POST" else "Conflict",
            "the server reported a conflict",
        )
    if code in _OF_CODE:
        return failure(code, *_OF_CODE[code])
    if code >= 500:
        words = (
            f"an error on the server ({go_quote(server_message)}) has prevented the"
            " request from succeeding"
        )
        return failure(code, "InternalError", words)
    return failure(
        code,
        "",
        f"the server responded with the status code {code} but did not return more"
        " information",
    )
