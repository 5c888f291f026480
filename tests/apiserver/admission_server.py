"""A whole API server for admission tests: writes as a master, and says what came back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import MASTERS, Object, Request, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource_for_kind
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.apiserver.webhook.service_resolver import ServiceResolver
from lifecycle.etcd.memory import MemoryStore
from tests.furnished import restored

ROOT = UserInfo("root", (MASTERS, "system:authenticated"))
REGISTRATION = "admissionregistration.k8s.io/v1"
ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "default", "namespace": "default"},
}


class Asker:
    """`warnings` are those of the last answer."""

    def __init__(self, server: GenericAPIServer) -> None:
        self.server = server
        self.warnings: list[str] = []

    async def ask(
        self,
        method: str,
        path: str,
        obj: Any = None,
        *,
        user: UserInfo = ROOT,
        kind: str = "application/json",
        **query: str,
    ) -> Response:
        request = self.request(method, path, {key: [value] for key, value in query.items()}, obj, user=user, kind=kind)
        response = await self.server.handler(request)
        self.warnings = request.warnings
        return response

    @staticmethod
    def request(
        method: str,
        path: str,
        query: dict[str, list[str]],
        obj: Any = None,
        *,
        user: UserInfo = ROOT,
        kind: str = "application/json",
    ) -> Request:
        body = fast_json.dumps(obj) if obj is not None else b""
        headers = {"content-type": kind, "user-agent": "test"}
        return Request(method, path, query, headers, body, accepts_object=True, user=user)

    async def create(self, obj: Object, **query: Any) -> Response:
        row = resource_for_kind(obj["apiVersion"], obj["kind"])
        assert row is not None
        return await self.ask("POST", row.path(obj["metadata"].get("namespace", "default")), obj, **query)

    async def made(self, obj: Object, **query: Any) -> Object:
        response = await self.create(obj, **query)
        assert response.status == 201, response.obj
        assert response.obj is not None
        return response.obj


async def started(
    options: AdmissionOptions | None = None,
    resolver: ServiceResolver | None = None,
    server: GenericAPIServer | None = None,
) -> Asker:
    asker = Asker(server or create_server_chain(MemoryStore(), admission=options, webhook_resolver=resolver))
    await asker.server.start(restored)
    await asker.made(ACCOUNT)
    return asker


def play(
    scene: Callable[[Asker], Awaitable[Any]],
    options: AdmissionOptions | None = None,
    resolver: ServiceResolver | None = None,
) -> Any:
    """Run a scene on a fresh server, on virtual time."""

    async def main() -> Any:
        asker = await started(options, resolver)
        try:
            return await scene(asker)
        finally:
            await asker.server.stop()

    return run_virtual(main())


def config_map(name: str = "m", labels: dict[str, str] | None = None, **data: str) -> Object:
    meta: Object = {"name": name, "namespace": "default"}
    if labels:
        meta["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": data}


def pod(name: str, *images: str) -> Object:
    containers = [{"name": f"c{i}", "image": image} for i, image in enumerate(images or ("nginx",))]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": containers},
    }


def rules(plural: str = "configmaps", *operations: str, group: str = "") -> list[Object]:
    wanted = list(operations or ("CREATE",))
    return [{"apiGroups": [group], "apiVersions": ["v1"], "operations": wanted, "resources": [plural]}]


def webhooks(kind: str, name: str, *hooks: Object) -> Object:
    """A configuration; what a hook does not say is filled in."""
    given = [
        {
            "name": f"{name}-{i}.example.com",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "rules": rules(),
            **hook,
        }
        for i, hook in enumerate(hooks)
    ]
    return {
        "apiVersion": REGISTRATION,
        "kind": f"{kind}WebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": given,
    }


def policy(kind: str, name: str, /, matches: list[Object] | None = None, **spec: Any) -> Object:
    whole: Object = {"matchConstraints": {"resourceRules": matches or rules()}, **spec}
    if kind == "Mutating":
        whole.setdefault("reinvocationPolicy", "Never")
    return {"apiVersion": REGISTRATION, "kind": f"{kind}AdmissionPolicy", "metadata": {"name": name}, "spec": whole}


def binding(kind: str, name: str, /, **spec: Any) -> Object:
    whole: Object = {"policyName": name, **spec}
    if kind == "Validating":
        whole.setdefault("validationActions", ["Deny"])
    return {
        "apiVersion": REGISTRATION,
        "kind": f"{kind}AdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": whole,
    }


async def put_policy(asker: Asker, kind: str, name: str, bound: Object | None = None, **spec: Any) -> None:
    """Create a policy with its binding."""
    await asker.made(policy(kind, name, **spec))
    await asker.made(binding(kind, name, **(bound or {})))
