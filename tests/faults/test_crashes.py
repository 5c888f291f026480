"""Containers that crash and probes that never pass, in the words of the recorded cluster."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from tests.faults.scene import DEPLOYMENTS, PODS, Accident, condition, deployment, happen, pod, ready


def test_a_crashing_container_is_restarted_at_longer_and_longer_intervals() -> None:
    async def scene(cluster: Accident) -> None:
        await cluster.user.create(PODS, pod("crash", "busybox:1.36", command=["sh", "-c", "exit 3"]), "default")
        (found,) = await cluster.until("pods", lambda pods: pods and _restarts(pods[0]) >= 1 and _waiting(pods[0]))
        status = found["status"]["containerStatuses"][0]
        back_off = status["state"]["waiting"]
        uid = found["metadata"]["uid"]
        assert back_off["reason"] == "CrashLoopBackOff"
        assert re.fullmatch(
            rf"back-off 20s restarting failed container=c pod=crash_default\({uid}\)|"
            rf"back-off 10s restarting failed container=c pod=crash_default\({uid}\)",
            back_off["message"],
        )
        ended = status["lastState"]["terminated"]
        assert (ended["exitCode"], ended["reason"]) == (3, "Error")
        assert found["status"]["phase"] == "Running"
        assert condition(found, "Ready")["message"] == "containers with unready status: [c]"
        warning = ("Warning", "BackOff", f"Back-off restarting failed container c in pod crash_default({uid})")
        assert warning in [event[:3] for event in await cluster.events("crash")]
        (later,) = await cluster.until("pods", lambda pods: _restarts(pods[0]) >= 7)
        started = parse_time(later["status"]["startTime"])
        # 10 + 20 + 40 + 80 + 160 + 300 s at least between the seven starts after the first
        assert cluster.clock.now() - started >= 610

    happen(scene)


def test_a_container_that_stops_crashing_recovers() -> None:
    """What it waited for is there now: the very next restart succeeds, and its pod becomes Ready with its restarts counted."""

    async def scene(cluster: Accident) -> None:
        command = ["sh", "-c", "sleep 5; exit 1"]
        await cluster.user.create(PODS, pod("heals", "busybox:1.36", command=command), "default")
        (found,) = await cluster.until("pods", lambda pods: pods and _restarts(pods[0]) >= 2 and _waiting(pods[0]))
        node = found["spec"]["nodeName"]
        runtime = cluster.runtimes[node]
        create = runtime.create_container

        async def create_container(sandbox: str, config: Any, *more: Any) -> str:
            return await create(sandbox, _with_command(config, ("sleep", "1d")), *more)

        runtime.create_container = create_container  # type: ignore[method-assign]
        (well,) = await cluster.until("pods", ready, seconds=301)
        assert _restarts(well) == _restarts(found) + 1
        assert well["metadata"]["uid"] == found["metadata"]["uid"]

    happen(scene)


def test_a_readiness_probe_that_never_passes_holds_back_traffic_but_restarts_nothing() -> None:
    async def scene(cluster: Accident) -> None:
        probe = {"httpGet": {"path": "/nope", "port": 80}, "periodSeconds": 5}
        await cluster.user.create(PODS, pod("unready", readinessProbe=probe), "default")
        await cluster.until(
            "events",
            lambda events: any(event["reason"] == "Unhealthy" and event.get("count", 1) > 5 for event in events),
        )
        found = await cluster.pod("unready")
        assert (found["status"]["phase"], _restarts(found)) == ("Running", 0)
        assert condition(found, "Ready")["reason"] == "ContainersNotReady"
        ((kind, _, message, count),) = await cluster.events("unready", "Unhealthy")
        assert (kind, message) == ("Warning", "Readiness probe failed: HTTP probe failed with statuscode: 404")
        assert count > 5

    happen(scene)


def test_a_liveness_probe_that_never_passes_kills_again_and_again() -> None:
    async def scene(cluster: Accident) -> None:
        probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 2}
        await cluster.user.create(PODS, pod("sick", livenessProbe=probe), "default")
        (found,) = await cluster.until("pods", lambda pods: pods and _restarts(pods[0]) >= 2)
        events = await cluster.events("sick")
        said = {event[:3] for event in events}
        assert ("Warning", "Unhealthy", "Liveness probe failed: ") in said
        assert ("Normal", "Killing", "Container c failed liveness probe, will be restarted") in said
        assert found["status"]["phase"] == "Running"
        killed = next(count for _, reason, _, count in events if reason == "Killing")
        assert killed >= 2

    happen(scene)


def test_a_startup_probe_that_never_passes_kills_before_liveness_is_asked() -> None:
    async def scene(cluster: Accident) -> None:
        probe = {"tcpSocket": {"port": 81}, "periodSeconds": 1, "failureThreshold": 3}
        spec = pod("slow", startupProbe=probe, livenessProbe={"exec": {"command": ["false"]}, "periodSeconds": 1})
        await cluster.user.create(PODS, spec, "default")
        await cluster.until("pods", lambda pods: pods and _restarts(pods[0]) >= 1)
        messages = [event[2] for event in await cluster.events("slow")]
        assert any(
            re.fullmatch(r"Startup probe failed: dial tcp [\d.]+:81: connect: connection refused", m) for m in messages
        )
        assert "Container c failed startup probe, will be restarted" in messages
        assert not any(message.startswith("Liveness") for message in messages)
        assert (await cluster.container("slow"))["started"] is False

    happen(scene)


def test_a_deployment_whose_pods_crash_is_never_available_and_makes_no_more_of_them() -> None:
    async def scene(cluster: Accident) -> None:
        spec = deployment(2, image="busybox:1.36", command=["sh", "-c", "exit 1"])
        spec["spec"]["progressDeadlineSeconds"] = 30
        await cluster.user.create(DEPLOYMENTS, spec, "default")
        (stuck,) = await cluster.until(
            "deployments.apps", lambda found: condition(found[0], "Progressing")["status"] == "False"
        )
        available = condition(stuck, "Available")
        assert (available["status"], available["reason"]) == ("False", "MinimumReplicasUnavailable")
        assert available["message"] == "Deployment does not have minimum availability."
        first = set(await cluster.pods())
        await cluster.until("pods", lambda pods: min(map(_restarts, pods)) >= 5)
        assert set(await cluster.pods()) == first

    happen(scene, nodes=3)


def _restarts(found: Object) -> int:
    return int((found["status"].get("containerStatuses") or [{}])[0].get("restartCount", 0))


def _waiting(found: Object) -> bool:
    return "waiting" in found["status"]["containerStatuses"][0]["state"]


def _with_command(config: Any, command: tuple[str, ...]) -> Any:
    return replace(config, command=command)
