"""One run of kubectl: the client, where output goes, and the namespace – what every
command needs.

Upstream: `kubectl/pkg/cmd/util/factory.go` (`Factory`),
`cli-runtime/pkg/resource/helper.go` (`Helper`), v1.36.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Protocol, TextIO, TypeVar
from urllib.parse import parse_qs

from lifecycle.api import fast_json, protobuf
from lifecycle.api.http.wire import Object, Request, WatchFrame
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.client.rest import Client
from lifecycle.kubectl.discovery.discovery_client import (
    Discovery,
    DiscoveryClient,
    document_of,
)
from lifecycle.kubectl.failures import NoMatchError
from lifecycle.kubectl.request.warnings import WarningWriter
from lifecycle.kubectl.request.wire import USER_AGENT
from lifecycle.kubectl.resource_args import ResourceTuple, targets
from lifecycle.kubectl.rest_mapper import RESTMapper, rest_mapper_for

JSON = "application/json"
"""What commands ask for that work with any kind of object …"""
JSON_OR_ANYTHING = "application/json, */*"
"""… and what those ask for that know the kinds they work with. The difference has no
effect; it shows on the wire.
"""
TABLE = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,"
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
PROTOBUF = "application/vnd.kubernetes.protobuf"
TYPED = f"{PROTOBUF},application/json"
"""What compiled-in clients ask for."""
T = TypeVar("T")


class Writer(Protocol):
    """Where text goes: `sys.stdout`, `io.StringIO` …"""

    def write(self, text: str, /) -> Any:
        """Take text."""


class Session:
    """The state of one command. `explicit_namespace` says that the user named the
    namespace, so generated objects carry it. `stdin`: what is typed at it; the
    program's own, if nothing else is said.
    """

    def __init__(
        self,
        client: Client,
        out: Writer,
        err: Writer,
        namespace: str = "",
        discovery: Discovery | None = None,
        stdin: TextIO | None = None,
    ) -> None:
        self._stdin = stdin
        self.client = Client(
            client.transport,
            USER_AGENT,
            headers={"accept": JSON}
            | {k: v for k, v in client.headers.items() if k != "user-agent"},
        )
        self.out = out
        self.err = err
        self.namespace = namespace or "default"
        self.explicit_namespace = bool(namespace)
        self.discovery: Discovery = discovery or DiscoveryClient(self.client)
        self._mapper: RESTMapper | None = None
        self._warnings = WarningWriter(err.write)
        self._warned: set[str] = set()

    @property
    def stdin(self) -> TextIO:
        """Where input comes from."""
        return self._stdin or sys.stdin

    async def mapper(self) -> RESTMapper:
        """What the server serves, as far as discovery knows; asked once."""
        if self._mapper is None:
            with span("kubectl", "discovery"):
                self._mapper = await rest_mapper_for(self.discovery)
        return self._mapper

    async def _looked_up(self, look: Callable[[RESTMapper], T]) -> T:
        """Look something up. What is not found in a cache is looked for again, on the
        server this time. Raises NoMatchError.
        """
        mapper = await self.mapper()
        try:
            return look(mapper)
        except NoMatchError:
            if self.discovery.fresh:
                raise
        self.discovery.invalidate()
        self._mapper = None
        return look(await self.mapper())

    async def targets(self, args: Sequence[str]) -> list[ResourceTuple]:
        """What the arguments of a command name. Raises CommandError."""
        return await self._looked_up(
            lambda mapper: targets(mapper, args, self._warn_once)
        )

    async def resource_for(self, typed: str) -> Resource:
        """The resource of a word. Raises NoMatchError."""
        return await self._looked_up(
            lambda mapper: mapper.resource_for(typed, self._warn_once)
        )

    async def resources_for(self, name: str) -> list[Resource]:
        """All resources of a name. Raises NoMatchError."""
        return await self._looked_up(
            lambda mapper: mapper.resources_for(name, self._warn_once)
        )

    async def resource_for_kind(self, api_version: str, kind: str) -> Resource:
        """The resource that holds a kind. Raises NoMatchError."""
        return await self._looked_up(lambda mapper: mapper.for_kind(api_version, kind))

    def _warn_once(self, text: str) -> None:
        if text not in self._warned:
            self._warned.add(text)
            self.warn(f"Warning: {text}\n")

    def print(self, text: str) -> None:
        """To stdout."""
        self.out.write(text)

    def print_now(self, text: str) -> None:
        """To stdout, where somebody may wait for it."""
        self.out.write(text)
        flush = getattr(self.out, "flush", None)
        if flush is not None:
            flush()

    def warn(self, text: str) -> None:
        """To stderr."""
        self.err.write(text)

    async def send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        obj: Any = None,
        content_type: str = "application/json",
        *,
        accept: str = JSON,
    ) -> Object:
        """One request; the object of the answer. Raises StatusError."""
        return await self._sent(
            self.client.new_request(
                method,
                path,
                query=query,
                obj=obj,
                content_type=content_type,
                accept=accept,
            )
        )

    async def _sent(self, request: Request) -> Object:
        """The object that answers a request, its warnings printed. Raises
        StatusError.
        """
        with span(
            "kubectl", "request", method=request.method, path=request.path
        ) as recorded:
            response = await self.client.transport.round_trip(request)
            self._warnings.handle(response.headers.get("warning", ""))
            document: Object = document_of(response)
            if recorded is not None:
                metadata = document.get("metadata") or {}
                recorded.attributes["uid"] = metadata.get("uid", "")
        if response.status >= 400:
            raise StatusError(document)
        return document

    async def get(
        self, path: str, namespace: str = "", *, accept: str = JSON
    ) -> Object:
        """GET one object. If it is not there, perhaps its namespace is not either: then
        that is what is said. Raises StatusError.
        """
        try:
            return await self.send("GET", path, accept=accept)
        except StatusError as error:
            raise await self.rather_the_namespace(
                error, namespace, accept=accept
            ) from None

    async def rather_the_namespace(
        self, refused: StatusError, namespace: str, *, accept: str = JSON
    ) -> StatusError:
        """For an object that was not found: the refusal of its namespace, if that was
        not found; else the refusal itself.
        """
        if refused.code != 404 or namespace in ("", "default"):
            return refused
        try:
            await self.send("GET", f"/api/v1/namespaces/{namespace}", accept=accept)
        except StatusError as missing:
            return missing if missing.code == 404 else refused
        return refused

    async def create(
        self,
        resource: Resource,
        obj: Object,
        *,
        manager: str,
        dry_run: str = "none",
        validation: str = "",
        namespace: str = "",
        accept: str = JSON,
    ) -> Object:
        """POST an object into its namespace."""
        query = {
            "dryRun": "All" if dry_run == "server" else "",
            "fieldManager": manager,
            "fieldValidation": validation,
        }
        return await self.send(
            "POST",
            resource.path(namespace or self.namespace),
            query,
            obj,
            accept=accept,
        )

    async def create_typed(
        self,
        resource: Resource,
        obj: Object,
        *,
        manager: str,
        dry_run: str = "none",
        validation: str = "",
    ) -> Object:
        """`create` through a compiled-in client, as the `create` subcommands do it: in
        protobuf, there and back.
        """
        query = {
            "dryRun": "All" if dry_run == "server" else "",
            "fieldManager": manager,
            "fieldValidation": validation,
        }
        return await self.post_typed(resource.path(self.namespace), obj, query)

    async def post_typed(
        self, path: str, obj: Object, query: Mapping[str, str] | None = None
    ) -> Object:
        """POST in protobuf, there and back. Raises StatusError."""
        return await self._sent(
            self.client.new_request(
                "POST",
                path,
                query=query,
                body=protobuf.encode(obj),
                content_type=PROTOBUF,
                accept=TYPED,
            )
        )

    async def patch_raw(
        self,
        path: str,
        body: bytes,
        content_type: str,
        query: Mapping[str, str] | None = None,
    ) -> Object:
        """PATCH with a body as it is. Raises StatusError."""
        return await self._sent(
            self.client.new_request(
                "PATCH",
                path,
                query=query,
                body=body,
                content_type=content_type,
                accept=JSON,
            )
        )

    async def watch_tables(
        self, path: str, query: Mapping[str, str]
    ) -> AsyncIterator[tuple[str, Object]]:
        """Watch something as (what happened, a table of one row).

        Raises StatusError when the server refuses, or when it says so later in the
        stream.
        """
        request = self.client.new_request(
            "GET",
            path,
            query={**query, "watch": "true"},
            accept=TABLE,
            accepts_object=False,
        )
        response = await self.client.transport.round_trip(request)
        if response.stream is None:
            raise StatusError(document_of(response))
        # in process, frames are objects; how they look as rows the server says
        async for frame in response.stream:
            table = (
                fast_json.loads(response.encode_frame(frame))["object"]
                if response.encode_frame
                else frame.object
            )
            if frame.type == "ERROR":
                raise StatusError(table)
            yield frame.type, table

    async def watch_path(
        self, path: str, query: Mapping[str, str]
    ) -> AsyncGenerator[WatchFrame, None]:
        """Watch what is at a path. Raises StatusError when the server refuses."""
        request = self.client.new_request(
            "GET", path, query={**query, "watch": "true"}, accept=JSON
        )
        response = await self.client.transport.round_trip(request)
        if response.stream is None:
            raise StatusError(document_of(response))
        async with _closing(response.stream):
            async for frame in response.stream:
                yield frame

    async def stream(
        self, path: str, query: Mapping[str, str]
    ) -> AsyncGenerator[bytes, None]:
        """GET bytes as they come, for as long as they do. Raises StatusError."""
        request = self.client.new_request(
            "GET",
            path,
            query=query,
            accept=JSON_OR_ANYTHING,
            accepts_object=False,
        )
        response = await self.client.transport.round_trip(request)
        if response.status >= 400:
            raise StatusError(document_of(response))
        if response.stream is None:
            yield response.body or b""
            return
        async with _closing(response.stream):
            async for piece in response.stream:
                yield response.encode_frame(piece) if response.encode_frame else b""

    async def table(self, path: str, query: Mapping[str, str]) -> Object:
        """GET something as a table."""
        # the answer is negotiated, even in process: a table is another representation
        return await self._sent(
            self.client.new_request(
                "GET", path, query=query, accept=TABLE, accepts_object=False
            )
        )

    async def raw(self, method: str, path: str, body: bytes = b"") -> bytes:
        """Send something to a path as it is; the answer as it is. Raises
        StatusError.
        """
        url, _, query = path.partition("?")
        request = self.client.new_request(
            method,
            url,
            query=parse_qs(query, keep_blank_values=True),
            body=body,
            accept=JSON_OR_ANYTHING,
            accepts_object=False,
        )
        response = await self.client.transport.round_trip(request)
        if response.status >= 400:
            raise StatusError(document_of(response))
        return (
            response.body
            if response.body is not None
            else fast_json.dumps(response.obj)
        )

    async def watch_one(
        self, resource: Resource, namespace: str, name: str, revision: str
    ) -> AsyncIterator[WatchFrame]:
        """Watch a single object from a revision on."""
        return await self.client.watch(
            resource,
            namespace,
            resource_version=revision,
            field_selector=f"metadata.name={name}",
        )


@asynccontextmanager
async def _closing(stream: object) -> AsyncIterator[None]:
    """Whoever stops to listen hangs up."""
    try:
        yield
    finally:
        close = getattr(stream, "aclose", None)
        if close is not None:
            await close()
