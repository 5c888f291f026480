"""One request in an old version: the same in today's, and its answer in the old one.

Bodies and answers are JSON here, whatever the client would rather have. A patch of what
has another form cannot be passed on: the object is fetched, patched in its old form,
and written back, as often as somebody else was quicker.

Upstream: what the scheme's conversions do when objects are decoded and encoded,
`apimachinery/pkg/runtime/serializer/versioning/versioning.go`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from lifecycle.api import fast_json, status
from lifecycle.api.http.wire import Handler, Object, Request, Response, WatchFrame
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.status import StatusError
from lifecycle.apiserver.emulation.conversions import Conversion
from lifecycle.apiserver.endpoints.bodies import parse_body
from lifecycle.apiserver.endpoints.negotiation import JSON
from lifecycle.apiserver.endpoints.patch_bodies import parse_patch

MERGE_PATCHES = frozenset(
    {"application/merge-patch+json", "application/strategic-merge-patch+json"}
)
JSON_PATCH = "application/json-patch+json"
ATTEMPTS = 5


def _json_only(accept: str) -> str:
    """The clauses of an Accept header that ask for JSON, tables among them."""
    clauses = [c.strip() for c in accept.split(",") if c.strip().startswith(JSON)]
    return ",".join(clauses) or JSON


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip()


class Translated:
    """Requests for one resource. `old`: its group and version as the client says it."""

    def __init__(self, old: str, conversion: Conversion, handler: Handler) -> None:
        self._old = old
        self._conversion = conversion
        self._handler = handler

    async def serve(self, request: Request) -> Response:
        """Raises StatusError 415 for a patch that cannot be translated."""
        if request.method == "PATCH" and not self._conversion.same_form:
            return await self._patch(request)
        sent = self._today(request)
        # what a JSON patch says of fields holds in both versions
        patched = _content_type(request) == JSON_PATCH and request.method == "PATCH"
        if request.body and not patched:
            sent = self._with_body(sent, self._to_served(self._sent(request)))
        return self._answer(await self._handler(sent))

    # -- there -------------------------------------------------------------------------

    def _sent(self, request: Request) -> Object:
        """What came. A patch is read as what it is, JSON or an applied configuration in
        YAML.
        """
        content_type = _content_type(request)
        if request.method == "PATCH" and content_type.endswith("+json"):
            content_type = JSON
        elif request.method == "PATCH":
            content_type = "application/yaml"
        headers = {**request.headers, "content-type": content_type}
        parsed, _ = parse_body(
            replace(request, headers=headers), "", field_validation="Ignore"
        )
        return parsed if isinstance(parsed, dict) else {}

    def _today(self, request: Request) -> Request:
        """The same in today's version, to be answered in JSON."""
        old, new = f"/apis/{self._old}", f"/apis/{self._conversion.served}"
        headers = dict(request.headers)
        headers["accept"] = _json_only(headers.get("accept", ""))
        return replace(
            request,
            path=request.path.replace(old, new, 1),
            target=request.target.replace(old, new, 1),
            headers=headers,
            requested_version=self._old,
        )

    def _with_body(self, request: Request, obj: Object) -> Request:
        headers = dict(request.headers)
        if request.method != "PATCH":
            headers["content-type"] = JSON
        return replace(request, headers=headers, body=fast_json.dumps(obj))

    def _to_served(self, obj: Object) -> Object:
        """What is of another version is not for us to understand. Raises StatusError
        422.
        """
        if obj.get("apiVersion") != self._old:
            return obj
        if errors := self._conversion.validate(obj):
            kind, name = obj.get("kind", ""), (obj.get("metadata") or {}).get("name")
            causes = [error.cause() for error in errors]
            raise status.invalid(kind, name or "", causes, self._old.partition("/")[0])
        return {
            **self._conversion.to_served(obj),
            "apiVersion": self._conversion.served,
        }

    # -- and back ----------------------------------------------------------------------

    def _to_old(self, obj: Object) -> Object:
        if obj.get("kind") == "Table":
            rows = [
                {**row, "object": self._to_old(row["object"])}
                if row.get("object")
                else row
                for row in obj.get("rows") or ()
            ]
            return {**obj, "rows": rows}
        if obj.get("kind") == "Status":
            return self._refusal(obj)
        if obj.get("apiVersion") != self._conversion.served:
            return obj
        if "items" in obj:
            items = [self._conversion.to_old(item) for item in obj["items"] or ()]
            return {**obj, "apiVersion": self._old, "items": items}
        return {**self._conversion.to_old(obj), "apiVersion": self._old}

    def _refusal(self, obj: Object) -> Object:
        """A refusal names the group that was asked."""
        served, old = (
            each.partition("/")[0] for each in (self._conversion.served, self._old)
        )
        if served == old or not obj.get("details", {}).get("group"):
            return obj
        message = obj.get("message", "").replace(f".{served}", f".{old}")
        details = {**obj["details"], "group": old}
        return {**obj, "message": message, "details": details}

    def _answer(self, response: Response) -> Response:
        if response.stream is not None:
            return replace(response, stream=self._frames(response.stream))
        if response.obj is not None:
            return replace(response, obj=self._to_old(response.obj))
        content_type = response.headers.get("Content-Type", "")
        if response.body and content_type.startswith(JSON):
            obj = self._to_old(fast_json.loads(response.body))
            return replace(response, body=fast_json.dumps(obj) + b"\n")
        return response

    async def _frames(
        self, stream: AsyncIterator[WatchFrame]
    ) -> AsyncIterator[WatchFrame]:
        try:
            async for frame in stream:
                obj = frame.object
                yield WatchFrame(frame.type, self._to_old(obj), size=frame.size)
        finally:
            close = getattr(stream, "aclose", None)
            if close is not None:
                await close()

    # -- patches of another form -------------------------------------------------------

    async def _patch(self, request: Request) -> Response:
        content_type = _content_type(request)
        if content_type not in (*MERGE_PATCHES, JSON_PATCH):
            message = (
                f"patches of {self._old} in {content_type} are not translated here:"
                " send a merge patch, a JSON patch, or the whole object"
            )
            raise status.failure(415, "UnsupportedMediaType", message)
        patch, _ = parse_patch(content_type, request.body)
        for _ in range(ATTEMPTS):
            response = await self._patched_once(request, patch)
            if response.status != 409:
                break
        return response

    async def _patched_once(self, request: Request, patch: Any) -> Response:
        no_body = {k: v for k, v in request.headers.items() if k != "content-type"}
        plain = {**no_body, "accept": JSON}
        read = replace(request, method="GET", headers=plain, query={}, body=b"")
        answer = await self.serve(read)
        current = answer.obj or fast_json.loads(answer.body or b"{}")
        if answer.status != 200:
            return answer
        apply = apply_merge_patch if isinstance(patch, dict) else apply_json_patch
        patched = apply(current, patch)
        written = replace(
            request,
            method="PUT",
            headers={**no_body, "content-type": JSON},
            body=fast_json.dumps(patched),
        )
        return await self.serve(written)


def refusal(error: StatusError) -> Response:
    """A StatusError as an answer."""
    body = fast_json.dumps(error.status) + b"\n"
    return Response(error.code, {"Content-Type": JSON}, body=body)
