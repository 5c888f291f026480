"""What a request for a connection asks for, as an object.

A connection has no body to read. What is wanted stands in the query (`?command=ls`) or
in the rest of the path (`/proxy/healthz`). Upstream makes an object of it all the same,
`PodExecOptions` and five others: so admission can be asked about a connection as it is
asked about everything else, and a webhook reads which command somebody wants to run in
which container.

Upstream: `apiserver/pkg/endpoints/handlers/get.go` (`getRequestOptions`),
`pkg/apis/core/v1/zz_generated.conversion.go` (`Convert_url_Values_To_v1_PodExecOptions`
…), `apimachinery/pkg/conversion/queryparams`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api import status
from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Object, RequestInfo

STREAMS = ("stdin", "stdout", "stderr", "tty")
PATH_KINDS = frozenset({"NodeProxyOptions", "PodProxyOptions", "ServiceProxyOptions"})
STREAM_KINDS = frozenset({"PodAttachOptions", "PodExecOptions"})
CONNECTING = PATH_KINDS | STREAM_KINDS | {"PodPortForwardOptions"}
"""The kinds of all subresources that are connections."""

Query = Mapping[str, Sequence[str]]


def connect_options(kind: str, query: Query, info: RequestInfo) -> Object:
    """The options in their normal form: what is empty is left out. Other parameters
    mean nothing. Raises StatusError 400 for a port that is no number of 16 bits.
    """
    options: Object = {"kind": kind, "apiVersion": "v1"}
    if kind in PATH_KINDS:
        values: Object = {"path": proxied_path(info)}
    elif kind in STREAM_KINDS:
        values = {key: bool_parameter(query, key) for key in STREAMS}
        values["container"] = next(iter(query.get("container", ())), "")
        if kind == "PodExecOptions":
            values["command"] = list(query.get("command", ()))
    else:
        values = {"ports": _ports(query.get("ports", ()))}
    return options | {key: value for key, value in values.items() if value}


def proxied_path(info: RequestInfo) -> str:
    """What comes after `/proxy`: empty, or beginning with a slash; with one at its end
    if the request's path has one.
    """
    path = "/".join(info.parts[3:])
    if path and not path.startswith("/"):
        path = "/" + path
    if info.path.endswith("/") and not path.endswith("/"):
        path += "/"
    return path


def _ports(values: Sequence[str]) -> list[int]:
    return [_port(text) for value in values for text in value.split(",")]


def _port(text: str) -> int:
    digits = text.isascii() and text.isdigit()
    if digits and int(text[-20:]) < 1 << 16 and not text[:-20].strip("0"):
        return int(text)
    why = "value out of range" if digits else "invalid syntax"
    raise status.bad_request(
        f'cannot convert to []int32: strconv.ParseUint: parsing "{text}": {why}'
    )
