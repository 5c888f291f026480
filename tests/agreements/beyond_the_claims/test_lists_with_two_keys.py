"""Items of a list that are told apart by two keys: who owns which of them, and what is left when nobody names one any more."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from lifecycle.agreements.resource_handling import on_a_server
from lifecycle.api.wire import Object, Request
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

PATH = "/api/v1/namespaces/default/services/dns"
TCP = {"name": "t", "port": 53, "protocol": "TCP", "targetPort": 53}
UDP = {**TCP, "name": "u", "protocol": "UDP"}
ELSEWHERE = {**UDP, "targetPort": 5353}
APPLIED: list[tuple[str, list[Object], bool]] = [  # manager, ports, by force
    ("a", [TCP, UDP], False),
    ("b", [ELSEWHERE], False),
    ("b", [ELSEWHERE], True),
    ("a", [TCP], False),  # the other one's port is not its to take away
    ("b", [], False),
    ("b", [ELSEWHERE], False),
    ("a", [TCP, UDP], True),
    ("a", [UDP], False),
]
K_TCP, K_UDP = 'k:{"port":53,"protocol":"TCP"}', 'k:{"port":53,"protocol":"UDP"}'
BOTH = {"TCP": 53, "UDP": 53}
TAKEN = 'Apply failed with 1 conflict: conflict with "a": .spec.ports[port=53,protocol="UDP"].targetPort'
REAL: list[Any] = [
    (201, BOTH, {"a": [K_TCP, K_UDP]}),
    (409, TAKEN),
    (200, {"TCP": 53, "UDP": 5353}, {"a": [K_TCP, K_UDP], "b": [K_UDP]}),
    (200, {"TCP": 53, "UDP": 5353}, {"a": [K_TCP], "b": [K_UDP]}),
    (200, {"TCP": 53}, {"a": [K_TCP], "b": []}),
    (200, {"TCP": 53, "UDP": 5353}, {"a": [K_TCP], "b": [K_UDP]}),
    (200, BOTH, {"a": [K_TCP, K_UDP], "b": [K_UDP]}),
    (200, {"UDP": 53}, {"a": [K_UDP], "b": [K_UDP]}),
]
Apply = Callable[[str, bytes], Awaitable[tuple[int, Object]]]


async def applied(apply: Apply) -> list[Any]:
    """After each of `APPLIED`: the code, or the conflict's words; the ports' targets; who owns which item."""
    answers = []
    for manager, ports, force in APPLIED:
        spec: Object = {"selector": {"app": "dns"}, **({"ports": ports} if ports else {})}
        body = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "dns"}, "spec": spec}
        code, answer = await apply(f"fieldManager={manager}&force={str(force).lower()}", json.dumps(body).encode())
        if code >= 300:
            answers.append((code, answer["message"]))
            continue
        owners = {
            each["manager"]: sorted(each["fieldsV1"]["f:spec"].get("f:ports", {}))
            for each in answer["metadata"]["managedFields"]
        }
        answers.append((code, {port["protocol"]: port["targetPort"] for port in answer["spec"]["ports"]}, owners))
    return answers


def ours() -> list[Any]:
    """On a server of ours."""

    async def scene(server: GenericAPIServer, client: Client) -> list[Any]:
        async def apply(query: str, body: bytes) -> tuple[int, Object]:
            parts = {key: [value] for key, value in (each.split("=") for each in query.split("&"))}
            headers = {"content-type": "application/apply-patch+yaml"}
            answer = await client.transport.round_trip(Request("PATCH", PATH, parts, headers, body))
            return answer.status, answer.obj or json.loads(answer.body or b"{}")

        return await applied(apply)

    return on_a_server(scene)


def test_two_ports_of_one_number_are_two() -> None:
    """A real 1.36.2 said the same to the same."""
    assert ours() == REAL
