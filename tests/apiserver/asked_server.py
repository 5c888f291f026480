"""A server of its own that is asked as a client would, without a socket: status and answer of one request."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from lifecycle.api.http.wire import MASTERS, Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.memory import MemoryStore
from tests.furnished import restored

RBAC = "/apis/rbac.authorization.k8s.io/v1"
MERGE = {"Content-Type": "application/merge-patch+json"}


class Asked:
    """Asks as a member of system:masters, or as whoever is named."""

    def __init__(self, server: GenericAPIServer) -> None:
        self.server = server
        self._target = HandlerTarget(server, ("admin", (MASTERS,)))

    async def __call__(
        self, method: str, path: str, body: Any = None, *, user: str = "", **headers: str
    ) -> tuple[int, Any]:
        sent = {"Accept": "application/json", "Content-Type": "application/json"}
        sent |= {key.replace("_", "-"): value for key, value in headers.items()}
        if user:
            sent["Impersonate-User"] = user
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        status, _, answer = await self._target.request(method, path, sent, data)
        try:
            return status, json.loads(answer)
        except ValueError:
            return status, answer.decode()

    async def refused(self, method: str, path: str, body: Any = None, **how: str) -> tuple[int, str]:
        """Status and message."""
        status, answer = await self(method, path, body, **how)
        return status, answer["message"] if isinstance(answer, dict) else answer

    async def may(self, user: str, name: str, *rules: Object) -> None:
        """Give somebody a role of their own."""
        role = {"metadata": {"name": name}, "rules": list(rules)}
        assert (await self("POST", f"{RBAC}/clusterroles", role))[0] == 201
        await self.bind(user, name)

    async def bind(self, user: str, name: str) -> None:
        """Bind somebody to a role, which need not be there."""
        ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
        subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
        binding = {"metadata": {"name": f"{user}-{name}"}, "roleRef": ref, "subjects": [subject]}
        assert (await self("POST", f"{RBAC}/clusterrolebindings", binding))[0] == 201


def asked(scene: Callable[[Asked], Awaitable[None]]) -> None:
    """Play a scene with a server, on virtual time."""

    async def main() -> None:
        server = create_server_chain(MemoryStore())
        await server.start(restored)
        try:
            await scene(Asked(server))
        finally:
            await server.stop()

    run_virtual(main())
