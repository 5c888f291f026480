"""Sends a case to a server and settles the answers."""

from __future__ import annotations

import json
from typing import Any, Protocol

from lifecycle.api.protobuf import decode, encode, is_protobuf
from tests.differential.answers import settled
from tests.differential.case import JSON, PROTOBUF, Case, Step


class Target(Protocol):
    """Somebody to be asked; `lifecycle.cluster.target.HandlerTarget` is one."""

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body."""


class Player:
    """One server's side of a case."""

    def __init__(self, target: Target, namespace: str) -> None:
        self._target = target
        self._symbols = {"{ns}": namespace, "{rv}": "0", "{uid}": ""}
        self._created: list[str] = []

    async def begin(self) -> None:
        """A namespace, with the account that pods run as."""
        namespace = self._symbols["{ns}"]
        await self._ask("POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        await self._ask("POST", f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "default"}})

    async def end(self) -> None:
        """Take away the namespace, and what was made outside of it."""
        for path in self._created:
            await self._ask("DELETE", path, {"gracePeriodSeconds": 0})
        await self._ask("DELETE", f"/api/v1/namespaces/{self._symbols['{ns}']}", None)

    async def _ask(self, method: str, path: str, body: Any) -> tuple[int, dict[str, str], bytes]:
        data = b"" if body is None else json.dumps(body).encode()
        return await self._target.request(method, path, {"Content-Type": JSON, "Accept": JSON}, data)

    async def answer(self, step: Step) -> Any:
        """The settled answer to a step."""
        path, text = (
            step.path,
            "" if step.body is None else json.dumps(step.body, separators=(",", ":"), ensure_ascii=False),
        )
        for symbol, value in self._symbols.items():
            path, text = path.replace(symbol, value), text.replace(symbol, value)
        data = text.encode()
        if step.content_type == PROTOBUF and data:
            data = encode(json.loads(text))
        headers = {"Accept": step.accept, "User-Agent": "differential"}
        if data:
            headers["Content-Type"] = step.content_type
        status, answered, body = await self._target.request(step.method, path, headers, data)
        self._remember(step.method, path, status, body)
        namespace = self._symbols["{ns}"]
        return json.loads(json.dumps(settled(status, answered, body, text)).replace(namespace, "{ns}"))

    def _remember(self, method: str, path: str, status: int, body: bytes) -> None:
        try:
            obj = decode(body) if is_protobuf(body) else json.loads(body)
            metadata = obj["metadata"]
        except (ValueError, KeyError, TypeError):
            return
        if not isinstance(metadata, dict) or status >= 300:
            return
        self._symbols["{rv}"] = str(metadata.get("resourceVersion") or self._symbols["{rv}"])
        self._symbols["{uid}"] = str(metadata.get("uid") or self._symbols["{uid}"])
        where, _, query = path.partition("?")
        if method == "POST" and status == 201 and "dryRun" not in query and "/namespaces/" not in where:
            self._created.append(f"{where}/{metadata.get('name', '')}")


async def play(target: Target, case: Case, namespace: str) -> list[Any]:
    """All answers of a server to a case."""
    player = Player(target, namespace)
    await player.begin()
    try:
        return [await player.answer(step) for step in case.steps]
    finally:
        await player.end()
