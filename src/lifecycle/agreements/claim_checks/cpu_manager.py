"""Claims about the CPU manager: put to our own, and to what the recorded nodes show of
theirs (policy *none*).
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare.claims import Partly, check, rebuilt, some
from lifecycle.cri.hollow.runtime import HollowRuntime
from lifecycle.inspector import Recording
from lifecycle.kubelet.cm.cpumanager.cpu_manager import CPUManager
from lifecycle.kubelet.cm.cpumanager.cpu_set import format_cpu_set
from lifecycle.kubelet.cm.cpumanager.policy_static import NonePolicy, StaticPolicy
from lifecycle.kubelet.cm.cpumanager.state import CPUState
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology
from lifecycle.kubelet.kuberuntime.container_config import (
    generate_container_config,
    generate_pod_sandbox_config,
)

MANY = 10


def _pod(name: str, cpu: str, limit: str = "") -> Object:
    requests = {"cpu": cpu, "memory": "1Gi"}
    resources = {"requests": requests, "limits": {**requests, "cpu": limit or cpu}}
    container = {
        "name": "c",
        "image": "busybox",
        "command": ["sleep", "1000"],
        "resources": resources,
    }
    return {
        "metadata": {"name": name, "namespace": "n", "uid": name},
        "spec": {"containers": [container]},
    }


@check("cpu-manager-is-alpha-since-1-8")
def is_alpha(recording: Recording) -> bool | None:
    """An alpha feature needs its gate opened, by the name of `CPUManager`. These
    kubelets' configuration opens none.
    """
    if not recording.nodes():
        return None
    configs = [recording.node(name).run("kubelet-config") for name in recording.nodes()]
    return some(
        "CPUManager" in config for config in configs if "KubeletConfiguration" in config
    )


@check("cpu-manager-uses-updatecontainerresources")
def uses_update(recording: Recording) -> bool | None:
    """The runtime's log of a node on which many containers were started: was that call
    ever made?
    """
    if not recording.nodes():
        return None
    log = recording.node("worker").run("containerd-log")
    return (
        "UpdateContainerResources" in log
        if log.count("StartContainer for") >= MANY
        else None
    )


@rebuilt("cpu-manager-assigns-containers-to-cpus")
def assigns() -> Partly:
    """Under *static* a guaranteed container with whole CPUs gets its own; half a CPU,
    or the policy *none*, gets nothing.
    """
    whole, half = _pod("whole", "2"), _pod("half", "500m")
    static = CPUManager(
        StaticPolicy(CPUTopology.regular(1, 4), 1),
        CPUState("static"),
        HollowRuntime(),
        lambda: [whole, half],
    )
    none = CPUManager(NonePolicy(), CPUState("none"), HollowRuntime(), lambda: [whole])
    for manager in (static, none):
        manager.admit(whole)
    static.admit(half)
    own = static.state.get("whole", "c")
    alone = (
        own is not None
        and format_cpu_set(own) == "1,5"
        and not own & static.state.default
    )
    return Partly(
        alone,
        static.state.get("half", "c") is None and none.state.get("whole", "c") is None,
    )


@rebuilt("cpu-manager-uses-updatecontainerresources")
def our_update() -> bool:
    """A start with exclusive CPUs: they are in the config, and no update comes between
    creation and start.
    """

    async def main() -> bool:
        runtime, pod, calls = HollowRuntime(), _pod("p", "2"), list[str]()
        await runtime.update_runtime_config("10.0.0.0/24")
        await runtime.pull_image("busybox")
        manager = CPUManager(
            StaticPolicy(CPUTopology.regular(1, 4), 1),
            CPUState("static"),
            runtime,
            lambda: [pod],
        )
        manager.admit(pod)
        real: Any = runtime.update_container_resources

        async def listened(container_id: str, resources: Any) -> None:
            calls.append("update")
            await real(container_id, resources)

        runtime.update_container_resources = listened  # type: ignore[method-assign]
        sandbox = await runtime.run_pod_sandbox(generate_pod_sandbox_config(pod, 0))
        [container] = pod["spec"]["containers"]
        resources = manager.pre_create_container(pod, container, {})
        created = await runtime.create_container(
            sandbox, generate_container_config(pod, container, 0, resources=resources)
        )
        between = list(calls)
        await runtime.start_container(created)
        status = await runtime.container_status(created)
        await runtime.stop_container(created, 0)
        return status.resources.get("cpuset_cpus") != "1,5" or "update" in between

    return on_virtual_time(main())
