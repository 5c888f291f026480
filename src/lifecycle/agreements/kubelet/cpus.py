"""The CPU manager held against a real kubelet, on machines of several shapes.

The real one was shown a `/sys` that says how many sockets, cores and threads there are,
and pods came and went. After each, its state file was read, and what the runtime had
been told of the CPUs of each container. Ours has the same machine and the same pods.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.cluster.witness_runtime import POD_NAME, WitnessRuntime
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.cri.apis.container import ContainerState
from lifecycle.kubelet.cm.cpumanager.cpu_set import parse_cpu_set
from lifecycle.kubelet.cm.cpumanager.policy_static import StaticPolicy
from lifecycle.kubelet.cm.cpumanager.topology import CPUTopology

ROUND = 12.0
"""Seconds after which those who share have been told."""


def cpu_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod that comes or goes: who has which CPUs then. `programs`: what
    the real one did; None: as recorded.
    """
    machines = asked(programs, "cpus")
    steps = sum(len(each.answer["steps"]) for each in machines)
    table = AgreementTable(
        "The CPU manager",
        "lifecycle",
        f"{machines[0].program}, asked directly",
        lambda table: (
            f"{steps} times a pod comes or goes, on {len(machines)} machines of"
            " different shapes. Which CPUs the real kubelet gives to whom, whom it"
            f" refuses, and what it tells those who share: {table.outcome('answers')}."
        ),
    )
    for each in machines:
        what = each.question.partition("/")[2]
        ours = our_steps(each.answer)
        for mine, step in zip(ours, each.answer["steps"], strict=True):
            theirs = step["after"]
            table.add(
                what,
                named(step),
                _short(mine, step),
                _short(theirs, step),
                compare(mine, theirs),
            )
    return table


def named(step: Object) -> str:
    """What is done in a step: `pair comes`."""
    pod = step.get("pod")
    return f"{pod['metadata']['name']} comes" if pod else f"{step['delete']} goes"


def _short(after: Object, step: Object) -> str:
    name = step["pod"]["metadata"]["name"] if "pod" in step else step["delete"]
    reason = after.get("status", {}).get("reason")
    own = [v for k, v in after["given"].items() if k.startswith(f"{name}/")]
    return reason or "; ".join(own) or f"shared: {after['shared']}"


def our_steps(machine: Object) -> list[Object]:
    """What is so after each step, with our kubelet."""
    topology = CPUTopology.regular(**machine["machine"])
    reserved = machine["reserved"]
    options = {k.replace("-", "_"): v == "true" for k, v in machine["options"].items()}
    policy = StaticPolicy(
        topology,
        reserved if isinstance(reserved, int) else parse_cpu_set(reserved),
        **options,
    )

    async def scene(node: OneNode, file: Path) -> list[Object]:
        answers, uids = [], {}
        for step in machine["steps"]:
            status = {}
            if "pod" in step:
                made = await node.admin.create(resource("pods"), step["pod"], "default")
                meta = made["metadata"]
                uids[meta["uid"]] = meta["name"]
                await asyncio.sleep(ROUND)
                status = (await node.pod(meta["name"]))["status"]
            else:
                await node.delete_pod(step["delete"], 2 * ROUND)
            told = await told_cpus(node.runtime)
            answers.append(after(_state(file), uids, told, status))
        return answers

    with TemporaryDirectory() as folder:
        file = Path(folder, "cpu_manager_state")
        played: list[Object] = on_one_node(
            lambda node: scene(node, file),
            runtime=WitnessRuntime,
            dependencies={"cpu_policy": policy},
            capacity={
                "cpu": str(len(topology.cpus)),
                "memory": "32Gi",
                "ephemeral-storage": "64Gi",
                "pods": "110",
            },
            kube_reserved={"cpu": str(len(policy.reserved))},
            cpu_manager_state_file=file,
        )
    return played


def _state(file: Path) -> Object:
    state: Object = json.loads(file.read_text())
    return state


async def told_cpus(runtime: Any) -> dict[str, str]:
    """What the runtime was told of each container that runs, by pod and name: when it
    was created, and last.
    """
    created: dict[str, str] = {}
    for each in await runtime.list_containers():
        if each.state is ContainerState.RUNNING:
            pod, name = each.labels[POD_NAME], each.metadata.name
            config = runtime.container_configs[pod, name]
            created[f"{pod}/{name}"] = config.resources.get("cpuset_cpus", "")
    told = dict(created)
    for call, *rest in runtime.calls:
        if call == "update":
            pod, name, linux = rest
            if f"{pod}/{name}" in told:
                told[f"{pod}/{name}"] = linux.get("cpuset_cpus", "")
    return {name: f"{cpus}, now {told[name]}" for name, cpus in created.items()}


def after(
    state: Object, uids: Mapping[str, str], told: Mapping[str, str], status: Object
) -> Object:
    """The state file with names for uids, what containers run on, and why a pod was
    refused.
    """
    return {
        "policy": state["policyName"],
        "shared": state["defaultCpuSet"],
        "given": {
            f"{uids[uid]}/{name}": cpus
            for uid, containers in (state.get("entries") or {}).items()
            for name, cpus in containers.items()
        },
        "told": dict(told),
        "status": {k: status[k] for k in ("phase", "reason", "message") if k in status},
    }
