"""`agnhost crd-conversion-webhook`: converts between two versions of one kind of custom
object. What is `hostPort: "A:B"` in v1, is `host: A` and `port: B` in v2.

Upstream: `test/images/agnhost/crd-conversion-webhook` (`converter/framework.go`,
`converter/example_converter.go`), v1.36. Left out: its log, and YAML.
"""

from __future__ import annotations

import json
from typing import Any

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.agnhost.flags import Default, Flags
from lifecycle.cri.hollow.agnhost.servers import NOT_FOUND, split_target
from lifecycle.cri.hollow.agnhost.tls_files import TLS_FLAGS, tls_of_flags
from lifecycle.cri.hollow.process.process import Process

FLAGS: dict[str, Default] = {**TLS_FLAGS, "port": 443}
KINDS = frozenset({"apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"})
V1, V2 = "stable.example.com/v1", "stable.example.com/v2"


class ConversionError(Exception):
    """Why an object stays as it is."""


def convert(obj: Object, version: str) -> Object:
    """A copy in another version. Raises ConversionError."""
    found = obj.get("apiVersion", "")
    if found == version:
        raise ConversionError(
            f"conversion from a version to itself should not call the webhook: {found}"
        )
    if found not in (V1, V2):
        raise ConversionError(f"unexpected conversion version {go_quote(found)}")
    if version not in (V1, V2):
        raise ConversionError(f"unexpected conversion version {go_quote(version)}")
    converted = {**obj, "apiVersion": version}
    if version == V2 and "hostPort" in obj:
        parts = converted.pop("hostPort").split(":")
        if len(parts) != 2:
            raise ConversionError(f"invalid hostPort value `{obj['hostPort']}`")
        converted |= {"host": parts[0], "port": parts[1]}
    if version == V1 and ("host" in obj or "port" in obj):
        pair = converted.pop("host", ""), converted.pop("port", "")
        converted["hostPort"] = ":".join(map(str, pair))
    return converted


def _response(request: Object) -> dict[str, Any]:
    version = request["desiredAPIVersion"]
    try:
        converted = [convert(obj, version) for obj in request["objects"]]
    except ConversionError as error:
        status = {"metadata": {}, "status": "Failure", "message": str(error)}
        return {"convertedObjects": None, "result": status}
    status = {"metadata": {}, "status": "Success"}
    return {"convertedObjects": converted, "result": status}


async def answer(request: HTTPRequest) -> HTTPAnswer:
    """The review with its response."""
    path, _ = split_target(request)
    if path == "/readyz":
        return HTTPAnswer(200, "ok")
    if path != "/crdconvert":
        return NOT_FOUND
    kind = request.header("Content-Type")
    if kind != "application/json":
        return HTTPAnswer(400, f"invalid Content-Type header `{kind}`\n")
    try:
        review = json.loads(request.body)
        known = review["kind"] == "ConversionReview" and review["apiVersion"] in KINDS
    except (ValueError, TypeError, KeyError) as error:
        return HTTPAnswer(400, f"failed to deserialize body with error {error}\n")
    if not known:
        what = f"{review['apiVersion']}, Kind={review['kind']}"
        return HTTPAnswer(400, f"Unsupported group version kind: {what}\n")
    response = {"uid": review["request"]["uid"], **_response(review["request"])}
    said = {**review, "request": {}, "response": response}
    return HTTPAnswer(200, json.dumps(said), content_type="application/json")


async def crd_conversion_webhook(process: Process, flags: Flags) -> int:
    """Serves until it is ended."""
    tls = await tls_of_flags(process, flags)
    process.serve(flags.number("port"), answer, tls)
    await process.sleep(float("inf"))
    return 0
