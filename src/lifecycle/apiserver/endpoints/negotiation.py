"""In which form an answer goes out.

A client lists the forms it takes (`Accept`), best first. The server speaks JSON, YAML
and the Kubernetes protobuf encoding, and can turn an object into a Table (what `kubectl
get` prints) or into its bare metadata. A media type it does not speak is passed over;
if none is left, the answer is 406.

Upstream: `apiserver/pkg/endpoints/handlers/negotiation/negotiate.go`,
`handlers/response.go` (`transformResponseObject`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from lifecycle.api import fast_json, protobuf
from lifecycle.api.bounded_cache import short_first_cache, short_lru_cache
from lifecycle.api.go.yaml import to_yaml_bytes
from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.loop.worker import LARGE
from lifecycle.api.status import StatusError, failure
from lifecycle.apiserver.http.frames import json_frame

JSON, YAML, PROTOBUF = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
)
MEDIA_TYPES = (JSON, YAML, PROTOBUF)
META_GROUP = "meta.k8s.io"
META_VERSION = "meta.k8s.io/v1"
CONVERSIONS = ("Table", "PartialObjectMetadata", "PartialObjectMetadataList")
HUMAN_AGENTS = ("curl", "Wget", "Mozilla/5.0")
"""How browsers and command line tools begin their `User-Agent`."""

GO_TRUE = ("1", "t", "T", "TRUE", "true", "True")
"""What `strconv.ParseBool` takes for true."""

AS_PUBLISHED = ("/openapi/", "/.well-known/", "/openid/")
"""Paths of documents that are published as bytes."""


@dataclass(slots=True, frozen=True)
class Accepted:
    """The form agreed on. `kind` is the conversion asked for, or empty; `version` that
    of its group. `pretty`: `;pretty=1`.
    """

    media_type: str
    kind: str = ""
    version: str = "v1"
    pretty: bool = False

    @property
    def api_version(self) -> str:
        """Of the conversion."""
        return f"{META_GROUP}/{self.version}"


@short_first_cache(512)
def parse_accept(
    header: str, allow_conversions: bool, streaming: bool, tables: bool = True
) -> Accepted | None:
    """The first acceptable clause, or None. `tables`: whether what is served has
    columns.
    """
    for clause in _by_quality(header):
        media_type, _, rest = clause.partition(";")
        media_type = media_type.strip()
        parameters = dict(
            part.strip().partition("=")[::2] for part in rest.split(";") if part.strip()
        )
        kind = parameters.get("as", "")
        if kind and not (
            allow_conversions
            and kind in CONVERSIONS
            and parameters.get("g") == META_GROUP
            and parameters.get("v") in ("v1", "v1beta1")
        ):
            continue
        if media_type in ("*/*", "application/*", ""):
            media_type = JSON
        if media_type not in MEDIA_TYPES or (streaming and media_type == YAML):
            continue
        if media_type == PROTOBUF and kind == "Table":
            continue  # a Table has no protobuf form
        if kind == "Table" and not tables:
            continue
        version, pretty = (
            parameters["v"] if kind else "v1",
            parameters.get("pretty") == "1",
        )
        return Accepted(media_type, kind, version, pretty)
    return None


def _by_quality(header: str) -> list[str]:
    clauses = [clause for clause in header.split(",") if clause.strip()]
    if "q=" not in header:
        return clauses

    def quality(clause: str) -> float:
        for part in clause.split(";")[1:]:
            name, _, value = part.strip().partition("=")
            if name == "q":
                try:
                    return -float(value)
                except ValueError:
                    return 0.0
        return -1.0

    return sorted(clauses, key=quality)


def negotiate(
    request: Request,
    *,
    conversions: bool = True,
    streaming: bool = False,
    tables: bool = True,
) -> Accepted:
    """The form for a request. Raises StatusError 406."""
    header = request.headers.get("accept", "") or "*/*"
    accepted = (
        parse_accept(header, conversions, streaming, tables)
        if is_routed(header)
        else None
    )
    if accepted is None:
        is_list = request.info is not None and request.info.verb in ("list", "watch")
        raise not_acceptable(header, streaming=streaming, is_list=is_list)
    return accepted


@short_lru_cache(512)
def is_routed(header: str) -> bool:
    """Whether the router lets a request through: it compares whole media types, and
    knows no wildcard but one.
    """
    return any(
        clause.partition(";")[0].strip() in (*MEDIA_TYPES, "*/*")
        for clause in header.split(",")
    )


def not_acceptable(
    header: str, *, streaming: bool = False, is_list: bool = True
) -> StatusError:
    """406, with the forms there are: from the router if no media type fits, from the
    handler if just the conversion does not.
    """
    streams = [f"{media_type};stream=watch" for media_type in (JSON, PROTOBUF)]
    if is_routed(header):
        types = streams if streaming else MEDIA_TYPES
        return failure(
            406,
            "NotAcceptable",
            f"only the following media types are accepted: {', '.join(types)}",
        )
    available = ", ".join([*MEDIA_TYPES, *(streams if is_list else ())])
    message = f"406: Not Acceptable\n\nAvailable representations: {available}"
    return failure(406, "NotAcceptable", message, {})


def encode(obj: Object, media_type: str, size: int = 0) -> tuple[str, bytes]:
    """Media type and bytes of an object, which has about `size` of them; JSON where the
    wished form does not exist for its kind.
    """
    if media_type == PROTOBUF and protobuf.is_supported(
        obj.get("apiVersion", ""), obj.get("kind", "")
    ):
        return PROTOBUF, protobuf.encode(obj)
    if media_type == YAML:
        return YAML, to_yaml_bytes(obj)
    if (
        obj.get("kind", "").endswith("List")
        and "items" in obj
        and obj.get("apiVersion") != META_VERSION
    ):
        obj = {
            **obj,
            "items": [
                {k: v for k, v in item.items() if k not in ("kind", "apiVersion")}
                for item in obj["items"]
            ],
        }
    if size > LARGE:
        return JSON, b"".join((fast_json.dumps_in_parts(obj), b"\n"))
    return JSON, fast_json.dumps(obj, option=fast_json.OPT_APPEND_NEWLINE)


def finish(request: Request, response: Response) -> Response:
    """The answer with bytes instead of an object, for the wire."""
    if response.body is None:
        if response.obj is None:
            response.body = b""
            return response
        convertible = (
            response.obj.get("kind") != "Status"
        )  # a refusal is never turned into anything else
        accepted = parse_accept(
            request.headers.get("accept", "") or "*/*", convertible, False
        )
        media_type, response.body = encode(
            response.obj, accepted.media_type if accepted else JSON, response.size
        )
        response.headers["Content-Type"] = media_type
    media_type = response.headers.get("Content-Type", "").partition(";")[0]
    if (
        media_type == JSON
        and response.body
        and not response.verbatim
        and is_pretty(request)
    ):
        response.body = fast_json.dumps(
            fast_json.loads(response.body), option=fast_json.OPT_INDENT_2
        )
    return response


def is_pretty(request: Request) -> bool:
    """Whether JSON is indented for this client: it says so, or a human looks at its
    screen.

    `?pretty` alone decides nothing, and what is no boolean to Go is false. Documents
    that no serializer writes stay as they are. Upstream:
    `handlers/negotiation/negotiate.go` (`isPrettyPrint`).
    """
    if request.path.startswith(AS_PUBLISHED):
        return False
    header = request.headers.get("accept", "")
    if "pretty=1" in header:
        accepted = parse_accept(header, True, False)
        if accepted is not None and accepted.pretty:
            return True
    pretty = request.param("pretty")
    return (
        pretty in GO_TRUE
        if pretty
        else request.headers.get("user-agent", "").startswith(HUMAN_AGENTS)
    )


def protobuf_frame(frame: WatchFrame) -> bytes:
    """One length-delimited event of a protobuf watch."""
    return protobuf.encode_watch_frame(frame.type, frame.object)


def frame_encoder(accepted: Accepted) -> tuple[str, Callable[[WatchFrame], bytes]]:
    """Content type of a watch, and what encodes its frames."""
    if accepted.media_type == PROTOBUF:
        return f"{PROTOBUF};stream=watch", protobuf_frame
    return JSON, json_frame
