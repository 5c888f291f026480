"""Probes: when they are asked, what counts, and what is said of it. On virtual time, over hollow containers."""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.kubelet.container.container_facts import expand_command_only_static
from tests.kubelet.small_cluster import small_cluster
from tests.kubelet.test_kubelet import ONE_NODE, nginx

SHELL = {"image": "busybox:1.36", "command": ["sh", "-c", "sleep 3600"]}


def played(pod: Object, seconds: float) -> tuple[Object, list[Object], float]:
    """The pod after so many seconds, the events, and after how many seconds it became ready (0: never)."""

    async def main() -> tuple[Object, list[Object], float]:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(pod)
            begin, ready = asyncio.get_running_loop().time(), 0.0
            while (now := asyncio.get_running_loop().time() - begin) < seconds:
                await asyncio.sleep(0.1)
                if not ready and condition(await cluster.pod("p"), "Ready") == "True":
                    ready = now
            return await cluster.pod("p"), await cluster.events("default"), ready

    return run_virtual(main())


def condition(pod: Object, kind: str) -> str:
    return next((c["status"] for c in pod["status"].get("conditions", ()) if c["type"] == kind), "")


def probed(container: Object, **probes: Object) -> Object:
    pod = nginx("p", terminationGracePeriodSeconds=1)
    pod["spec"]["containers"][0] |= container | probes
    return pod


def said(events: list[Object], reason: str) -> dict[str, int]:
    return {e["message"]: e.get("count", 1) for e in events if e["reason"] == reason}


def test_readiness_is_asked_as_soon_as_the_container_runs_whatever_its_period() -> None:
    _, _, ready = played(probed({}, readinessProbe={"httpGet": {"port": 80}, "periodSeconds": 30}), 5)
    assert 0 < ready < 2


def test_readiness_is_asked_as_soon_as_the_startup_probe_has_passed() -> None:
    probes: Any = {
        "startupProbe": {"tcpSocket": {"port": 80}, "periodSeconds": 2, "initialDelaySeconds": 3},
        "readinessProbe": {"httpGet": {"port": 80}, "periodSeconds": 30},
    }
    _, _, ready = played(probed({}, **probes), 10)
    assert 3 < ready < 6


def test_an_initial_delay_lets_periods_pass_and_does_not_move_them() -> None:
    """The first moment of the period after the delay: at six seconds, not at five."""
    probe = {"httpGet": {"port": 80}, "periodSeconds": 3, "initialDelaySeconds": 5}
    _, _, ready = played(probed({}, readinessProbe=probe), 12)
    assert 5.5 < ready < 7


def test_a_program_that_is_not_there_makes_no_probe_fail() -> None:
    """It is tried again and again, nothing comes of it, and an event of its own says so."""
    probe = {"exec": {"command": ["/no/such"]}, "periodSeconds": 1, "failureThreshold": 1}
    pod, events, ready = played(probed(SHELL, livenessProbe=probe, readinessProbe=probe), 15)
    [status] = pod["status"]["containerStatuses"]
    assert (status["restartCount"], status["ready"], ready) == (0, False, 0)
    texts = said(events, "Unhealthy")
    assert all(" probe errored and resulted in unknown state: rpc error: code = Unknown" in text for text in texts)
    assert {text.partition(" ")[0] for text in texts} == {"Liveness", "Readiness"}


def test_a_command_that_takes_too_long_has_failed() -> None:
    probe = {"exec": {"command": ["sleep", "5"]}, "periodSeconds": 3}
    _, events, _ = played(probed(SHELL, readinessProbe=probe), 8)
    assert set(said(events, "Unhealthy")) == {'Readiness probe failed: command timed out: "sleep 5" timed out after 1s'}


def test_a_port_that_nobody_named_is_no_answer() -> None:
    probe = {"tcpSocket": {"port": "web"}, "periodSeconds": 1, "failureThreshold": 1}
    pod, events, _ = played(probed({}, livenessProbe=probe), 6)
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    assert set(said(events, "Unhealthy")) == {
        'Liveness probe errored and resulted in unknown state: strconv.Atoi: parsing "web": invalid syntax'
    }


