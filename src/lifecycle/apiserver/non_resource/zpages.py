"""Pages about the server itself, `/statusz` and `/flagz`: text for people, an object
for programs that ask for it by name.

The text is on purpose not meant to be parsed: each server puts another sign between
names and values. An object is to be had only as the kind and in a version that the
request names, `application/json;as=Statusz;v=v1beta1;g=config.k8s.io`, and in JSON in
no other way.

Upstream: `apiserver/pkg/server/{statusz,flagz}/negotiate/negotiation.go`
(`AllowsMediaTypeTransform`), `textserializer.go`, v1.36. Left out: CBOR.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.names import NameSource
from lifecycle.api.status import failure
from lifecycle.apiserver.endpoints.document import text
from lifecycle.apiserver.endpoints.negotiation import JSON, YAML, encode

COMPONENT = "apiserver"
GROUP = "config.k8s.io"
VERSIONS = ("v1alpha1", "v1beta1")
DELIMITERS = (":", ": ", "=", " ")
HEAD = (
    "Warning: This endpoint is not meant to be machine parseable, has no formatting"
    " compatibility guarantees and is for debugging purposes only."
)


def serve_page(
    request: Request, kind: str, page: Callable[[], str], body: Callable[[], Object]
) -> Response:
    """The page, or the kind with this body in the form asked for; or 406, in JSON also
    for those who would rather have protobuf, which these pages do not speak.
    """
    header = request.headers.get("accept", "").strip() or "*/*"
    for clause in header.split(","):
        media_type, *parameters = (part.strip() for part in clause.split(";"))
        params = dict(part.split("=", 1) for part in parameters if "=" in part)
        if media_type in ("text/plain", "text/*", "*/*") and "as" not in params:
            return text(page())
        requested = params.get("g"), params.get("as")
        if (
            media_type in (JSON, YAML)
            and requested == (GROUP, kind)
            and params.get("v") in VERSIONS
        ):
            if params["v"] == "v1alpha1":
                endpoint = kind.lower()
                request.warnings.append(
                    f"This version of the {endpoint} endpoint is deprecated. Please use"
                    " a newer version."
                )
            head = {
                "kind": kind,
                "apiVersion": f"{GROUP}/{params['v']}",
                "metadata": {"name": COMPONENT},
            }
            content_type, encoded = encode({**head, **body()}, media_type)
            return Response(headers={"Content-Type": content_type}, body=encoded)
    accepted = ", ".join((JSON, YAML, "text/plain"))
    refusal = failure(
        406, "NotAcceptable", f"only the following media types are accepted: {accepted}"
    )
    content_type, encoded = encode(refusal.status, JSON)
    return Response(406, {"Content-Type": content_type}, body=encoded)


def delimiter(names: NameSource) -> str:
    """The sign between a name and its value, this time."""
    return DELIMITERS[int(names.uid()[0], 16) % len(DELIMITERS)]
