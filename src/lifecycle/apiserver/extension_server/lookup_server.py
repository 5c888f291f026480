"""A whole added API server: HTTPS, the same handler chain as kube-apiserver's,
delegated checks, one resource.

It knows the cluster from a kubeconfig. From the cluster it learns whom to believe (the
config map), then it joins: a Service that leads to it – of type ExternalName, since it
runs beside the cluster – and an APIService with the authority of its certificate.

Upstream: `k8s.io/sample-apiserver` (`pkg/cmd/server/start.go`),
`apiserver/pkg/server/genericapiserver.go`, v1.36. Left out: admission, server-side
apply, protobuf, selectors.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator
from typing import Any

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.api.patch.merge_patch import apply_merge_patch
from lifecycle.api.status import (
    bad_request,
    failure,
    generic_not_found,
    method_not_allowed,
    success,
)
from lifecycle.apiserver.aggregation.front_proxy import NAME, NAMESPACE
from lifecycle.apiserver.endpoints.document import page_not_found, text
from lifecycle.apiserver.endpoints.negotiation import negotiate
from lifecycle.apiserver.extension_server import documents
from lifecycle.apiserver.extension_server.delegation import (
    ALWAYS_ALLOWED_PATHS,
    delegating_authenticator,
    delegating_authorizer,
)
from lifecycle.apiserver.extension_server.terms import (
    API_VERSION,
    GROUP,
    KIND,
    PLURAL,
    VERSION,
    TermStore,
    as_table,
)
from lifecycle.apiserver.http.frames import json_frame
from lifecycle.apiserver.http.json_bodies import read_json
from lifecycle.apiserver.pki.certificates import CertificateAuthority
from lifecycle.apiserver.server.chain import (
    ChainConfig,
    default_build_handler_chain,
)
from lifecycle.apiserver.server.https import HTTPSServer
from lifecycle.client.transport_https import ConnectionConfig, HTTPSTransport

SERVICE_NAMESPACE, SERVICE = "default", "lookup"
SERVICES = f"/api/v1/namespaces/{SERVICE_NAMESPACE}/services"
API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
MERGE_PATCH = "application/merge-patch+json"


class JoinError(Exception):
    """The cluster refused something that joining needs; the message says what."""


class LookupServer:
    """The glossary server. `await start()`, then perhaps `register()`; `await stop()`
    at the end.

    `seen` keeps who asked for what, as this server understood it: `(user, verb, name)`.
    """

    def __init__(
        self,
        cluster: ConnectionConfig,
        clock: Clock | None = None,
        names: NameSource | None = None,
    ) -> None:
        self.clock = clock or Clock()
        self.seen: list[tuple[str, str, str]] = []
        self.url = ""
        self._cluster = cluster
        self._names = names or NameSource()
        self.terms = TermStore(self.clock, self._names)
        self._authority = CertificateAuthority()
        self._https: HTTPSServer | None = None
        self._client: HTTPSTransport | None = None
        self._port = 0

    # -- life --------------------------------------------------------------------------

    async def start(self, port: int = 0) -> int:
        """Learn whom to believe, and listen; the port. Raises JoinError, or OSError if
        the port is taken or the cluster away.
        """
        self._client = HTTPSTransport(self._cluster)
        config_map = await self._ask(
            "GET", f"/api/v1/namespaces/{NAMESPACE}/configmaps/{NAME}"
        )
        try:
            authenticator = delegating_authenticator(
                config_map, self._cluster, self.clock
            )
        except ValueError as error:
            raise JoinError(str(error)) from None
        config = ChainConfig(
            authenticator,
            delegating_authorizer(self._cluster, self.clock),
            names=self._names,
        )
        tls = self._authority.server_context(
            names=(f"{SERVICE}.{SERVICE_NAMESPACE}.svc", "localhost"),
            addresses=("127.0.0.1",),
        )
        data = config_map["data"]
        for key in ("client-ca-file", "requestheader-client-ca-file"):
            if data.get(key):
                tls.load_verify_locations(cadata=data[key])
        self._https = HTTPSServer(default_build_handler_chain(self._serve, config), tls)
        self._port = await self._https.start("127.0.0.1", port)
        self.url = f"https://127.0.0.1:{self._port}"
        return self._port

    def manifests(self) -> tuple[Object, Object]:
        """The Service and the APIService that join it."""
        service = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": SERVICE, "namespace": SERVICE_NAMESPACE},
            "spec": {"type": "ExternalName", "externalName": "localhost"},
        }
        api_service = {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"{VERSION}.{GROUP}"},
            "spec": {
                "group": GROUP,
                "version": VERSION,
                "service": {
                    "namespace": SERVICE_NAMESPACE,
                    "name": SERVICE,
                    "port": self._port,
                },
                "caBundle": base64.b64encode(self._authority.ca_pem).decode(),
                "groupPriorityMinimum": 1000,
                "versionPriority": 15,
            },
        }
        return service, api_service

    async def register(self) -> None:
        """Join: create Service and APIService, in place of older ones. Raises
        JoinError.
        """
        await self.unregister()
        service, api_service = self.manifests()
        await self._ask("POST", SERVICES, service)
        await self._ask("POST", API_SERVICES, api_service)

    async def unregister(self) -> None:
        """Leave. Raises JoinError."""
        for path in (f"{API_SERVICES}/{VERSION}.{GROUP}", f"{SERVICES}/{SERVICE}"):
            await self._ask("DELETE", path, missing_is_fine=True)

    async def stop(self) -> None:
        """Close the socket and all connections."""
        if self._https is not None:
            await self._https.stop()
            self._https = None
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _ask(
        self,
        method: str,
        path: str,
        obj: Object | None = None,
        *,
        missing_is_fine: bool = False,
    ) -> Object:
        assert self._client is not None, "start first"
        answer = await self._client.round_trip(
            Request(method, path, headers={"user-agent": "lookup-server"}, obj=obj)
        )
        if answer.status >= 400 and not (missing_is_fine and answer.status == 404):
            raise JoinError(
                (answer.obj or {}).get("message", f"{method} {path}: {answer.status}")
            )
        return answer.obj or {}

    # -- requests ----------------------------------------------------------------------

    async def _serve(self, request: Request) -> Response:
        info = request.info
        assert info is not None, "request info comes first"
        assert request.user is not None, "authentication comes first"
        self.seen.append((request.user.name, info.verb, info.name or info.path))
        if not info.is_resource_request:
            if request.path in ALWAYS_ALLOWED_PATHS:
                return text("ok")
            return documents.serve(request) or page_not_found()
        if (
            info.group,
            info.version,
            info.resource,
            info.subresource,
            info.namespace,
        ) != (
            GROUP,
            VERSION,
            PLURAL,
            "",
            "",
        ):
            raise generic_not_found()
        dry_run = "All" in request.query.get("dryRun", ())
        if info.verb == "list":
            return self._response(request, self._listed(self._selected(request)))
        if info.verb == "watch":
            return await self._watch(request)
        if info.verb == "get":
            return self._response(request, self.terms.get(info.name))
        if info.verb == "create":
            return self._response(
                request, self.terms.create(_posted(request), dry_run=dry_run), 201
            )
        if info.verb == "update":
            return self._response(
                request, self.terms.update(info.name, _posted(request), dry_run=dry_run)
            )
        if info.verb == "patch":
            return self._response(request, self._patch(request, info.name, dry_run))
        if info.verb == "delete":
            gone = self.terms.delete(info.name, dry_run=dry_run)
            details = {
                "name": info.name,
                "group": GROUP,
                "kind": PLURAL,
                "uid": gone["metadata"]["uid"],
            }
            return Response(obj=success(details))
        raise method_not_allowed()

    def _selected(self, request: Request) -> list[Object]:
        name = request.info.name if request.info is not None else ""
        return [
            term
            for term in self.terms.everything()
            if not name or term["metadata"]["name"] == name
        ]

    def _listed(self, terms: list[Object]) -> Object:
        metadata = {"resourceVersion": str(self.terms.revision)}
        return {
            "kind": f"{KIND}List",
            "apiVersion": API_VERSION,
            "metadata": metadata,
            "items": terms,
        }

    def _response(self, request: Request, obj: Object, status: int = 200) -> Response:
        if negotiate(request).kind == "Table":
            obj = as_table(
                obj.get("items", [obj]),
                self.clock,
                resource_version=obj["metadata"]["resourceVersion"],
            )
        return Response(status, obj=obj)

    async def _watch(self, request: Request) -> Response:
        table = negotiate(request, streaming=True).kind == "Table"
        assert request.info is not None
        frames = await self.terms.watch(
            request.param("resourceVersion"), request.info.name
        )
        seconds = float(request.param("timeoutSeconds") or 0) or None
        stream = self._until(frames, seconds, table)
        return Response(
            headers={"Content-Type": "application/json;stream=watch"},
            stream=stream,
            encode_frame=json_frame,
        )

    async def _until(
        self, frames: AsyncIterator[WatchFrame], seconds: float | None, table: bool
    ) -> AsyncIterator[WatchFrame]:
        """The frames until time is up; as tables of one row, of which only the first
        has headers.
        """
        first = True
        loop = asyncio.get_running_loop()
        until = None if seconds is None else loop.time() + seconds
        try:
            while True:
                async with asyncio.timeout_at(until):
                    frame = await anext(frames)
                if table:
                    event = as_table([frame.object], self.clock, headers=first)
                    frame = WatchFrame(
                        frame.type,
                        {
                            **event,
                            "metadata": {
                                "resourceVersion": frame.object["metadata"][
                                    "resourceVersion"
                                ]
                            },
                        },
                    )
                    first = False
                yield WatchFrame(frame.type, frame.object)
        except (TimeoutError, StopAsyncIteration):
            return
        finally:
            await frames.aclose()  # type: ignore[attr-defined]

    def _patch(self, request: Request, name: str, dry_run: bool) -> Object:
        content_type = request.headers.get("content-type", "").partition(";")[0]
        if content_type != MERGE_PATCH:
            message = (
                "the body of the request was in an unknown format - accepted media"
                f" types include: {MERGE_PATCH}"
            )
            raise failure(415, "UnsupportedMediaType", message, {})
        old = self.terms.get(name)
        return self.terms.update(
            name, apply_merge_patch(old, _body(request)), dry_run=dry_run
        )


def _body(request: Request) -> Any:
    try:
        return read_json(request.body)
    except ValueError as error:
        raise bad_request(f"the object provided is unrecognized: {error}") from None


def _posted(request: Request) -> Object:
    obj = _body(request)
    if not isinstance(obj, dict) or (obj.get("apiVersion"), obj.get("kind")) != (
        API_VERSION,
        KIND,
    ):
        raise bad_request(
            f"the object provided is unrecognized: a {KIND} of {API_VERSION} is"
            " expected"
        )
    return obj
