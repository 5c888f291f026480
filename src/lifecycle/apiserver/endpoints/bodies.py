"""What a client sent, as data: JSON, YAML or protobuf.

Upstream: `apimachinery/pkg/runtime/serializer/json/json.go` (`Decode`), `apiserver/pkg/endpoints/handlers/create.go`, v1.36.
"""

from __future__ import annotations

import json
from typing import Any

import orjson
import yaml

from lifecycle.api import protobuf, status
from lifecycle.api.schema.duplicates import find_duplicate_fields
from lifecycle.api.wire import Object, Request

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"


def parse_body(request: Request, kind: str, *, duplicates: bool) -> tuple[Any, list[str]]:
    """The body as data, and the duplicate fields in it (only looked for on request).

    Raises StatusError 400 for text that cannot be read, 415 for a media type nobody speaks.
    """
    if request.obj is not None:
        return request.obj, []
    media_type = request.headers.get("content-type", JSON).partition(";")[0].strip() or JSON
    body = request.body
    if media_type == JSON:
        return _parse_json(body, kind, duplicates=duplicates)
    if media_type == PROTOBUF:
        try:
            return protobuf.decode(body), []
        except ValueError as error:
            raise _unrecognized(kind, f"{error}") from None
    if media_type == YAML:
        try:
            return yaml.load(body, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)), []
        except yaml.YAMLError as error:
            raise _unrecognized(kind, f"couldn't get version/kind; json parse error: {error}") from None
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )
    raise status.failure(415, "UnsupportedMediaType", message)


def _parse_json(body: bytes, kind: str, *, duplicates: bool) -> tuple[Any, list[str]]:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _unrecognized(
            kind, f"couldn't get version/kind; json parse error: {json_complaint(body)} ({_shown(body)})"
        ) from None
    if not isinstance(parsed, dict):
        what = {list: "array", str: "string", bool: "bool", type(None): "null"}.get(type(parsed), "number")
        target = (
            'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
        )
        complaint = f"json: cannot unmarshal {what} into Go value of type {target}"
        raise _unrecognized(kind, f"couldn't get version/kind; json parse error: {complaint} ({body[:16].hex()})")
    return parsed, find_duplicate_fields(body, parsed) if duplicates else []


def _unrecognized(kind: str, why: str) -> status.StatusError:
    return status.bad_request(f"the object provided is unrecognized (must be of type {kind}): {why}")


def _shown(body: bytes) -> str:
    """A short, readable piece of the body, as upstream adds it: text that looks like JSON as it is, all else in hex."""
    if body[:1] == b"{":
        text = body.decode("utf-8", "replace")
        return text if len(text) <= 1024 else text[:1024] + " ..."
    return body[:1024].hex()


def json_complaint(body: bytes) -> str:
    """What Go's JSON decoder says of a text that is not JSON."""
    text = body.decode("utf-8", "replace")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            return "unexpected end of JSON input"
        char = text[error.pos]
        shown = "'\\''" if char == "'" else "'\"'" if char == '"' else f"'{char}'"
        where = {
            "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
            "Illegal trailing comma before end of object": "looking for beginning of object key string",
            "Expecting ':' delimiter": "after object key",
            "Extra data": "after top-level value",
            "Invalid control character at": "in string literal",
        }.get(error.msg)
        if where is None and error.msg == "Expecting ',' delimiter":
            in_array = text[: error.pos].count("[") > text[: error.pos].count("]")
            where = "after array element" if in_array else "after object key:value pair"
        return f"invalid character {shown} {where or 'looking for beginning of value'}"
    return "invalid character"


def delete_options(request: Request) -> Object:
    """`DeleteOptions` from the body and the query; the body wins. Raises StatusError 400."""
    options: Object = {}
    for key in ("gracePeriodSeconds", "propagationPolicy", "orphanDependents"):
        text = request.param(key)
        if text:
            options[key] = (
                _number(key, text) if key == "gracePeriodSeconds" else text == "true" if key[0] == "o" else text
            )
    if request.obj or request.body:
        given, _ = parse_body(request, "DeleteOptions", duplicates=False)
        if not isinstance(given, dict):
            raise _unrecognized("DeleteOptions", "expected an object")
        options |= given
    return options


def _number(key: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise status.bad_request(f'{key}: Invalid value: "{text}": must be an integer') from None
