"""Items of a list that are told apart by two keys: who owns which of them, and what is left when nobody names one any more."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.http.wire import Object, Request
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


SPREAD = "/apis/apps/v1/namespaces/default/deployments/spread"
SPREAD_KEYS = [f'k:{{"topologyKey":"zone","whenUnsatisfiable":"{how}"}}' for how in ("DoNotSchedule", "ScheduleAnyway")]


async def spread(apply: Apply) -> list[Any]:
    """What is said to a Deployment with two constraints about one topology, and who owns what of them."""
    more = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "b"}}}
    constraints = [
        {**more, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"},
        {**more, "maxSkew": 2, "whenUnsatisfiable": "ScheduleAnyway"},
    ]
    answers: list[Any] = []
    for manager, named in (("a", constraints), ("b", constraints[1:]), ("a", constraints[:1]), ("b", [])):
        pod = {"containers": [{"name": "c", "image": "i"}], **({"topologySpreadConstraints": named} if named else {})}
        template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
        spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template}
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "spread"}, "spec": spec}
        code, answer = await apply(f"fieldManager={manager}", json.dumps(body).encode())
        if code >= 300:
            answers.append((code, answer["message"]))
            continue
        owners = {}
        for each in answer["metadata"]["managedFields"]:
            fields = each["fieldsV1"]["f:spec"]["f:template"]["f:spec"]
            owners[each["manager"]] = sorted(fields.get("f:topologySpreadConstraints", {}))
        left = answer["spec"]["template"]["spec"].get("topologySpreadConstraints") or []
        answers.append((code, [each["maxSkew"] for each in left], owners))
    return answers


async def applied(apply: Apply) -> list[Any]:
    """After each of `APPLIED`: the code, or the conflict's words; the ports' targets; who owns which item."""
    answers: list[Any] = []
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


def ours(path: str, scenario: Callable[[Apply], Awaitable[list[Any]]]) -> list[Any]:
    """On a server of ours."""

    async def scene(server: GenericAPIServer, client: Client) -> list[Any]:
        async def apply(query: str, body: bytes) -> tuple[int, Object]:
            parts = {key: [value] for key, value in (each.split("=") for each in query.split("&"))}
            headers = {"content-type": "application/apply-patch+yaml"}
            answer = await client.transport.round_trip(Request("PATCH", path, parts, headers, body))
            return answer.status, answer.obj or json.loads(answer.body or b"{}")

        return await scenario(apply)

    return on_a_server(scene)


def test_two_ports_of_one_number_are_two() -> None:
    """A real 1.36.2 said the same to the same."""
    assert ours(PATH, applied) == REAL


def test_two_constraints_about_one_topology_are_two() -> None:
    """So did it here."""
    both, (hard, soft) = SPREAD_KEYS, SPREAD_KEYS
    assert ours(SPREAD, spread) == [
        (201, [1, 2], {"a": both}),
        (200, [1, 2], {"a": both, "b": [soft]}),
        (200, [1, 2], {"a": [hard], "b": [soft]}),
        (200, [1], {"a": [hard], "b": []}),
    ]
