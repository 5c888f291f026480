"""A container with a startup and a readiness probe: which result says what, and when is it asked?"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.kubelet.prober.prober_manager import ProbeUpdate

FINE, ILL = {"exec": {"command": ["true"]}}, {"exec": {"command": ["false"]}}


def _states(pod: Object) -> tuple[Any, Any]:
    [status] = pod["status"]["containerStatuses"]
    return status["started"], status["ready"]


@pytest.mark.parametrize(
    ("startup", "readiness", "states"),
    [(FINE, FINE, (True, True)), (FINE, ILL, (True, False)), (ILL, FINE, (False, False)), (ILL, ILL, (False, False))],
    ids=["both fine", "not ready", "not started", "neither"],
)
def test_what_one_probe_finds_the_other_does_not_say(
    startup: Object, readiness: Object, states: tuple[bool, bool]
) -> None:
    async def scene(node: OneNode) -> tuple[Any, Any]:
        probes = {
            "startupProbe": {**startup, "periodSeconds": 1, "failureThreshold": 100},
            "readinessProbe": {**readiness, "periodSeconds": 1},
        }
        return _states(await node.run_pod("p", seconds=8, container=probes))

    assert on_one_node(scene) == states


def test_who_has_started_is_asked_at_once_whether_it_is_ready_and_not_a_period_later() -> None:
    """Upstream triggers the worker in `UpdatePodStatus`, as long as the container runs and is not ready."""

    async def scene(node: OneNode) -> list[tuple[Any, Any]]:
        probes = {
            "startupProbe": {**FINE, "initialDelaySeconds": 20, "periodSeconds": 1},
            "readinessProbe": {**FINE, "periodSeconds": 300},
        }
        early = _states(await node.run_pod("p", seconds=15, container=probes))
        await asyncio.sleep(15)
        return [early, _states(await node.pod("p"))]

    assert on_one_node(scene) == [(False, False), (True, True)]


def test_a_container_that_has_started_is_not_said_to_be_ready_for_a_moment() -> None:
    async def scene(node: OneNode) -> list[tuple[Any, Any]]:
        seen = list[tuple[Any, Any]]()
        frames = await node.admin.watch(resource("pods"), "default", bookmarks=False)

        async def follow() -> None:
            async for frame in frames:
                if frame.object["status"].get("containerStatuses"):
                    seen.append(_states(frame.object))

        following = asyncio.create_task(follow())
        probes = {"startupProbe": {**FINE, "periodSeconds": 3}, "readinessProbe": {**ILL, "periodSeconds": 1}}
        await node.run_pod("p", seconds=15, container=probes)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
        return list(dict.fromkeys(seen))

    assert on_one_node(scene) == [(False, False), (True, False)]


@pytest.mark.parametrize("kind", ["liveness", "readiness", "startup"])
def test_a_pod_is_looked_at_anew_whichever_of_its_probes_has_another_result(kind: str) -> None:
    """Upstream: `handleProbeSync`, of all three kinds."""

    async def scene(node: OneNode) -> int:
        pod = await node.run_pod("p")
        [status] = pod["status"]["containerStatuses"]
        container_id = status["containerID"].partition("://")[2]
        before = node.steps.count(("status", "p"))
        node.kubelet.handle_probe_update(ProbeUpdate(pod, kind, container_id, True))
        await asyncio.sleep(1)
        return node.steps.count(("status", "p")) - before

    assert on_one_node(scene) == 1
