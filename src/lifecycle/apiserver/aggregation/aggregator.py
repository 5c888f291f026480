"""The aggregation layer: the first server of the chain, and for most requests just a
look into a table.

A cluster's API server is three servers in a row, each handing on what it does not know:
the aggregator, the API of Kubernetes itself, custom resources. The aggregator owns the
socket and the handler chain, so whatever lies behind it, here or elsewhere, is reached
by requests that have been authenticated and authorized.

What it adds is a table: group and version → server. It is made from the APIServices and
made again when one of them changes. A group version without an APIService, or whose
APIService names no Service, is local.

Upstream: `kube-aggregator/pkg/apiserver/apiserver.go` (`APIAggregator`,
`AddAPIService`), `cmd/kube-apiserver/app/server.go` (`CreateServerChain`), v1.36. Left
out: an API server behind `/api/v1`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Handler, Object, Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.api.loop.pauses import Pauses
from lifecycle.api.loop.worker import LARGE, beside
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.apiserver.aggregation import availability
from lifecycle.apiserver.aggregation.api_services import (
    group_version,
    service_reference,
    set_available_condition,
)
from lifecycle.apiserver.aggregation.availability import Finding, Retries
from lifecycle.apiserver.aggregation.backend import Backend, Trust
from lifecycle.apiserver.aggregation.discovery import (
    Discovered,
    api_group,
    discover,
    fetch_through,
    merged_discovery,
    merged_group_list,
)
from lifecycle.apiserver.aggregation.front_proxy import FrontProxy
from lifecycle.apiserver.aggregation.openapi import (
    document_name,
    fetch_index,
    fetch_v2,
    merged_index,
    merged_v2,
    read_body,
)
from lifecycle.apiserver.aggregation.proxy_handler import ProxyHandler
from lifecycle.apiserver.endpoints.document import document, etag_of, is_fresh
from lifecycle.apiserver.storage.object_reader import ObjectReader
from lifecycle.apiserver.webhook.service_resolver import (
    ClusterIPResolver,
    ServiceResolver,
)

log = logging.getLogger(__name__)

WriteStatus = Callable[[Object], Awaitable[None]]
"""Writes an APIService's status. Raises StatusError."""
V3 = "/openapi/v3"


