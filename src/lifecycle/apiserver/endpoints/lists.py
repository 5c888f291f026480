"""Lists and watches on the wire.

A list of plain JSON is not encoded: the JSON of each object lies ready in the cache,
and a list is those pieces joined. A list of a whole namespace is even kept until
something in it changes.

Upstream: `apiserver/pkg/endpoints/handlers/get.go` (`ListResource`),
`handlers/watch.go` (`serveWatchHandler`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from lifecycle.api import fast_json, status
from lifecycle.api.fields import FieldSelector, parse_field_selector
from lifecycle.api.go.yaml import to_yaml_bytes
from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.labels import parse_selector
from lifecycle.api.loop.worker import beside
from lifecycle.api.resources import Resource
from lifecycle.apiserver.endpoints.conversion import converted, converted_bookmark
from lifecycle.apiserver.endpoints.negotiation import (
    JSON,
    YAML,
    Accepted,
    frame_encoder,
    negotiate,
)
from lifecycle.apiserver.endpoints.options import (
    bool_option,
    check_list_options,
    int_option,
)
from lifecycle.apiserver.registry.listing import (
    ListOptions,
    Page,
    list_page,
    parse_revision,
)
from lifecycle.apiserver.registry.scope import RequestScope
from lifecycle.apiserver.registry.store import Environment
from lifecycle.apiserver.storage.cacher.cache_watcher import (
    CacheWatcher,
    Criteria,
    WatchOfAReader,
)
from lifecycle.apiserver.storage.cacher.cached_object import Cached

MIN_WATCH_TIMEOUT = 1800.0
LONGEST = 365 * 86400
BOOKMARK_PERIOD = 60.0
JOINED = 32
"""How many bytes that lie ready are joined while one is read and checked."""


class ListEndpoint:
    """Lists and watches of all resources."""

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._joined: dict[tuple[str, str, str], tuple[list[Cached], bytes]] = {}

    async def serve(self, request: Request, scope: RequestScope) -> Response:
        """Answer a list or watch request. Raises StatusError 400, 406, 410, 504."""
        held = self.environment.cachers.get(scope.resource.store_key)
        if held is None or held.resource is not scope.resource:
            raise status.generic_not_found()
        if bool_option(request, "watch") or (
            request.info is not None and request.info.verb == "watch"
        ):
            return await self._watch(request, scope)
        accepted = None if request.accepts_object else negotiate(request)
        page = await self.page(request, scope)
        return await self.answer(request, scope, page, accepted)

    async def answer(
        self,
        request: Request,
        scope: RequestScope,
        page: Page,
        accepted: Accepted | None,
    ) -> Response:
        """A page in the form that was agreed on; None: as objects."""
        if accepted is None:
            return Response(
                200, obj=self.list_object(scope.resource, page.rows, page.metadata)
            )
        if accepted.kind:
            now = self.environment.clock.now()
            obj = await beside(
                page.size, self._converted, request, scope, page, accepted, now
            )
            return Response(
                200, {"Content-Type": accepted.media_type}, obj=obj, size=page.size
            )
        if accepted.media_type == JSON:
            size = 0  # it lies ready
            if self._kept(scope, page) is None:
                size = page.size if page.past else page.size // JOINED
            body = await beside(size, self._join, scope, page)
            return Response(200, {"Content-Type": JSON}, body=body)
        obj = self.list_object(scope.resource, page.rows, page.metadata)
        if scope.strategy.items_carry_kind:  # YAML of the very same
            head = fast_json.loads(self._head(scope, page) + b"]}")
            obj = {**head, "items": obj["items"]}
            body = await beside(page.size, to_yaml_bytes, obj)
            return Response(200, {"Content-Type": YAML}, body=body)
        return Response(200, obj=obj, size=page.size)

    async def page(self, request: Request, scope: RequestScope, limit: int = 0) -> Page:
        """What a request selects; `limit`: how much of it, if it does not say. Raises
        StatusError 400, 410, 422, 504.
        """
        check_list_options(request, watch=False)
        criteria = await beside(selector_size(request), criteria_of, request, scope)
        options = _list_options(request)
        options.limit = options.limit or limit
        return await list_page(
            self.environment.cacher(scope.resource),
            self.environment.store,
            criteria,
            options,
        )

    @staticmethod
    def list_object(resource: Resource, rows: list[Cached], metadata: Object) -> Object:
        """A `…List`. In JSON its items carry no kind of their own; in process they are
        the cached objects.
        """
        return {
            "kind": f"{resource.kind}List",
            "apiVersion": resource.api_version,
            "metadata": metadata,
            "items": [row.obj for row in rows],
        }

    def _kept(
        self, scope: RequestScope, page: Page
    ) -> tuple[list[Cached], bytes] | None:
        """The very same rows, joined for somebody else: nothing in them has changed
        since.
        """
        resource = scope.resource
        kept = self._joined.get((resource.group, resource.plural, scope.namespace))
        return kept if page.whole and kept and kept[0] is page.rows else None

    def _join(self, scope: RequestScope, page: Page) -> bytes:
        resource = scope.resource
        key = (resource.group, resource.plural, scope.namespace)
        head = self._head(scope, page)
        kept = self._kept(scope, page)
        if kept is not None:
            # elsewhere something has, so the revision in front may have moved on
            if not kept[1].startswith(head):
                start = kept[1].index(b',"items":[') + len(b',"items":[')
                kept = self._joined[key] = (page.rows, head + kept[1][start:])
            return kept[1]
        skip = (
            len(f'"kind":"{resource.kind}","apiVersion":"{resource.api_version}",') + 1
        )
        if scope.strategy.items_carry_kind:
            rows = [row.json for row in page.rows]
        else:
            rows = [b"{" + row.json[skip:] for row in page.rows]
        body = b"".join((head, b",".join(rows), b"]}\n"))
        if page.whole:
            self._joined[key] = (page.rows, body)
        return body

    @staticmethod
    def _head(scope: RequestScope, page: Page) -> bytes:
        metadata = page.metadata
        if scope.strategy.items_carry_kind:  # a list without a Go type says that too
            metadata = {"continue": "", **metadata}
        head = {
            "kind": f"{scope.resource.kind}List",
            "apiVersion": scope.resource.api_version,
            "metadata": metadata,
        }
        return fast_json.dumps(head)[:-1] + b',"items":['

    @staticmethod
    def _converted(
        request: Request,
        scope: RequestScope,
        page: Page,
        accepted: Accepted,
        now: float,
    ) -> Object:
        objs = [row.obj for row in page.rows]
        include = request.param("includeObject") or "Metadata"
        return converted(
            accepted,
            scope.resource,
            objs,
            page.metadata,
            now=now,
            include=include,
            strategy=scope.strategy,
        )

    # -- watch -------------------------------------------------------------------------

    async def _watch(self, request: Request, scope: RequestScope) -> Response:
        accepted = (
            None if request.accepts_object else negotiate(request, streaming=True)
        )
        check_list_options(request, watch=True)
        cacher = self.environment.cacher(scope.resource)
        criteria = await beside(selector_size(request), criteria_of, request, scope)
        revision, initial = self._start(request)
        bookmarks = bool(bool_option(request, "allowWatchBookmarks"))
        if revision is not None:
            await cacher.window.unpack_since(revision)
        cacher.catch_up()
        cacher.unreadable.check_cache()
        current = self.environment.store.revision
        try:
            resource_version = request.param("resourceVersion")
            if (
                initial
                and resource_version
                and parse_revision(resource_version) > current
            ):
                raise status.too_large_resource_version(int(resource_version), current)
            watcher = cacher.watch(
                criteria, revision, initial=initial, bookmarks=bookmarks
            )
        except status.StatusError as error:
            if error.code == 400:
                raise
            watcher = CacheWatcher(
                cacher, criteria, bookmarks=False
            )  # from here on a watch says no as a watch does
            watcher.push(WatchFrame("ERROR", error.status))
            watcher.end()
        else:
            if bookmarks and initial:
                watcher.push_bookmark(initial_events_end=True)
            _schedule(watcher, request, bookmarks)
        if accepted is None:
            return Response(200, stream=WatchOfAReader(watcher))
        content_type, encode = frame_encoder(accepted)
        if accepted.kind:
            encode = self._converting(scope, accepted, request, encode)
        return Response(
            200, {"Content-Type": content_type}, stream=watcher, encode_frame=encode
        )

    @staticmethod
    def _start(request: Request) -> tuple[int | None, bool]:
        """From which revision to follow (None: now), and whether to begin with all
        there is.
        """
        version = request.param("resourceVersion")
        initial = bool_option(request, "sendInitialEvents")
        if version not in ("", "0"):
            revision = parse_revision(version)
            return (None, True) if initial else (revision, False)
        return None, initial is not False

    def _converting(
        self,
        scope: RequestScope,
        accepted: Accepted,
        request: Request,
        encode_frame: Callable[[WatchFrame], bytes],
    ) -> Callable[[WatchFrame], bytes]:
        """What turns the object of each event into another form, before `encode_frame`
        makes bytes of it.
        """
        include = request.param("includeObject") or "Metadata"
        accepted = replace(
            accepted, kind=accepted.kind.removesuffix("List")
        )  # an event is of one object
        state = {"headers": True}

        def encode(frame: WatchFrame) -> bytes:
            obj = frame.object
            if frame.type == "ERROR":
                return encode_frame(frame)
            now, headers = self.environment.clock.now(), state["headers"]
            state["headers"] = False
            if frame.type == "BOOKMARK":
                obj = converted_bookmark(
                    accepted,
                    scope.resource,
                    obj,
                    now=now,
                    include=include,
                    headers=headers,
                    strategy=scope.strategy,
                )
            else:
                obj = converted(
                    accepted, scope.resource, [obj], None, now=now, include=include,
                    headers=headers, strategy=scope.strategy
                )  # fmt: skip
            return encode_frame(WatchFrame(frame.type, obj))

        return encode


def _schedule(watcher: CacheWatcher, request: Request, bookmarks: bool) -> None:
    """End the watch when its time is up; while it lives, tell it now and then how far
    it has seen everything.
    """
    loop = asyncio.get_running_loop()
    seconds = int_option(request, "timeoutSeconds")
    timeout = float(min(max(seconds, 0), LONGEST)) if seconds else MIN_WATCH_TIMEOUT
    if not seconds and request.accepts_object:
        timeout = 0.0  # an in-process watch lasts as long as its reader

    if timeout or seconds:
        watcher.end_timer = loop.call_later(timeout, watcher.end)
    if bookmarks and not request.accepts_object:
        _bookmark_later(watcher)


def _bookmark_later(watcher: CacheWatcher) -> None:
    loop = asyncio.get_running_loop()
    watcher.bookmark_timer = loop.call_later(BOOKMARK_PERIOD, _bookmark, watcher)


def _bookmark(watcher: CacheWatcher) -> None:
    watcher.push_bookmark()
    if not watcher.ended:  # it may have been one frame too many
        _bookmark_later(watcher)


def _list_options(request: Request) -> ListOptions:
    return ListOptions(
        limit=max(int_option(request, "limit") or 0, 0),
        token=request.param("continue"),
        resource_version=request.param("resourceVersion"),
        match=request.param("resourceVersionMatch"),
    )


def selector_size(request: Request) -> int:
    """Characters of what has to be parsed, and then asked of each object."""
    return len(request.param("labelSelector")) + len(request.param("fieldSelector"))


def criteria_of(request: Request, scope: RequestScope) -> Criteria:
    """What a list or watch selects. Raises StatusError 400 for selectors that cannot be
    read or fields that cannot be selected by.
    """
    criteria = Criteria(namespace=scope.namespace, size=selector_size(request))
    labels = request.param("labelSelector")
    if labels:
        try:
            selector = parse_selector(labels)
        except ValueError as error:
            raise status.bad_request(str(error)) from None
        criteria.labels = None if selector.empty else selector
    fields = request.param("fieldSelector")
    if fields:
        requirements = _field_selector(fields, scope).requirements
        rest = []
        for requirement in requirements:
            pinned = requirement.value and requirement.operator in ("=", "==")
            if pinned and requirement.field == "metadata.name" and not criteria.name:
                criteria.name = requirement.value
            elif (
                pinned
                and requirement.field == "spec.nodeName"
                and (scope.resource.group, scope.resource.plural) == ("", "pods")
                and not criteria.node_name
            ):
                criteria.node_name = requirement.value
            else:
                rest.append(requirement)
        criteria.fields = FieldSelector(tuple(rest)) if rest else None
    return criteria


def _field_selector(text: str, scope: RequestScope) -> FieldSelector:
    try:
        selector = parse_field_selector(text)
    except ValueError as error:
        raise status.bad_request(str(error)) from None
    known = scope.strategy.field_labels
    for requirement in selector.requirements:
        if requirement.field not in known.labels:
            raise status.bad_request(known.unsupported(requirement.field))
    return selector
