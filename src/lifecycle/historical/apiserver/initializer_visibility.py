"""What an uninitialized object looks like from outside: not at all, unless one asks for
it. A model, see `initializers`.

Lists, watches and gets leave out what is not initialized; with
`includeUninitialized=true` they show it, and the list of those that are still to come
as `metadata.initializers`. To a watch an object begins to exist when it has been
initialized. Who creates an object waits as long. If an initializer writes a `result`
instead, the object is deleted and the result is the answer.

Upstream: `apiserver/pkg/registry/generic/registry/store.go` (`WaitForInitialized`,
`shouldDeleteForFailedInitialization`), `apiserver/pkg/storage/selection_predicate.go`
(`IncludeUninitialized`), v1.13. Left out: discovery of `initializerconfigurations`,
which are kept in memory; tables and protobuf of anything.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.query_params import bool_parameter
from lifecycle.api.http.wire import Handler, Object, Request, Response, WatchFrame
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.patch.json_patch import apply_json_patch
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.status import (
    StatusError,
    already_exists,
    bad_request,
    failure,
    internal_error,
    not_found,
    success,
)
from lifecycle.historical.apiserver.initializers import state_of, with_state

GROUP_VERSION = "admissionregistration.k8s.io/v1alpha1"
PLURAL = "initializerconfigurations"
KIND = "InitializerConfiguration"
JSON_PATCH = "application/json-patch+json"


class InitializerVisibility:
    """Stands between the handler chain and what serves the API. It serves the
    InitializerConfigurations itself and keeps them in `configurations`, by name.
    """

    def __init__(
        self,
        inner: Handler,
        configurations: dict[str, Object],
        clock: Clock,
        names: NameSource,
    ) -> None:
        self._inner, self._kept = inner, configurations
        self._clock, self._names = clock, names
        self._revision = 0

    async def __call__(self, request: Request) -> Response:
        """Answer a request. Raises StatusError."""
        info = request.info
        if info is None or not info.is_resource_request:
            return await self._inner(request)
        if f"{info.group}/{info.version}" == GROUP_VERSION and info.resource == PLURAL:
            return self._configurations(request)
        include = bool(bool_parameter(request.query, "includeUninitialized"))
        if info.subresource:
            return await self._inner(request)
        if info.verb == "create":
            return await self._create(request, include)
        if info.verb == "update":
            return await self._update(request)
        if info.verb == "patch":
            return await self._patch(request)
        if info.verb in ("get", "list", "watch"):
            return await self._read(request, include)
        return await self._inner(request)

    # -- reads -------------------------------------------------------------------------

    async def _read(self, request: Request, include: bool) -> Response:
        info = request.info
        assert info is not None
        request.accepts_object = True
        response = await self._inner(request)
        if response.stream is not None:
            response.stream = _watched(response.stream, include)
            response.encode_frame = None
        elif response.obj is not None and response.status < 400:
            if "items" in response.obj and info.verb == "list":
                items = [
                    item
                    for item in response.obj["items"]
                    if include or state_of(item) is None
                ]
                response.obj = {
                    **response.obj,
                    "items": [shown(item) for item in items],
                }
            elif not include and state_of(response.obj) is not None:
                raise not_found(info.resource, info.name, info.group)
            else:
                response.obj = shown(response.obj)
        return response

    # -- writes ------------------------------------------------------------------------

    async def _create(self, request: Request, include: bool) -> Response:
        request.obj, request.accepts_object = _inward(_body(request)), True
        response = await self._inner(request)
        created = response.obj
        if created is None or response.status >= 400 or state_of(created) is None:
            return response
        if not include and request.param("dryRun") != "All":
            created = await self._until_initialized(request, created)
        return Response(response.status, response.headers, obj=shown(created))

    async def _until_initialized(self, request: Request, created: Object) -> Object:
        """The object once all have done their work; the request's own minute ends the
        wait.

        Raises StatusError: what an initializer said.
        """
        info = request.info
        assert info is not None
        meta = created["metadata"]
        query = {
            "fieldSelector": [f"metadata.name={meta['name']}"],
            "resourceVersion": [meta["resourceVersion"]],
        }
        watch = replace(
            request, method="GET", obj=None, body=b"", headers={}, accepts_object=True,
            query=query,
            info=replace(info, verb="watch", field_selector=query["fieldSelector"][0]),
        )  # fmt: skip
        response = await self._inner(watch)
        assert response.stream is not None
        try:
            async for frame in response.stream:
                state = state_of(frame.object) or {}
                if state.get("result"):
                    raise StatusError(
                        {"kind": "Status", "apiVersion": "v1", **state["result"]}
                    )
                if frame.type == "DELETED":
                    raise internal_error(
                        "object deleted while waiting for initialization"
                    )
                if not state:
                    return frame.object
        finally:
            await response.stream.aclose()  # type: ignore[attr-defined]
        what = f"{info.resource}.{info.group}" if info.group else info.resource
        message = (
            f"Timeout: server has timed out waiting for the initialization of {what}"
            f" {meta['name']}"
        )
        raise failure(504, "Timeout", message, {})

    async def _update(self, request: Request) -> Response:
        """A new version. One that says why initialization failed is written, and then
        the object is deleted.
        """
        request.obj, request.accepts_object = _inward(_body(request)), True
        response = await self._inner(request)
        if response.obj is None or response.status >= 400:
            return response
        state = state_of(response.obj)
        if state is not None and state.get("result"):
            info = request.info
            assert info is not None
            doomed = replace(
                request, method="DELETE", obj=None, body=b"", headers={},
                query={"gracePeriodSeconds": ["0"]},
                info=replace(info, verb="delete"),
            )  # fmt: skip
            await self._inner(doomed)
        return Response(response.status, response.headers, obj=shown(response.obj))

    async def _patch(self, request: Request) -> Response:
        """Of what is not initialized a patch is worked out here: the registry does not
        know the field it is about.
        """
        info = request.info
        assert info is not None
        read = replace(
            request,
            method="GET",
            obj=None,
            body=b"",
            headers={},
            query={},
            accepts_object=True,
        )
        read.info = replace(info, verb="get")
        live = (await self._inner(read)).obj
        kind = request.headers.get("content-type", "").partition(";")[0]
        if (
            live is None
            or state_of(live) is None
            or kind.endswith(("apply-patch+yaml", "apply-patch+cbor"))
        ):
            return await self._inner(request)
        patch: Any = (
            request.obj if request.obj is not None else fast_json.loads(request.body)
        )
        whole = shown(live)
        request.obj = (
            apply_json_patch(whole, patch)
            if kind == JSON_PATCH
            else apply_merge_patch(whole, patch)
        )
        request.method, request.body, request.headers = (
            "PUT",
            b"",
            {"content-type": "application/json"},
        )
        request.info = replace(info, verb="update")
        return await self._update(request)

    # -- InitializerConfiguration ------------------------------------------------------

    def _configurations(self, request: Request) -> Response:
        info, found = request.info, self._kept
        assert info is not None
        if info.verb == "list":
            meta = {"resourceVersion": str(self._revision)}
            items = [found[name] for name in sorted(found)]
            return Response(
                200,
                obj={
                    "kind": f"{KIND}List",
                    "apiVersion": GROUP_VERSION,
                    "metadata": meta,
                    "items": items,
                },
            )
        if info.verb == "create":
            obj = _body(request)
            name = obj.get("metadata", {}).get("name", "")
            if name in found:
                raise already_exists(PLURAL, name, "admissionregistration.k8s.io")
            return Response(201, obj=self._keep(obj))
        if info.name not in found:
            raise not_found(PLURAL, info.name, "admissionregistration.k8s.io")
        if info.verb == "get":
            return Response(200, obj=found[info.name])
        if info.verb == "update":
            return Response(200, obj=self._keep({**_body(request)}))
        if info.verb == "delete":
            del found[info.name]
            return Response(
                200,
                obj=success(
                    {
                        "name": info.name,
                        "group": "admissionregistration.k8s.io",
                        "kind": PLURAL,
                    }
                ),
            )
        raise failure(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource",
            {},
        )

    def _keep(self, obj: Object) -> Object:
        self._revision += 1
        meta = {
            "uid": self._names.uid(),
            "creationTimestamp": self._clock.timestamp(),
            **obj["metadata"],
            "resourceVersion": str(self._revision),
        }
        kept = self._kept[meta["name"]] = {
            "kind": KIND,
            "apiVersion": GROUP_VERSION,
            **obj,
            "metadata": meta,
        }
        return kept


def shown(obj: Object) -> Object:
    """A stored object with its list as the field it once was."""
    state = state_of(obj)
    if state is None:
        return obj
    outward = dict(obj)
    with_state(outward, None)
    outward["metadata"] = {**outward["metadata"], "initializers": state}
    return outward


def _inward(obj: Object) -> Object:
    """A posted object with the field as what the registry keeps."""
    meta = obj.get("metadata") or {}
    if "initializers" not in meta:
        return obj
    inward = {
        **obj,
        "metadata": {
            key: value for key, value in meta.items() if key != "initializers"
        },
    }
    if meta["initializers"] is not None:
        with_state(inward, meta["initializers"])
    return inward


def _body(request: Request) -> Object:
    obj = request.obj
    if obj is None:
        try:
            obj = fast_json.loads(request.body)
        except fast_json.JSONDecodeError:
            raise bad_request(
                "the object provided is unrecognized (must be of type JSON)"
            ) from None
    if not isinstance(obj, dict):
        raise bad_request("the object provided is unrecognized (must be of type JSON)")
    request.body = b""
    return obj


async def _watched(
    stream: AsyncIterator[WatchFrame], include: bool
) -> AsyncIterator[WatchFrame]:
    """A watch in which objects appear when they have been initialized."""
    hidden: set[str] = set()
    try:
        async for frame in stream:
            uid = (frame.object.get("metadata") or {}).get("uid", "")
            if state_of(frame.object) is None:
                appeared = uid in hidden and frame.type == "MODIFIED" and not include
                hidden.discard(uid)
                yield WatchFrame("ADDED", frame.object) if appeared else frame
                continue
            hidden.add(uid)
            if include:
                yield WatchFrame(frame.type, shown(frame.object))
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
