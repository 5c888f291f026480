"""The steps of a sync, and pods for which it stops half way: what they need first is
not to be had.
"""

from __future__ import annotations

import asyncio

from lifecycle.agreements.claim_checks.logged import logged
from lifecycle.api.wire import Object
from lifecycle.cluster.one_node import OneNode
from lifecycle.kubelet import pod_workers

STEPS = [
    "metrics",
    "status",
    "cgroups",
    "directories",
    "volumes",
    "pull secrets",
    "runtime",
]
BUG = "sync of buggy failed: RuntimeError"
NO_NETWORK = "NetworkPluginNotReady"


async def steps_of_a_pod(node: OneNode) -> list[str]:
    """Those of a new one that nothing is in the way of."""
    await node.run_pod("a")
    return [step for step, name in node.steps if name == "a"][:7]


async def each_is_waited_for(node: OneNode) -> bool:
    """Pods that come while the network is not ready, while there is a file where the
    groups should be, and while there is one where the directories should be.
    """
    node.kubelet.registration.network_error = NO_NETWORK
    pod = await node.run_pod("offline")
    on_host = await node.run_pod("of-the-host", hostNetwork=True)
    node.kubelet.registration.network_error = ""
    phases = [pod["status"]["phase"], on_host["status"]["phase"]]
    told = [await node.events("NetworkNotReady")]
    order = [_got_as_far_as(node, "offline")]
    for name, directory, reason in (
        ("ungrouped", "cgroup/cpu/kubepods.slice", "FailedToCreatePodContainer"),
        ("homeless", "kubelet/pods", "FailedToMakePodDataDirectories"),
    ):
        place, aside = node.directory / directory, node.directory / "aside"
        place.rename(aside)
        place.touch()
        phases.append((await node.run_pod(name))["status"]["phase"])
        order.append(_got_as_far_as(node, name))
        told.append(await node.events(reason))
        place.unlink()
        aside.rename(place)
    failed = await _is_tried_again(node)
    await asyncio.sleep(60)
    settled = [(await node.pod(n))["status"]["phase"] for n in ("offline", "homeless")]
    return (
        phases == ["Pending", "Running", "Pending", "Pending"]
        and order == ["status", "cgroups", "directories"]
        and [each[0].partition(": ")[0] for each in told]
        == [
            "network is not ready",
            "unable to ensure pod container exists",
            "error making pod data directories",
        ]
        and told[0][0].endswith(NO_NETWORK)
        and settled == ["Running", "Running"]
        and failed == [f"ERROR {BUG}"] * 2
    )


async def _is_tried_again(node: OneNode) -> list[str]:
    """What is logged of a pod whose sync fails twice, of what nobody has thought of;
    nothing if it does not run in the end.
    """
    failures = iter(range(2))

    def fail(step: str, pod: Object) -> None:
        if (step, pod["metadata"]["name"]) == ("volumes", "buggy"):
            for _ in failures:
                raise RuntimeError("nobody thought of it")

    node.watchers.append(fail)
    with logged(pod_workers.__name__) as lines:
        pod = await node.run_pod("buggy", seconds=60)
    return lines if pod["status"]["phase"] == "Running" else []


def _got_as_far_as(node: OneNode, name: str) -> str:
    return [step for step, pod in node.steps if pod == name][-1]
