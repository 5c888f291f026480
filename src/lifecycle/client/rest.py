"""The client every component uses to talk to the API server.

Controllers, the scheduler and the kubelet know nothing of the server but this: typed
verbs over a `Transport`. The in-process transport hands the request to the server's own
handler chain; the HTTPS one sends it over a socket. A component cannot tell them apart.

Upstream: `client-go/rest/request.go` (`Request`), `client-go/dynamic/interface.go`
(`ResourceInterface`), v1.36.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError

JSON_PATCH = "application/json-patch+json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"

REQUEST_ERRORS = (StatusError, OSError, EOFError)
"""What a request may raise: the server refused, or the way to it broke, and then nobody
knows whether it was done. Whoever works on regardless catches all of it.
"""


class Transport(Protocol):
    """Sends a request, returns the answer; a watch's answer has a `stream`."""

    async def round_trip(self, request: Request) -> Response:
        """Send, and return the answer, whatever its status."""
        ...

    async def close(self) -> None:
        """Release connections."""
        ...


class Client:
    """Verbs over a transport.

    Every method raises `StatusError` with the server's `Status` when it refuses.
    Objects returned may be shared with caches: copy before changing. `user_agent` names
    the component; the server derives the default field manager from it, as upstream
    does (the part before the first `/`).
    """

    def __init__(
        self,
        transport: Transport,
        user_agent: str,
        *,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.transport = transport
        self.headers = {"user-agent": user_agent, **(headers or {})}

    def new_request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | list[str]] | None = None,
        obj: Any = None,
        body: bytes = b"",
        content_type: str = "application/json",
        accept: str = "",
        accepts_object: bool = True,
    ) -> Request:
        """A request with this client's headers; parameters without a value are left
        out.

        `obj` is sent as JSON (in process: as it is), `body` as the bytes it is.
        `accepts_object`: in process the answer may be the object itself, whatever form
        `accept` asks for. Upstream: `NewRequest` and the methods of `Request`.
        """
        headers = self.headers
        if accept:
            headers = {**headers, "accept": accept}
        if obj is not None or body:
            headers = {**headers, "content-type": content_type}
        return Request(
            method=method,
            path=path,
            query={
                key: [value] if isinstance(value, str) else value
                for key, value in (query or {}).items()
                if value
            },
            headers=headers,
            obj=obj,
            body=body,
            accepts_object=accepts_object,
        )

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | list[str]] | None = None,
        obj: Any = None,
        content_type: str = "application/json",
    ) -> Response:
        """Any request. Raises StatusError for an answer of 400 or more."""
        response = await self.transport.round_trip(
            self.new_request(
                method, path, query=query, obj=obj, content_type=content_type
            )
        )
        if response.status >= 400:
            raise StatusError(
                response.obj
                or {"code": response.status, "message": (response.body or b"").decode()}
            )
        return response

    async def _object(
        self,
        method: str,
        path: str,
        query: dict[str, str],
        obj: Any = None,
        content_type: str = "application/json",
    ) -> Object:
        response = await self.request(
            method, path, query=query, obj=obj, content_type=content_type
        )
        return response.obj or {}

    async def get(
        self,
        resource: Resource,
        name: str,
        namespace: str = "",
        *,
        subresource: str = "",
    ) -> Object:
        """One object."""
        return await self._object(
            "GET", resource.path(namespace, name, subresource), {}
        )

    async def list(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
        limit: int = 0,
        cont: str = "",
        resource_version: str = "",
    ) -> Object:
        """A `…List` object: `items`, and `metadata` with `resourceVersion` and perhaps
        `continue`.
        """
        query = {
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
            "limit": str(limit) if limit else "",
            "continue": cont,
            "resourceVersion": resource_version,
        }
        return await self._object("GET", resource.path(namespace), query)

    async def create(
        self,
        resource: Resource,
        obj: Object,
        namespace: str = "",
        *,
        name: str = "",
        subresource: str = "",
        field_manager: str = "",
    ) -> Object:
        """The object as stored. `name` and `subresource` for creates such as
        `pods/NAME/binding`.
        """
        return await self._object(
            "POST",
            resource.path(namespace, name, subresource),
            {"fieldManager": field_manager},
            obj,
        )

    async def update(
        self,
        resource: Resource,
        obj: Object,
        *,
        subresource: str = "",
        field_manager: str = "",
    ) -> Object:
        """Replace; conflicts if `metadata.resourceVersion` is given and not current."""
        meta = obj["metadata"]
        path = resource.path(meta.get("namespace", ""), meta["name"], subresource)
        return await self._object("PUT", path, {"fieldManager": field_manager}, obj)

    async def patch(
        self,
        resource: Resource,
        name: str,
        namespace: str,
        patch: Any,
        *,
        patch_type: str = MERGE_PATCH,
        subresource: str = "",
        field_manager: str = "",
        force: bool = False,
    ) -> Object:
        """Patch one object or subresource; `APPLY_PATCH` is server-side apply."""
        query = {"fieldManager": field_manager, "force": "true" if force else ""}
        return await self._object(
            "PATCH",
            resource.path(namespace, name, subresource),
            query,
            patch,
            patch_type,
        )

    async def delete(
        self,
        resource: Resource,
        name: str,
        namespace: str = "",
        *,
        uid: str = "",
        resource_version: str = "",
        grace_period: int | None = None,
        propagation: str = "",
    ) -> Object:
        """Delete; the answer is a `Status` or, while finalizers or a grace period hold
        it, the object.
        """
        options: Object = {"kind": "DeleteOptions", "apiVersion": "v1"}
        preconditions = {
            k: v for k, v in (("uid", uid), ("resourceVersion", resource_version)) if v
        }
        if preconditions:
            options["preconditions"] = preconditions
        if grace_period is not None:
            options["gracePeriodSeconds"] = grace_period
        if propagation:
            options["propagationPolicy"] = propagation
        return await self._object("DELETE", resource.path(namespace, name), {}, options)

    async def delete_collection(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> Object:
        """Delete everything that the selectors match."""
        query = {"labelSelector": label_selector, "fieldSelector": field_selector}
        return await self._object("DELETE", resource.path(namespace), query)

    async def watch(
        self,
        resource: Resource,
        namespace: str = "",
        *,
        resource_version: str = "",
        label_selector: str = "",
        field_selector: str = "",
        bookmarks: bool = True,
        timeout_seconds: int = 0,
        send_initial_events: bool = False,
    ) -> AsyncIterator[WatchFrame]:
        """Open a watch; iterate the result for frames. An expired revision arrives as
        an `ERROR` frame holding a 410 `Status`.
        """
        query = {
            "watch": "true",
            "resourceVersion": resource_version,
            "labelSelector": label_selector,
            "fieldSelector": field_selector,
            "allowWatchBookmarks": "true" if bookmarks else "",
            "timeoutSeconds": str(timeout_seconds) if timeout_seconds else "",
            "sendInitialEvents": "true" if send_initial_events else "",
            "resourceVersionMatch": "NotOlderThan" if send_initial_events else "",
        }
        response = await self.request("GET", resource.path(namespace), query=query)
        assert response.stream is not None
        return response.stream
