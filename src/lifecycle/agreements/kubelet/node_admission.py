"""Admission and cgroups held against a real kubelet: which pods it takes, and what the
kernel is told of those that stay.

The real one stood in front of a container runtime of ours. Pods named their node
themselves, one after the other; then others of many shapes came, and their groups were
read from `/sys/fs/cgroup`. Ours gets the same pods, in the same order, on a machine of
the same size.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.cluster.one_node import OneNode, on_one_node
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers
from lifecycle.kubelet.eviction.thresholds import parse_thresholds

EVICTION_HARD = {"memory.available": "100Mi"}
"""What the real one was told."""
ROOT = "asked"
DECIDED = 2.0
"""Seconds in which a hollow container has been started, or a pod refused."""
UNTOLD = {
    "cpu.shares": "1024",
    "cpu.cfs_quota_us": "-1",
    "cpu.cfs_period_us": "100000",
    "memory.limit_in_bytes": "9223372036854771712",
    "pids.max": "max",
}
"""What a kernel says of a group that nobody told anything."""
Groups = Mapping[str, Mapping[str, str]]


def node_admission_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each pod: its phase, and why. `programs`: what the real one said; None:
    as recorded.
    """
    pods = asked(programs, "admitted")
    refused = sum(each.answer["status"]["phase"] == "Failed" for each in pods)
    table = AgreementTable(
        "Admission by the kubelet",
        "lifecycle",
        f"{pods[0].program}, asked directly",
        lambda table: (
            f"{len(pods)} pods come to nodes that no scheduler chose for them. The"
            f" real kubelets refused {refused} of them; ours get the same pods:"
            f" {table.outcome('answers')}, words included."
        ),
        telling="no-half-left",
    )
    ours = our_statuses([each.answer for each in pods])
    for each, mine in zip(pods, ours, strict=True):
        theirs = each.answer["status"]
        what = each.question.partition("/")[2]
        table.add(
            "admission", what, _short(mine), _short(theirs), compare(mine, theirs)
        )
    return table


def _short(status: Object) -> str:
    return str(status.get("reason") or status["phase"])


def our_statuses(asked: list[Object]) -> list[Object]:
    """What our kubelets say of the pods, which come one after the other to nodes that
    are set up in different ways.
    """
    statuses: list[Object] = []
    for _, node in groupby(asked, lambda each: each["settings"]):
        statuses += _statuses(list(node))
    return statuses


def _statuses(asked: list[Object]) -> list[Object]:
    async def scene(node: OneNode) -> list[Object]:
        statuses = []
        for each in asked:
            name = each["pod"]["metadata"]["name"]
            await _come(node, each["pod"])
            status = (await node.pod(name))["status"]
            statuses.append(
                {k: status[k] for k in ("phase", "reason", "message") if k in status}
            )
        return statuses

    played: list[Object] = _on_node(asked[0], scene)
    return played


async def _come(node: OneNode, pod: Object) -> None:
    await node.admin.create(resource("pods"), pod, "default")
    await asyncio.sleep(DECIDED)


def _on_node(asked: Object, scene: Any) -> Any:
    """A scene on a machine of the recorded size, whose kubelet is set up alike."""
    settings = asked["settings"]
    return on_one_node(
        scene,
        local={
            "cgroup_driver": "cgroupfs",
            "cgroup_root": f"/{ROOT}",
            "pod_pids_limit": settings.get("podPidsLimit", -1),
        },
        capacity=asked["machine"]["capacity"],
        eviction_hard=parse_thresholds(EVICTION_HARD),
        allowed_unsafe_sysctls=settings.get("allowedUnsafeSysctls", ()),
        taints=settings.get("registerWithTaints", ()),
    )


def cgroup_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each group. `programs`: as in `node_admission_agreement`."""
    runs = asked(programs, "cgroups")
    table = AgreementTable(
        "Cgroups",
        "lifecycle",
        f"{runs[0].program}, asked directly",
        lambda table: (
            f"{len(runs[0].answer['pods'])} pods of many shapes, on a real kubelet and"
            f" on ours; then the kernel was asked what it had been told of each pod and"
            f" of each class: {table.outcome('groups')}."
        ),
        telling="as it is: kubepods/burstable",
    )
    for each in runs:
        how, theirs = each.question.partition("/")[2], each.answer["groups"]
        ours = our_groups(each.answer)
        for group in sorted({*ours, *theirs}):
            mine, other = (_told(side, group) for side in (ours, theirs))
            table.add(
                "cgroups",
                f"{how}: {group}",
                mine.get("cpu.shares", "none") + " shares",
                other.get("cpu.shares", "none") + " shares",
                compare(mine, other),
            )
    return table


def _told(groups: Groups, group: str) -> dict[str, str]:
    """How many processes a whole node may have is a fact of the machine."""
    values = dict(groups.get(group, {}))
    if group == "kubepods":
        values.pop("pids.max", None)
    return values


def our_groups(asked: Object) -> Groups:
    """Values by group, as our kubelet wrote them, and a kernel's own where it did
    not.
    """

    async def scene(node: OneNode) -> Groups:
        names = {}
        for pod in asked["pods"]:
            await _come(node, pod)
            there = await node.pod(pod["metadata"]["name"])
            names[there["metadata"]["uid"]] = there["metadata"]["name"]
        return _read(node.directory / "cgroup", names)

    groups: Groups = _on_node(asked, scene)
    return groups


def _read(tree: Path, names: Mapping[str, str]) -> Groups:
    groups: dict[str, dict[str, str]] = {}
    for root in sorted(tree.glob(f"*/{ROOT}")):
        for folder in sorted(each for each in root.rglob("*") if each.is_dir()):
            group = str(folder.relative_to(root))
            for uid, name in names.items():
                group = group.replace(uid, name)
            values = groups.setdefault(group, dict(UNTOLD))
            values |= {
                file.name: file.read_text().strip()
                for file in folder.iterdir()
                if file.name in UNTOLD
            }
    return groups
