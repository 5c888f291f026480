"""What clients from outside see of a server that shows the face of an older one.

It stands before the whole chain, and only there: the components of this process go on
speaking today's versions. Discovery lists what the older one listed and what can be
served; requests in a version that is translated are (`translated.py`); what the older
one did not have is not there. Custom resources and added servers pass.

Left out: fields and behaviour. Objects have today's fields, `/openapi/v2` describes
them; admission decides as today, and asks webhooks about today's versions.
"""

from __future__ import annotations

from dataclasses import replace

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Handler, Object, Request, RequestInfo, Response
from lifecycle.api.published import published, published_names
from lifecycle.api.status import StatusError, generic_not_found
from lifecycle.apiserver.emulation.conversions import CONVERSIONS
from lifecycle.apiserver.emulation.served_version import (
    ServedVersion,
    recorded_version,
)
from lifecycle.apiserver.emulation.translated import Translated, refusal
from lifecycle.apiserver.endpoints.document import document, page_not_found
from lifecycle.apiserver.endpoints.negotiation import JSON
from lifecycle.apiserver.filters.request_info import (
    RequestInfoFactory,
    UnknownRequestError,
)
from lifecycle.apiserver.non_resource.discovery import LEGACY, group_names


def _served_today() -> set[tuple[str, str]]:
    """Group and version, and resource, of all that this server has by itself."""
    return {
        (document["groupVersion"], entry["name"])
        for name in published_names(f"{LEGACY}/")
        if (document := published(name)).get("kind") == "APIResourceList"
        for entry in document["resources"]
    }


def servable(recorded: ServedVersion) -> ServedVersion:
    """Of what was recorded, that which can be served here."""
    today = _served_today()

    def can_be(group_version: str, resource: str) -> bool:
        conversion = CONVERSIONS.get((group_version, resource.partition("/")[0]))
        served = group_version if conversion is None else conversion.served
        return (served, resource) in today

    kept = {
        group_version: entries
        for group_version, all_ in recorded.resources.items()
        if (entries := tuple(e for e in all_ if can_be(group_version, e["name"])))
    }
    return replace(recorded, resources=kept)


class Emulator:
    """A handler before the handler. `version`: one of `RECORDED`, or `1.20`. Raises
    UnknownVersion.
    """

    def __init__(self, version: str, handler: Handler) -> None:
        self.served = servable(recorded_version(version))
        self._handler = handler
        self._request_info = RequestInfoFactory()

    async def serve(self, request: Request) -> Response:
        """The answer that the older one would give, in form."""
        try:
            return await self._serve(request)
        except StatusError as error:
            return refusal(error)

    async def _serve(self, request: Request) -> Response:
        path = request.path.rstrip("/") or "/"
        if path == "/version":
            return await self._document(request, self.served.version)
        if path == "/openapi/v3" or path.startswith("/openapi/v3/"):
            return page_not_found()
        if path == "/":
            return await self._root(request)
        if path in ("/api", "/apis"):
            return await self._groups(request, path)
        parts = path.split("/")
        if parts[1] not in ("api", "apis") or not self._is_ours(parts):
            return await self._handler(request)
        if parts[1] == "apis" and len(parts) == 3:
            return await self._group(request, parts[2])
        if len(parts) == (3 if parts[1] == "api" else 4):
            return await self._resources(request, "/".join(parts[2:]))
        return await self._resource(request)

    def _is_ours(self, parts: list[str]) -> bool:
        """Whether a group is built in, today or of old."""
        if parts[1] == "api":
            return True
        return parts[2] in group_names() or parts[2] in self.served.groups()

    # -- discovery ---------------------------------------------------------------------

    async def _document(self, request: Request, obj: Object) -> Response:
        """For whom the chain would give its own, or say that there is none."""
        answer = await self._handler(request)
        return _json(request, obj) if answer.status in (200, 404) else answer

    async def _plain(self, request: Request) -> Object | None:
        """The chain's own answer to it, as a document; None if it refuses."""
        headers = {**request.headers, "accept": JSON}
        answer = await self._handler(replace(request, headers=headers))
        if answer.status != 200:
            return None
        found: Object = answer.obj or fast_json.loads(answer.body or b"{}")
        return found

    async def _root(self, request: Request) -> Response:
        found = await self._plain(request)
        if found is None:
            return await self._handler(request)
        others = [
            path
            for path in found["paths"]
            if not path.startswith("/openapi/v3")
            and not any(path.startswith(f"/apis/{name}") for name in group_names())
        ]
        ours = [f"/apis/{name}" for name in self.served.groups()]
        ours += [f"/apis/{gv}" for gv in self.served.resources if "/" in gv]
        return _json(request, {"paths": sorted({*others, *ours})})

    async def _groups(self, request: Request, path: str) -> Response:
        """`/api` and `/apis`; the aggregated form was not known then."""
        found = await self._plain(request)
        if found is None:
            return await self._handler(request)
        if path == "/apis":
            others = [
                group for group in found["groups"] if group["name"] not in group_names()
            ]
            ours = [self.served.group(name) for name in self.served.groups()]
            found = {**found, "groups": [*ours, *others]}
        return _json(request, found)

    async def _group(self, request: Request, name: str) -> Response:
        if name not in self.served.groups():
            return page_not_found()
        group = self.served.group(name)
        found = {"kind": "APIGroup", "apiVersion": "v1", **group}
        return await self._document(request, found)

    async def _resources(self, request: Request, group_version: str) -> Response:
        if group_version in self.served.resources:
            found = self.served.resource_list(group_version)
            return await self._document(request, found)
        return self._absent(group_version)

    def _absent(self, group_version: str) -> Response:
        """Who knows the group says it as an API does."""
        group, slash, _ = group_version.rpartition("/")
        if slash and group not in self.served.groups():
            return page_not_found()
        raise generic_not_found()

    # -- resources ---------------------------------------------------------------------

    async def _resource(self, request: Request) -> Response:
        info = self._info(request)
        if info is None or not info.is_resource_request:
            return await self._handler(request)
        group_version = "/".join(filter(None, (info.group, info.version)))
        name = "/".join(filter(None, (info.resource, info.subresource)))
        if not self.served.has(group_version, name):
            return self._absent(group_version)
        conversion = CONVERSIONS.get((group_version, info.resource))
        if conversion is None:
            return await self._handler(request)
        return await Translated(group_version, conversion, self._handler).serve(request)

    def _info(self, request: Request) -> RequestInfo | None:
        try:
            return self._request_info.new_request_info(request.method, request.path, {})
        except UnknownRequestError:
            return None


def _json(request: Request, obj: Object) -> Response:
    return document(request, fast_json.dumps(obj) + b"\n", JSON)