def test_what_is_not_to_be_started_again_is_not_announced_so() -> None:
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 1}
    pod = probed(SHELL, livenessProbe=probe)
    pod["spec"]["restartPolicy"] = "Never"
    pod["spec"]["containers"].append({"name": "other", **SHELL})
    after, events, _ = played(pod, 10)
    assert set(said(events, "Killing")) == {"Container c failed liveness probe"}
    assert after["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137


def test_who_is_being_ended_is_still_asked_whether_it_is_ready_but_not_whether_it_lives() -> None:
    async def main() -> list[Object]:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            fails = {"exec": {"command": ["false"]}, "periodSeconds": 4}
            lasting = probed(SHELL, readinessProbe=fails, livenessProbe={**fails, "failureThreshold": 9})
            lasting["spec"]["terminationGracePeriodSeconds"] = 20
            await cluster.create_pod(lasting)
            await asyncio.sleep(2)
            await cluster.admin.delete(resource("pods"), "p", "default")
            await asyncio.sleep(15)
            return await cluster.events("default")

    texts = said(run_virtual(main()), "Unhealthy")
    assert texts["Readiness probe failed: "] >= 3
    assert texts["Liveness probe failed: "] == 1  # before it was deleted


def test_a_probes_command_knows_only_the_containers_own_literal_variables() -> None:
    envs = [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
    assert expand_command_only_static(("$(A)", "x$(B)", "$(C)", "$$(A)"), envs) == ("1", "x", "$(C)", "$(A)")


def sidecar(**probes: Object) -> Object:
    pod = nginx("p", terminationGracePeriodSeconds=1)
    pod["spec"]["initContainers"] = [{"name": "side", "restartPolicy": "Always", **SHELL, **probes}]
    return pod


def test_a_sidecar_that_fails_its_startup_probe_holds_up_the_others() -> None:
    """It is replaced, again and again; nothing that comes after it is ever started."""
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 2}
    pod, events, _ = played(sidecar(startupProbe=probe), 40)
    assert pod["status"]["phase"] == "Pending"
    assert pod["status"]["initContainerStatuses"][0]["restartCount"] >= 2
    assert pod["status"]["containerStatuses"][0]["state"] == {"waiting": {"reason": "PodInitializing"}}
    assert set(said(events, "Killing")) == {"Init container side failed startup probe"}


def test_a_sidecar_that_fails_its_liveness_probe_is_replaced_beside_the_others() -> None:
    probe = {"exec": {"command": ["false"]}, "periodSeconds": 1, "failureThreshold": 2}
    pod, events, _ = played(sidecar(livenessProbe=probe), 6)
    assert pod["status"]["initContainerStatuses"][0]["restartCount"] >= 1
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 0
    assert set(said(events, "Killing")) == {"Init container side failed liveness probe"}


def test_a_container_that_loses_its_sign_of_life_is_replaced() -> None:
    """The example of Kubernetes' own documentation: well for half a minute, then not."""
    script = "touch /tmp/healthy; sleep 30; rm -f /tmp/healthy; sleep 600"
    probe = {"exec": {"command": ["cat", "/tmp/healthy"]}, "initialDelaySeconds": 5, "periodSeconds": 5}
    doctor = probed({"image": "busybox:1.36", "command": ["/bin/sh", "-c", script]}, livenessProbe=probe)
    pod, events, _ = played(doctor, 29)
    assert (pod["status"]["containerStatuses"][0]["restartCount"], said(events, "Unhealthy")) == (0, {})
    pod, events, _ = played(doctor, 50)
    assert pod["status"]["containerStatuses"][0]["restartCount"] == 1
    assert said(events, "Unhealthy") == {
        "Liveness probe failed: cat: can't open '/tmp/healthy': No such file or directory\n": 3
    }


def test_what_a_hook_leaves_behind_a_probe_can_find() -> None:
    hook = {"postStart": {"exec": {"command": ["sh", "-c", "touch /tmp/ready"]}}}
    probe = {"exec": {"command": ["test", "-e", "/tmp/ready"]}, "periodSeconds": 1}
    _, _, ready = played(probed({**SHELL, "lifecycle": hook}, readinessProbe=probe), 3)
    assert ready
    _, _, ready = played(probed(SHELL, readinessProbe=probe), 3)
    assert not ready


def test_while_a_pod_ends_only_its_readiness_is_still_asked_and_told() -> None:
    """The hook takes away what both probes look for: the pod is not ready any more, and nobody kills it for being ill."""
    look = {"exec": {"command": ["test", "-f", "/tmp/well"]}, "periodSeconds": 1, "failureThreshold": 1}
    container = {
        "image": "busybox:1.36",
        "command": ["sh", "-c", "touch /tmp/well; sleep 3600"],
        "lifecycle": {"preStop": {"exec": {"command": ["rm", "/tmp/well"]}}},
    }
    pod = probed(container, readinessProbe=look, livenessProbe=look)
    pod["spec"]["terminationGracePeriodSeconds"] = 20

    async def main() -> tuple[Object, Object, list[Object]]:
        async with small_cluster(nodes=ONE_NODE) as cluster:
            await cluster.create_pod(pod)
            await asyncio.sleep(5)
            before = await cluster.pod("p")
            await cluster.admin.delete(resource("pods"), "p", "default")
            await asyncio.sleep(5)
            return before, await cluster.pod("p"), await cluster.events("default")

    before, after, events = run_virtual(main())
    assert (condition(before, "Ready"), condition(after, "Ready")) == ("True", "False")
    [status] = after["status"]["containerStatuses"]
    assert (list(status["state"]), status["ready"], status["started"]) == (["running"], False, True)
    assert condition(after, "ContainersReady") == "False"
    assert after["status"]["phase"] == "Running"
    [failed] = said(events, "Unhealthy")
    assert failed.startswith("Readiness probe failed")
    assert said(events, "Killing") == {"Stopping container c": 1}
