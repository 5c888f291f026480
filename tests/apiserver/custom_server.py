"""A server with a CustomResourceDefinition or two, and a way to ask it."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import parse_qs

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.apiserver.server.loopback import LOOPBACK_USER
from lifecycle.etcd.memory import MemoryStore
from tests.furnished import restored

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
CRONTABS = "/apis/stable.example.com/v1/namespaces/default/crontabs"
MERGE, APPLY = "application/merge-patch+json", "application/apply-patch+yaml"

SPEC_SCHEMA: Object = {
    "type": "object",
    "required": ["cronSpec"],
    "properties": {
        "cronSpec": {"type": "string", "pattern": r"^(\S+\s+){4}\S+$"},
        "image": {"type": "string", "default": "nginx"},
        "replicas": {"type": "integer", "minimum": 1, "maximum": 10, "default": 1},
        "labels": {"type": "object", "additionalProperties": {"type": "string"}},
        "hosts": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
        "port": {"x-kubernetes-int-or-string": True},
        "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
    },
}


def definition(
    kind: str = "CronTab", *, schema: Object | None = None, scope: str = "Namespaced", **version: Any
) -> Object:
    """A definition in `stable.example.com` with one version, status and scale."""
    singular = kind.lower()
    properties = {
        "spec": SPEC_SCHEMA if schema is None else schema,
        "status": {"type": "object", "properties": {"replicas": {"type": "integer"}, "phase": {"type": "string"}}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{singular}s.stable.example.com"},
        "spec": {
            "group": "stable.example.com",
            "scope": scope,
            "names": {"plural": f"{singular}s", "singular": singular, "kind": kind, "shortNames": [singular[:2]]},
            "versions": [
                {
                    "name": "v1", "served": True, "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "properties": copy.deepcopy(properties)}},
                    "subresources": {
                        "status": {},
                        "scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
                    },
                    **version,
                }
            ],
        },
    }  # fmt: skip


def crontab(name: str = "a", **spec: Any) -> Object:
    """An object of it."""
    return {
        "apiVersion": "stable.example.com/v1",
        "kind": "CronTab",
        "metadata": {"name": name},
        "spec": {"cronSpec": "* * * * *", **spec},
    }


class Asked:
    """An answer: status, object (or what bytes decode to), warnings and headers."""

    def __init__(self, status: int, obj: Any, warnings: list[str], headers: dict[str, str]) -> None:
        self.status, self.obj, self.warnings, self.headers = status, obj, warnings, headers

    @property
    def message(self) -> str:
        """Of a Status."""
        return str(self.obj["message"])


class Site:
    """A running server."""

    def __init__(self, server: GenericAPIServer) -> None:
        self.server = server
        self._transport = server.in_process_transport(LOOPBACK_USER)

    async def ask(self, method: str, path: str, obj: Any = None, *, wire: bool = False, **headers: str) -> Asked:
        """One request; `wire` sends and takes bytes."""
        path, _, query = path.partition("?")
        request = Request(method, path, query=parse_qs(query), accepts_object=not wire)
        request.headers = {key.replace("_", "-"): value for key, value in headers.items()}
        if wire:
            request.body = obj if isinstance(obj, bytes) else fast_json.dumps(obj) if obj is not None else b""
        else:
            request.obj = obj
        answer = await self._transport.round_trip(request)
        found = answer.obj
        if found is None and answer.body:
            try:
                found = fast_json.loads(answer.body)
            except fast_json.JSONDecodeError:
                found = answer.body
        return Asked(answer.status, found, request.warnings, answer.headers)

    async def define(self, new: Object) -> Object:
        """Create a definition and let its controllers work."""
        created = await self.ask("POST", DEFINITIONS, new)
        assert created.status == 201, created.message
        await asyncio.sleep(0.1)
        found: Object = (await self.ask("GET", f"{DEFINITIONS}/{new['metadata']['name']}")).obj
        return found


def on_server(scene: Callable[[Site], Awaitable[Any]]) -> Any:
    """Run a scene against a fresh server, on virtual time."""

    async def play() -> Any:
        server = create_server_chain(MemoryStore())
        await server.start(restored)
        try:
            return await scene(Site(server))
        finally:
            await server.stop()

    return run_virtual(play())