class Aggregator:
    """Serves what APIServices send elsewhere; everything else is the delegate's.

    `resolver` finds the Services; None: at their own addresses. Nothing happens in the
    background before there is an APIService with a Service: `look()` is to be called
    whenever an APIService, Service or EndpointSlice has changed.
    """

    def __init__(
        self,
        delegate: Handler,
        reader: ObjectReader,
        clock: Clock,
        front_proxy: FrontProxy,
        write_status: WriteStatus,
        resolver: ServiceResolver | None = None,
    ) -> None:
        self._resolver = resolver or ClusterIPResolver(reader)
        self.discovered: dict[str, Discovered] = {}
        """What is known of each added group version, by the name of its APIService."""
        self._delegate = delegate
        self._reader = reader
        self._clock = clock
        self._front_proxy = front_proxy
        self._write_status = write_status
        self._row = resource("apiservices.apiregistration.k8s.io")
        self._changes = reader.changes((self._row,))
        self._version = -1
        self._services: list[Object] = []
        self._proxies: dict[tuple[str, str], ProxyHandler] = {}
        self._by_name: dict[str, ProxyHandler] = {}
        """The same, by the names of their APIServices."""
        self._backends: dict[Trust, Backend] = {}
        self._openapi: dict[str, tuple[Object, Object]] = {}
        self._watchers: dict[str, tuple[asyncio.Task[None], asyncio.Event]] = {}
        self._retries = Retries()
        self._news = asyncio.Event()

    def __call__(self, request: Request) -> Awaitable[Response]:
        """Answer, or let the delegate answer. Without added servers that costs no more
        than a look at a number.
        """
        self._configure()
        if not self._proxies:
            return self._delegate(request)
        info = request.info
        assert info is not None, "request info comes first"
        if info.is_resource_request:
            proxy = self._proxies.get((info.group, info.version))
            return (proxy or self._delegate)(request)
        parts = request.path.strip("/").split("/")
        if len(parts) >= 3 and parts[0] == "apis":
            return (self._proxies.get((parts[1], parts[2])) or self._delegate)(request)
        if request.method in ("GET", "HEAD"):
            if parts[0] == "apis":
                return self._discovery(request, parts)
            if parts[0] == "openapi":
                return self._schemas(request, parts)
        return self._delegate(request)

    @property
    def has_remote(self) -> bool:
        """Whether there is any server besides this one."""
        return bool(self._proxies)

    # -- the table ---------------------------------------------------------------------

    def _configure(self) -> None:
        """Take in the APIServices as they are now, if any has changed."""
        version = self._changes()
        if version == self._version:
            return
        self._version = version
        self._services = list(self._reader.list(self._row))
        before, self._proxies = self._proxies, {}
        for service in self._services:
            if service_reference(service) is None:
                continue
            key = group_version(service)
            known = before.get(key)
            if known is not None and known.api_service is service:
                self._proxies[key] = known
                continue
            trouble, backend = "", None
            try:
                backend = self._backend(Trust.of(service))
            except ValueError as error:
                trouble = str(error)
                log.warning("%s", trouble)
            self._proxies[key] = ProxyHandler(service, self._resolver, backend, trouble)
        self._by_name = {
            proxy.api_service["metadata"]["name"]: proxy
            for proxy in self._proxies.values()
        }
        for drawer in (self.discovered, self._openapi):
            for gone in drawer.keys() - self._by_name:
                del drawer[gone]

    def _backend(self, trust: Trust) -> Backend:
        backend = self._backends.get(trust)
        if backend is None:
            backend = self._backends[trust] = Backend(
                trust, self._front_proxy.certificate, self._resolver.egress
            )
        return backend

    # -- availability ------------------------------------------------------------------

    def look(self) -> None:
        """Something has changed: see to it that every added server is looked after, and
        looked at now.
        """
        self._configure()
        for name in self._watchers.keys() - self._by_name:
            self._watchers.pop(name)[0].cancel()
        for name in self._by_name:
            if name in self._watchers:
                self._watchers[name][1].set()
            else:
                woken = asyncio.Event()
                task = asyncio.create_task(
                    self._watch_over(name, woken), name=f"availability of {name}"
                )
                self._watchers[name] = task, woken

    async def _watch_over(self, name: str, woken: asyncio.Event) -> None:
        pauses = Pauses()
        while True:
            await pauses.pause()  # any change wakes all of them
            woken.clear()
            service = self._reader.get(self._row, "", name)
            if service is None or service_reference(service) is None:
                return
            finding = await self._check(service)
            try:
                await self._publish(name, finding)
            except StatusError as error:  # somebody was faster: the change wakes us
                log.info("%s failed with: %s", name, error)
            await self._learn(name)
            delay = self._retries.after(name, finding.reason == "FailedDiscoveryCheck")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(delay):
                    await woken.wait()

    async def _check(self, service: Object) -> Finding:
        finding = availability.check_service(self._reader, service)
        if finding is not availability.PASSED:
            return finding
        try:
            backend = self._backend(Trust.of(service))
        except ValueError as error:
            return Finding("False", "FailedDiscoveryCheck", str(error))
        return await availability.check_discovery(service, self._resolver, backend)

    async def _publish(self, name: str, finding: Finding) -> None:
        service = self._reader.get(self._row, "", name)
        if service is None:
            return
        changed = set_available_condition(service, *finding, self._clock.timestamp())
        if changed.get("status") != service.get("status"):
            await self._write_status(changed)

    async def _learn(self, name: str) -> None:
        """Ask an added server for its discovery and its schemas."""
        self._configure()
        proxy = self._by_name.get(name)
        if proxy is None:
            return
        fetch = fetch_through(proxy)
        discovery = await discover(proxy.api_service, fetch, self.discovered.get(name))
        if discovery.fresh:
            self._openapi[name] = await fetch_index(fetch), await fetch_v2(fetch)
        self.discovered[name] = discovery
        self._news.set()

    async def synced(self) -> None:
        """Wait until every added server has been asked what it has. Upstream:
        `discoverySyncedCh`.
        """
        while self._by_name.keys() - self.discovered:
            self._news.clear()
            await self._news.wait()

    async def stop(self) -> None:
        """End what runs in the background, close all connections."""
        tasks = [task for task, _ in self._watchers.values()]
        self._watchers.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for backend in self._backends.values():
            await backend.close()
        self._backends.clear()

    # -- documents ---------------------------------------------------------------------

    async def _discovery(self, request: Request, parts: list[str]) -> Response:
        """`/apis` and `/apis/<group>`."""
        remote = [proxy.api_service for proxy in self._proxies.values()]
        if len(parts) == 2:
            if not any(each["spec"].get("group") == parts[1] for each in remote):
                return await self._delegate(request)
            own = [
                each for each in self._services if each["spec"].get("group") == parts[1]
            ]
            return Response(
                obj={"kind": "APIGroup", "apiVersion": "v1", **api_group(own)}
            )
        local = await self._delegate(_unconditional(request))
        if local.status != 200:
            return local
        document = await read_body(local)
        if document.get("kind") == "APIGroupList":
            return Response(obj=merged_group_list(document, self._services, remote))
        # an added server may have any number of resources
        body, etag = await beside(
            LARGE + 1,
            _merged,
            merged_discovery,
            document,
            self._services,
            dict(self.discovered),
        )
        headers = {**local.headers, "ETag": f'"{etag}"'}
        if is_fresh(request, etag):
            return Response(
                304,
                {key: v for key, v in headers.items() if key != "Content-Type"},
                body=b"",
            )
        return Response(200, headers, body=body)

    async def _schemas(self, request: Request, parts: list[str]) -> Response:
        """`/openapi/v3`, its documents, and `/openapi/v2`."""
        added = {
            proxy.api_service["metadata"]["name"]: proxy
            for proxy in self._proxies.values()
        }
        if request.path.rstrip("/") == V3:
            local = await self._delegate(_unconditional(request))
            indexes = [
                (document_name(added[name].api_service), pair[0])
                for name, pair in self._openapi.items()
            ]
            index = await read_body(local)
            merged, _ = await beside(LARGE + 1, _merged, merged_index, index, indexes)
            return document(
                request, merged, local.headers.get("Content-Type", "application/json")
            )
        if parts[1] == "v3":
            name = "/".join(parts[2:])
            proxy = next(
                (
                    each
                    for each in added.values()
                    if document_name(each.api_service) == name
                ),
                None,
            )
            return await (proxy or self._delegate)(request)
        local = await self._delegate(_unconditional(request))
        if request.path == "/openapi/v2" and local.headers.get(
            "Content-Type", ""
        ).startswith("application/json"):
            documents = [
                (document_name(added[name].api_service), pair[1])
                for name, pair in self._openapi.items()
            ]
            whole = await read_body(local)
            body, etag = await beside(LARGE + 1, _merged, merged_v2, whole, documents)
            if is_fresh(request, etag):
                return Response(304, {"Etag": f'"{etag}"'}, body=b"")
            return Response(
                local.status, {**local.headers, "Etag": f'"{etag}"'}, body=body
            )
        return local


def _merged(merge: Callable[..., Object], *parts: Any) -> tuple[bytes, str]:
    """What several servers say as one document, and its tag."""
    body = fast_json.dumps(merge(*parts))
    return body, etag_of(body)


def _unconditional(request: Request) -> Request:
    """The request without `If-None-Match`: what the client holds is the merged
    document.
    """
    kept = {
        key: value for key, value in request.headers.items() if key != "if-none-match"
    }
    return replace(request, headers=kept, accepts_object=False)
