"""Who owns a field is written down in the version in which it was written, and loses it in that version to who writes in another.

The real server's entries were the same.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.http.wire import Object, Request
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

ROOT = "/apis/autoscaling/{}/namespaces/default/horizontalpodautoscalers"
OLD: Object = {
    "kind": "HorizontalPodAutoscaler",
    "apiVersion": "autoscaling/v1",
    "metadata": {"name": "h"},
    "spec": {
        "maxReplicas": 5,
        "minReplicas": 2,
        "targetCPUUtilizationPercentage": 50,
        "scaleTargetRef": {"kind": "Deployment", "name": "web", "apiVersion": "apps/v1"},
    },
}
SEVENTY = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 70}}}
TARGET = "f:targetCPUUtilizationPercentage"


@pytest.mark.parametrize(
    ("written", "lost", "owned"),
    [
        ({"metrics": [SEVENTY]}, TARGET, {"f:metrics": {}}),  # one field in the one version, another in the other
        ({"maxReplicas": 9}, "f:maxReplicas", {"f:maxReplicas": {}}),
        ({"maxReplicas": 5}, "", {}),  # as it was: nobody has written anything
    ],
)
def test_what_is_written_in_one_version_is_lost_in_the_other(
    written: dict[str, Any], lost: str, owned: dict[str, Any]
) -> None:
    async def scene(server: GenericAPIServer, client: Client) -> dict[Any, Any]:
        async def send(method: str, version: str, body: Object, manager: str, kind: str = "json") -> None:
            path = ROOT.format(version) + ("/h" if method == "PATCH" else "")
            headers = {"content-type": f"application/{kind}"}
            request = Request(method, path, {"fieldManager": [manager]}, headers, json.dumps(body).encode())
            answer = await client.transport.round_trip(request)
            assert answer.status < 300, answer.body

        await send("POST", "v1", OLD, "old")
        await send("PATCH", "v2", {"spec": written}, "new", "merge-patch+json")
        made = await client.get(resource("horizontalpodautoscalers.autoscaling"), "h", "default")
        return {(e["manager"], e["apiVersion"]): e["fieldsV1"]["f:spec"] for e in made["metadata"]["managedFields"]}

    before: dict[str, Any] = {name: {} for name in ("f:maxReplicas", "f:minReplicas", TARGET, "f:scaleTargetRef")}
    expected: dict[Any, Any] = {("old", "autoscaling/v1"): {name: {} for name in before if name != lost}}
    if owned:
        expected["new", "autoscaling/v2"] = owned
    assert on_a_server(scene) == expected
