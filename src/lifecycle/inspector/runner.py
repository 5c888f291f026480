"""Putting a scenario's questions to a cluster.

A `Responder` is anything that answers a request: the embedded cluster's handler chain,
its HTTPS port, or a live cluster through the official client. What it answers becomes
`Exchange`s, the same as in a recording.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from lifecycle.inspector.exchange import Exchange
from lifecycle.inspector.scenario import Scenario, Step, resolve

KEPT_HEADERS = (
    "audit-id",
    "cache-control",
    "content-type",
    "etag",
    "retry-after",
    "warning",
    "x-kubernetes-pf-flowschema-uid",
)

POLL = 0.2
"""Seconds between two looks at whether all has settled; a plain REST client has no
better way that works with every target.
"""

FURNISHING = 10.0


LEAD = 2.0
"""Seconds between preparations and the first question: a new namespace has to get its
service account.
"""


class Responder(Protocol):
    """Somebody who answers. `body` is empty when nothing is sent; header names come in
    any case.
    """

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer."""
        ...


async def run_scenario(
    target: Responder,
    scenario: Scenario,
    *,
    pause: float = 1.0,
    patience: float = 120.0,
    pace: float = 1.0,
    kubectl: Callable[[Step, float], bool] | None = None,
    on_step: Callable[[Step], None] | None = None,
) -> list[Exchange]:
    """Ask everything, in order. Returns the recorded exchanges.

    `kubectl(step, t)` runs a kubectl step and returns True, or False to have its plain
    request sent instead. `pause` seconds pass after things have settled, so that
    trailing events are in; `patience` is how long settling may take (TimeoutError). So
    many seconds of the scenario pass in one: `pace` is for who has nothing to wait for.
    Only the admin's questions are asked: a recording does not say which token others
    held.
    """
    clock = asyncio.get_running_loop().time
    start = clock()
    base: float | None = None
    answers: dict[int, Any] = {}
    exchanges: list[Exchange] = []
    for step in scenario.steps:
        if on_step:
            on_step(step)
        if step.settle:
            await _settle(target, step.settle, patience)
            await asyncio.sleep(pause)
            continue
        if step.as_ != "admin" or (
            step.kubectl
            and kubectl
            and kubectl(step, asyncio.get_running_loop().time() - start)
        ):
            continue
        if not step.path:
            continue
        if step.t is not None:
            prepared = not scenario.steps[0].recorded
            now = clock() * pace
            if base is None:
                base = now - step.t + (LEAD if prepared else 0.0)
            await asyncio.sleep((base + step.t - now) / pace)
        exchange = await _ask(target, scenario.name, step, answers, start)
        if step.recorded and not step.kubectl:
            answers[step.number] = exchange.response
            exchanges.append(exchange)
    return exchanges


async def _ask(
    target: Responder, scenario: str, step: Step, answers: dict[int, Any], start: float
) -> Exchange:
    path, body = resolve(step.path, answers), resolve(step.body, answers)
    headers = {"Accept": step.accept, "User-Agent": "recorder", **step.headers}
    data = b""
    if body is not None:
        headers["Content-Type"] = step.content_type or "application/json"
        data = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    clock = asyncio.get_running_loop().time
    began = clock()
    status, sent, answer = await target.request(step.method, path, headers, data)
    kept, response = as_recorded(sent, answer)
    return Exchange(
        scenario=scenario,
        n=step.number,
        t=round(began - start, 4),
        ms=round((clock() - began) * 1000, 2),
        identity=step.as_,
        moment=step.note,
        method=step.method,
        path=path,
        content_type=headers.get("Content-Type", ""),
        accept=step.accept,
        headers_sent=step.headers,
        body=body,
        status=status,
        headers=kept,
        response=response,
    )


def as_recorded(headers: dict[str, str], body: bytes) -> tuple[dict[str, Any], Any]:
    """The headers and the body of an answer as recordings hold them."""
    kept: dict[str, Any] = {
        key.lower(): value
        for key, value in headers.items()
        if key.lower() in KEPT_HEADERS
    }
    if "warning" in kept:  # several headers of one name arrive as one, joined by commas
        kept["warning"] = re.split(r", (?=299 )", kept["warning"])
    return kept, _decoded(body, kept.get("content-type", ""))


def _decoded(answer: bytes, content_type: str) -> Any:
    """A body as recordings hold it: JSON parsed, text as text, anything else in
    base64.
    """
    if "protobuf" in content_type or "cbor" in content_type:
        return {"base64": base64.b64encode(answer).decode()}
    text = answer.decode("utf-8", "replace")
    if "json" in content_type or text.startswith(
        "{"
    ):  # the index of /openapi/v3 is JSON that calls itself text
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


async def _settle(target: Responder, namespace: str, patience: float) -> None:
    """Wait until every Deployment of a namespace is done, no pod is on its way, and
    nothing lingers once they are gone.
    """
    settled: Callable[[Responder, str], Awaitable[bool]] = _is_settled
    async with asyncio.timeout(patience):
        calm = 0
        while calm < 2:
            calm = calm + 1 if await settled(target, namespace) else 0
            await asyncio.sleep(POLL)


async def _is_settled(target: Responder, namespace: str) -> bool:
    async def items(path: str) -> list[Any]:
        _, _, answer = await target.request(
            "GET", path, {"Accept": "application/json", "User-Agent": "recorder"}, b""
        )
        return list(json.loads(answer).get("items") or ())

    desired = 0
    for deployment in await items(f"/apis/apps/v1/namespaces/{namespace}/deployments"):
        status, replicas = deployment.get("status", {}), deployment["spec"]["replicas"]
        counts = {
            status.get(key, 0)
            for key in (
                "replicas",
                "updatedReplicas",
                "readyReplicas",
                "availableReplicas",
            )
        }
        if (
            counts != {replicas}
            or status.get("observedGeneration", 0)
            < deployment["metadata"]["generation"]
        ):
            return False
        desired += replicas
    pods = await items(f"/api/v1/namespaces/{namespace}/pods")
    return len(pods) == desired and not any(
        pod["metadata"].get("deletionTimestamp") for pod in pods
    )


async def until_furnished(target: Responder, namespace: str) -> None:
    """Wait until a new namespace has what controllers put into every one, so that it
    does not come between two questions. Where no controller does, `FURNISHING` seconds
    are enough.
    """
    headers = {"Accept": "application/json"}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(FURNISHING):
            for path in ("serviceaccounts/default", "configmaps/kube-root-ca.crt"):
                where = f"/api/v1/namespaces/{namespace}/{path}"
                answer = await target.request("GET", where, headers, b"")
                while answer[0] != 200:
                    await asyncio.sleep(POLL)
                    answer = await target.request("GET", where, headers, b"")
