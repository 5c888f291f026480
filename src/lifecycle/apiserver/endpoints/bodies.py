"""What a client sent, as data: JSON, YAML or protobuf.

Upstream: `apimachinery/pkg/runtime/serializer/json/json.go` (`Decode`),
`apiserver/pkg/endpoints/handlers/create.go`, v1.36.
"""

from __future__ import annotations

import re
from typing import Any

from lifecycle.api import protobuf, status
from lifecycle.api.go.json.decode import wrong_type
from lifecycle.api.go.yaml_reader import read_yaml, unmarshal_errors
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.schema.decode import CannotBeHandledError, decode
from lifecycle.api.schema.duplicates import find_duplicate_fields
from lifecycle.apiserver.endpoints.options import bool_option, int_option
from lifecycle.apiserver.http.json_bodies import read_json
from lifecycle.apiserver.registry.deletion import check_delete_options

JSON, YAML, PROTOBUF = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
)
_NO_KIND = "couldn't get version/kind; json parse error: "
_TOKEN = r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_PARAMETERS = re.compile(
    rf'(?:\s*;\s*{_TOKEN}\s*=\s*(?:{_TOKEN}|"(?:[^"\\]|\\.)*"))*\s*;?\s*'
)
_OPTIONS_SCHEME = "pkg/apis/meta/internalversion/scheme/register.go:27"


def parse_body(
    request: Request, kind: str, *, field_validation: str
) -> tuple[Any, list[str]]:
    """The body as data, and the duplicate fields in it, if they are not ignored: each
    to warn of, or what will be said of them all.

    Raises StatusError 400 for text that cannot be read, 415 for a media type nobody
    speaks.
    """
    if request.obj is not None:
        return request.obj, []
    media_type, body = (
        media_type_of(request.headers.get("content-type", "")),
        request.body,
    )
    try:
        parsed, strict_errors = _parse(media_type, body, field_validation)
    except ValueError as error:
        raise status.bad_request(
            f"the object provided is unrecognized (must be of type {kind}): {error}"
            f" ({summarize_data(body)})"
        ) from None
    return parsed, strict_errors


def media_type_of(header: str) -> str:
    """The media type a `Content-Type` names; JSON without one. Raises StatusError 415.
    Upstream: Go's `mime.ParseMediaType`.
    """
    if not header:
        return JSON
    media_type = header.partition(";")[0].strip().lower()
    if media_type in (JSON, YAML, PROTOBUF) and _PARAMETERS.fullmatch(
        header, len(header.partition(";")[0])
    ):
        return media_type
    message = (
        "the body of the request was in an unknown format - accepted media types"
        " include: application/json, application/yaml,"
        " application/vnd.kubernetes.protobuf"
    )
    raise status.failure(415, "UnsupportedMediaType", message)


def _parse(
    media_type: str, body: bytes, field_validation: str
) -> tuple[Object, list[str]]:
    """Raises ValueError with what upstream's decoder says."""
    if media_type == PROTOBUF:
        return protobuf.decode(body), []
    if media_type == YAML:
        parsed, complaints = read_yaml(body)
        if complaints and field_validation == "Strict":
            complaints = [unmarshal_errors(complaints)]
        return _identified(parsed), complaints if field_validation != "Ignore" else []
    try:
        parsed = read_json(body)
    except ValueError as error:
        raise ValueError(f"{_NO_KIND}{error}") from None
    return _identified(parsed), (
        find_duplicate_fields(body, parsed) if field_validation != "Ignore" else []
    )


def _identified(parsed: Any) -> Object:
    """An object whose version and kind can be read. Upstream:
    `SimpleMetaFactory.Interpret`.
    """
    if parsed is None:  # Go decodes null into an object without fields
        return {}
    if not isinstance(parsed, dict):
        target = (
            'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string'
            ' "json:\\"kind,omitempty\\"" }'
        )
        raise ValueError(f"{_NO_KIND}{wrong_type(parsed, target)}")
    for key, value in parsed.items():
        if key in ("apiVersion", "kind") and not isinstance(value, str | None):
            complaint = wrong_type(value, "string", f".{key}")
            raise ValueError(f"{_NO_KIND}{complaint}")
    version = parsed.get("apiVersion") or ""
    if version.count("/") > 1:
        raise ValueError(f"unexpected GroupVersion string: {version}")
    return parsed


def summarize_data(body: bytes, limit: int = 30) -> str:
    """A short, readable piece of a body: text that looks like JSON as it is, all else
    in hex.
    """
    if not body:
        return "<empty>"
    more = " ..." if len(body) > limit else ""
    if body[:1] == b"{":
        return body[:limit].decode("utf-8", "replace") + more
    return body[:limit].hex() + more


def read_delete_options(request: Request) -> Object:
    """`DeleteOptions` from the body or, without one, from the query. Raises StatusError
    400, 415, 422.
    """
    if request.obj:
        options, _ = decode(request.obj, "v1", "DeleteOptions")
    elif request.body:
        options = _decode_delete_options(request)
    else:
        options = {
            "gracePeriodSeconds": int_option(request, "gracePeriodSeconds"),
            "orphanDependents": bool_option(request, "orphanDependents"),
            "propagationPolicy": request.param("propagationPolicy") or None,
            "dryRun": request.query.get("dryRun", []),
        }
    check_delete_options(options)
    return options


def _decode_delete_options(request: Request) -> Object:
    """The options in a body: a group of their own, and errors without a word about
    where they come from.
    """
    media_type = media_type_of(request.headers.get("content-type", ""))
    try:
        sent, _ = _parse(media_type, request.body, "Ignore")
    except ValueError as error:
        raise status.bad_request(str(error)) from None
    kind, version = (
        sent.get("kind") or "DeleteOptions",
        sent.get("apiVersion") or "v1",
    )
    if kind != "DeleteOptions":
        raise status.bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme'
            f' "{_OPTIONS_SCHEME}"'
        )
    try:
        options, _ = decode(sent, version, kind)
    except CannotBeHandledError as error:
        raise status.bad_request(error.why) from None
    return options
