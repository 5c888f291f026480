"""What a client sent, as data: JSON, YAML or protobuf.

Upstream: `apimachinery/pkg/runtime/serializer/json/json.go` (`Decode`), `apiserver/pkg/endpoints/handlers/create.go`, v1.36.
"""

from __future__ import annotations

from typing import Any

import orjson

from lifecycle.api import protobuf, status
from lifecycle.api.field_errors import invalid, not_supported
from lifecycle.api.schema import decode
from lifecycle.api.schema.duplicates import find_duplicate_fields
from lifecycle.api.wire import Object, Request
from lifecycle.apiserver.endpoints.options import bool_option, check_dry_run, int_option, refuse_options
from lifecycle.apiserver.json_complaint import json_complaint
from lifecycle.apiserver.yaml_input import from_yaml

JSON, YAML, PROTOBUF = "application/json", "application/yaml", "application/vnd.kubernetes.protobuf"
POLICIES = ("Foreground", "Background", "Orphan")


def parse_body(request: Request, kind: str, *, duplicates: bool) -> tuple[Any, list[str]]:
    """The body as data, and the duplicate fields in it (only looked for on request).

    Raises StatusError 400 for text that cannot be read, 415 for a media type nobody speaks.
    """
    if request.obj is not None:
        return request.obj, []
    media_type = request.headers.get("content-type", JSON).partition(";")[0].strip() or JSON
    body = request.body
    if media_type == JSON:
        parsed = _parse_json(body, kind)
        return parsed, find_duplicate_fields(body, parsed) if duplicates else []
    if media_type == PROTOBUF:
        try:
            return protobuf.decode(body), []
        except ValueError as error:
            raise _unrecognized(kind, f"{error}", body) from None
    if media_type == YAML:
        try:
            parsed, strict = from_yaml(body)
        except ValueError as error:
            raise _unrecognized(
                kind, f"couldn't get version/kind; json parse error: error converting YAML to JSON: {error}", body
            ) from None
        return _only_objects(parsed, body, kind), strict if duplicates else []
    message = (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )
    raise status.failure(415, "UnsupportedMediaType", message)


def _parse_json(body: bytes, kind: str) -> Object:
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError:
        why = f"couldn't get version/kind; json parse error: {json_complaint(body)}"
        raise _unrecognized(kind, why, body) from None
    return _only_objects(parsed, body, kind)


def _only_objects(parsed: Any, body: bytes, kind: str) -> Object:
    if isinstance(parsed, dict):
        return parsed
    if parsed is None:  # Go decodes null into an object without fields
        return {}
    what = {list: "array", str: "string", bool: "bool"}.get(type(parsed), "number")
    target = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'
    complaint = f"json: cannot unmarshal {what} into Go value of type {target}"
    raise _unrecognized(kind, f"couldn't get version/kind; json parse error: {complaint}", body)


def _unrecognized(kind: str, why: str, body: bytes) -> status.StatusError:
    return status.bad_request(
        f"the object provided is unrecognized (must be of type {kind}): {why} ({summarize_data(body)})"
    )


def summarize_data(body: bytes, limit: int = 30) -> str:
    """A short, readable piece of a body: text that looks like JSON as it is, all else in hex."""
    if not body:
        return "<empty>"
    more = " ..." if len(body) > limit else ""
    if body[:1] == b"{":
        return body[:limit].decode("utf-8", "replace") + more
    return body[:limit].hex() + more


def read_delete_options(request: Request) -> Object:
    """`DeleteOptions` from the body or, without one, from the query. Raises StatusError 400, 415, 422."""
    if request.obj or request.body:
        given, _ = parse_body(request, "DeleteOptions", duplicates=False)
        options, _ = decode(given, "v1", "DeleteOptions")
    else:
        options = {
            "gracePeriodSeconds": int_option(request, "gracePeriodSeconds"),
            "orphanDependents": bool_option(request, "orphanDependents"),
            "propagationPolicy": request.param("propagationPolicy") or None,
            "dryRun": request.query.get("dryRun", []),
        }
    policy, errors = options.get("propagationPolicy"), check_dry_run(options.get("dryRun") or [])
    if policy is not None and options.get("orphanDependents") is not None:
        detail = "orphanDependents and deletionPropagation cannot be both set"
        errors.insert(0, invalid("propagationPolicy", policy, detail))
    if policy is not None and policy not in POLICIES:
        errors.insert(0, not_supported("propagationPolicy", policy, [*POLICIES, "nil"]))
    refuse_options("DeleteOptions", errors)
    return options
