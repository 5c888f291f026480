"""One run of kubectl: the client, where output goes, and the namespace – what every command needs.

Upstream: `kubectl/pkg/cmd/util/factory.go` (`Factory`), `cli-runtime/pkg/resource/helper.go` (`Helper`), v1.36.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from typing import Any, Protocol

import orjson

from lifecycle.api import protobuf
from lifecycle.api.resources import Resource
from lifecycle.api.status import StatusError
from lifecycle.api.tracing import span
from lifecycle.api.wire import Object, Request, Response, WatchFrame
from lifecycle.client.rest import Client
from lifecycle.kubectl.rest_mapper import RESTMapper, discover, document_of

USER_AGENT = "kubectl/v1.36.2 (linux/amd64) kubernetes/$Format"
TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
PROTOBUF = "application/vnd.kubernetes.protobuf"


class Writer(Protocol):
    """Where text goes: `sys.stdout`, `io.StringIO` …"""

    def write(self, text: str, /) -> Any:
        """Take text."""


class Session:
    """The state of one command. `explicit_namespace` says that the user named the namespace, so generated objects carry it."""

    def __init__(self, client: Client, out: Writer, err: Writer, namespace: str = "") -> None:
        self.client = Client(
            client.transport, USER_AGENT, headers={k: v for k, v in client.headers.items() if k != "user-agent"}
        )
        self.out = out
        self.err = err
        self.namespace = namespace or "default"
        self.explicit_namespace = bool(namespace)
        self._mapper: RESTMapper | None = None

    async def mapper(self) -> RESTMapper:
        """What the server serves; asked once."""
        if self._mapper is None:
            with span("kubectl", "discovery"):
                self._mapper = await discover(self.client)
        return self._mapper

    def print(self, text: str) -> None:
        """To stdout."""
        self.out.write(text)

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
    ) -> Object:
        """One request; the object of the answer. Raises StatusError."""
        with span("kubectl", "request", method=method, path=path) as recorded:
            response = await self.client.request(
                method, path, query=dict(query or {}), obj=obj, content_type=content_type
            )
            if recorded is not None and response.obj is not None:
                recorded.attributes["uid"] = (response.obj.get("metadata") or {}).get("uid", "")
        return self._answer(response)

    def _answer(self, response: Response) -> Object:
        """The object of an answer, its warnings printed. Raises StatusError."""
        for warning in response.headers.get("warning", "").split(", 299 "):
            text = warning.partition('"')[2].rpartition('"')[0]
            if text:
                self.warn(f"Warning: {text}\n")
        document: Object = document_of(response)
        if response.status >= 400:
            raise StatusError(document)
        return document

    async def create(
        self,
        resource: Resource,
        obj: Object,
        *,
        manager: str,
        dry_run: str = "none",
        validation: str = "",
        namespace: str = "",
    ) -> Object:
        """POST an object into its namespace."""
        query = {"dryRun": "All" if dry_run == "server" else "", "fieldManager": manager, "fieldValidation": validation}
        return await self.send("POST", resource.path(namespace or self.namespace), query, obj)

    async def create_typed(
        self, resource: Resource, obj: Object, *, manager: str, dry_run: str = "none", validation: str = ""
    ) -> Object:
        """`create` through a compiled-in client, as the `create` subcommands do it: in protobuf, there and back."""
        query = {"dryRun": "All" if dry_run == "server" else "", "fieldManager": manager, "fieldValidation": validation}
        path = resource.path(self.namespace)
        obj = {**obj, "metadata": {**obj["metadata"], "namespace": self.namespace}} if resource.namespaced else obj
        request = Request(
            method="POST",
            path=path,
            query={key: [value] for key, value in query.items() if value},
            headers={**self.client.headers, "accept": f"{PROTOBUF},application/json", "content-type": PROTOBUF},
            body=protobuf.encode(obj),
            accepts_object=True,
        )
        with span("kubectl", "request", method="POST", path=path) as recorded:
            document = self._answer(await self.client.transport.round_trip(request))
            if recorded is not None:
                recorded.attributes["uid"] = document["metadata"].get("uid", "")
        return document

    async def watch_tables(self, path: str, query: Mapping[str, str]) -> AsyncIterator[Object]:
        """Watch something as tables of one row each. Raises StatusError when the server refuses, or when it says so later in the stream."""
        asked = {**query, "watch": "true"}
        request = Request(
            method="GET",
            path=path,
            query={key: [value] for key, value in asked.items() if value},
            headers={**self.client.headers, "accept": TABLE},
        )
        response = await self.client.transport.round_trip(request)
        if response.stream is None:
            raise StatusError(document_of(response))
        async for frame in response.stream:  # in-process, frames are objects; how they look as rows the server says
            shown = orjson.loads(response.encode_frame(frame))["object"] if response.encode_frame else frame.object
            if frame.type == "ERROR":
                raise StatusError(shown)
            yield shown

    async def table(self, path: str, query: Mapping[str, str]) -> Object:
        """GET something as a table."""
        request = Request(
            method="GET",
            path=path,
            query={key: [value] for key, value in query.items() if value},
            headers={**self.client.headers, "accept": TABLE},
            accepts_object=False,  # the answer is negotiated, even in-process: a table is another representation
        )
        response = await self.client.transport.round_trip(request)
        document: Object = document_of(response)
        if response.status >= 400:
            raise StatusError(document)
        return document

    async def watch_one(
        self, resource: Resource, namespace: str, name: str, revision: str
    ) -> AsyncIterator[WatchFrame]:
        """Watch a single object from a revision on."""
        return await self.client.watch(
            resource, namespace, resource_version=revision, field_selector=f"metadata.name={name}"
        )
