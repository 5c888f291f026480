"""What an audit event says about a request and its answer: the pieces, each made from
what a stage of the chain can see.

Upstream: `apiserver/pkg/audit/request.go` (`LogRequestMetadata`, `LogRequestObject`,
`copyWithoutManagedFields`), `format.go` (`EventString`),
`apimachinery/pkg/util/net/http.go` (`SourceIPs`), v1.36.
"""

from __future__ import annotations

import ipaddress
from typing import Any
from urllib.parse import urlencode

from lifecycle.api import fast_json
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, Request, Response, UserInfo

MAX_USER_AGENT = 1024
TRUNCATED = "...TRUNCATED"
WITHOUT_BODY = ("patch", "delete", "deletecollection")
"""Verbs whose body is not the object itself, and so says nothing about it."""


def user_fields(user: UserInfo) -> Object:
    """A user, without what is empty."""
    fields: Object = {"username": user.name} if user.name else {}
    if user.uid:
        fields["uid"] = user.uid
    if user.groups:
        fields["groups"] = list(user.groups)
    if user.extra:
        fields["extra"] = {
            key: list(values) for key, values in sorted(user.extra.items())
        }
    return fields


def request_uri(request: Request) -> str:
    """Path and query as they were sent. A request from inside this process was never
    written down: its keys come in order.
    """
    if request.target:
        return request.target
    pairs = [
        (key, value)
        for key, values in sorted(request.query.items())
        for value in values
    ]
    return f"{request.path}?{urlencode(pairs)}" if pairs else request.path


def user_agent(request: Request) -> str:
    """What the client calls itself, if need be cut short."""
    agent = request.headers.get("user-agent", "")
    return agent if len(agent) <= MAX_USER_AGENT else agent[:MAX_USER_AGENT] + TRUNCATED


def source_ips(request: Request) -> list[str]:
    """Where a request came from: what proxies say first, and last the one thing nobody
    can make up, the peer's address.
    """
    ips: list[str] = []
    for part in request.headers.get("x-forwarded-for", "").split(","):
        if address := _address(part.strip()):
            ips.append(address)
    real = _address(request.headers.get("x-real-ip", ""))
    if real and real not in ips:
        ips.append(real)
    peer = _address(request.remote_addr) or request.remote_addr
    if peer and ips[-1:] != [peer]:
        ips.append(peer)
    return ips


def _address(text: str) -> str:
    try:
        return str(ipaddress.ip_address(text))
    except ValueError:
        return ""


def object_ref(request: Request, posted: Any) -> Object:
    """What the request is about; `posted` (None before it was read) adds what the URL
    leaves open.
    """
    info = request.info
    assert info is not None
    metadata: Object = {}
    if isinstance(posted, dict) and info.verb not in WITHOUT_BODY:
        metadata = posted.get("metadata") or {}
    fields = (
        ("resource", info.resource),
        ("namespace", info.namespace or metadata.get("namespace", "")),
        ("name", info.name or metadata.get("name", "")),
        ("uid", metadata.get("uid", "")),
        ("apiGroup", info.group),
        ("apiVersion", info.version),
        ("resourceVersion", metadata.get("resourceVersion", "")),
        ("subresource", info.subresource),
    )
    return {key: value for key, value in fields if value}


def response_status(response: Response) -> Object:
    """The code, and the whole `Status` if the answer is one."""
    obj = response.obj
    if obj is not None and obj.get("kind") == "Status":
        fields = {
            key: obj[key]
            for key in ("metadata", "status", "message", "reason", "details")
            if obj.get(key) is not None
        }
        return {**fields, "code": response.status}
    return {"metadata": {}, "code": response.status}


def response_object(response: Response) -> Any:
    """The answer, if it is an API object. Other documents (`/version`, OpenAPI, a page
    of text) are never logged.
    """
    if response.obj is not None:
        return response.obj
    document = decoded(response.body or b"")
    return document if isinstance(document, dict) and "kind" in document else None


def decoded(body: bytes) -> Any:
    """A body of JSON; None for any other."""
    if body[:1] not in (b"{", b"["):  # a JSON patch is a list
        return None
    try:
        return fast_json.loads(body)
    except fast_json.JSONDecodeError:
        return None


def without_managed_fields(obj: Any) -> Any:
    """A copy of an object, a list or a table that does not say who set which field."""
    if not isinstance(obj, dict):
        return obj
    meta = obj.get("metadata")
    if isinstance(meta, dict) and "managedFields" in meta:
        obj = {
            **obj,
            "metadata": {
                key: value for key, value in meta.items() if key != "managedFields"
            },
        }
    if isinstance(obj.get("items"), list):
        obj = {**obj, "items": [without_managed_fields(item) for item in obj["items"]]}
    if obj.get("kind") == "Table" and isinstance(obj.get("rows"), list):
        rows = [
            {**row, "object": without_managed_fields(row.get("object"))}
            for row in obj["rows"]
        ]
        obj = {**obj, "rows": rows}
    return obj


def event_string(event: Object) -> str:
    """An event in a line of plain text: `--audit-log-format=legacy`."""
    user, other = event.get("user") or {}, event.get("impersonatedUser")
    groups = (
        _quoted(user["groups"])
        if user.get("username") and user.get("groups")
        else "<none>"
    )
    as_groups = (
        _quoted(other["groups"]) if other and other.get("groups") else "<lookup>"
    )
    status = event.get("responseStatus")
    fields = (
        ("id", event["auditID"]),
        ("stage", event["stage"]),
        ("ip", (event.get("sourceIPs") or ["<unknown>"])[0]),
        ("method", event["verb"]),
        ("user", user.get("username") or "<none>"),
        ("groups", groups),
        ("as", other.get("username", "") if other else "<self>"),
        ("asgroups", as_groups),
        ("user-agent", event.get("userAgent", "")),
        ("namespace", (event.get("objectRef") or {}).get("namespace") or "<none>"),
        ("uri", event["requestURI"]),
        (
            "response",
            str(status.get("code", 0)) if status is not None else "<deferred>",
        ),
    )
    time = _nanoseconds(event["requestReceivedTimestamp"])
    return f"{time} AUDIT: " + " ".join(
        f"{name}={go_quote(value)}" for name, value in fields
    )


def _nanoseconds(micro_time: str) -> str:
    """Go's RFC3339Nano: without zeros at the end of the fraction."""
    whole, _, fraction = micro_time.removesuffix("Z").partition(".")
    fraction = fraction.rstrip("0")
    return f"{whole}.{fraction}Z" if fraction else f"{whole}Z"


def _quoted(texts: list[str]) -> str:
    return ",".join(map(go_quote, texts))
