"""A cluster that runs nothing: an API server that keeps what it is given, and says what kinds there are."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

from lifecycle.api.http.wire import Object, Request, Response
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.protobuf import decode, is_protobuf
from lifecycle.api.resources import Resource, resource
from lifecycle.client.rest import Client
from lifecycle.cluster.kubeconfig_file import kubeconfig
from tests.fake_api import FakeAPI
from tests.kubectl.fake_server import FakeServer


class Keeping(FakeAPI):
    """A namespace has its service account from the first moment."""

    def write(self, kind: str, res: Resource, obj: Object) -> Object:
        written = super().write(kind, res, obj)
        if (kind, res.plural) == ("ADDED", "namespaces"):
            account = {"metadata": {"name": "default", "namespace": obj["metadata"]["name"]}}
            super().write("ADDED", resource("serviceaccounts"), account)
        return written

    async def round_trip(self, request: Request) -> Response:
        if is_protobuf(request.body):
            request.obj = decode(request.body)
        found = FakeServer().discovery(request) if request.method == "GET" else {}
        return Response(obj=found["discovery"]) if found else await super().round_trip(request)


class Running:
    """In the place of a `BackgroundCluster`, on virtual time; `agents`: who said they were asking; `stopped`: how often."""

    url, api_client, client = "https://127.0.0.1:1", "their connection", "their classes"

    def __init__(self) -> None:
        self.api, self.cluster, self.agents, self.stopped = Keeping(), self.Cluster(self), set[str](), 0

    def start(self) -> Running:
        return self

    def stop(self) -> None:
        self.stopped += 1

    class Cluster:
        def __init__(self, running: Running) -> None:
            self.running = running

        def client(self, agent: str) -> Client:
            self.running.agents.add(agent)
            return Client(self.running.api, agent)

    @property
    def kubeconfig(self) -> Any:
        return kubeconfig("https://127.0.0.1:1", b"ca", b"certificate", b"key")

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        return run_virtual(coroutine)

    def names(self, plural: str, namespace: str) -> list[str]:
        return [obj["metadata"]["name"] for obj in self.api.items(resource(plural), namespace)]
