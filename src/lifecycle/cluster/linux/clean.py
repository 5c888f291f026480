"""Take a run away: every process, mount, cgroup and file of it.

One path for all endings. After Ctrl-C it follows the cluster's own stop; after a `kill
-9` the next `lifecycle up`, or `lifecycle doctor --clean`, walks it for every run whose
owner is dead. It needs nothing but the run's id: processes are found by their cgroup,
or by a command line that names the run's directory; mounts by the place they are at.
Networks need no care, see `run_state`.

Upstream: none; `kubeadm reset` and `kind delete cluster` do this for theirs.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

from lifecycle.cluster.linux.run_state import RUN_LABEL, RUNS, Run, cgroup_trees, runs
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.client import CriClient
from lifecycle.cri.removal import remove_tree
from lifecycle.cri.sandbox.clean import unmount_below
from lifecycle.cri.sandbox.launch import start_time

SOCKET_FILE = "containerd.socket"
"""In the directory of a run that used a containerd which was there before: the path of
its socket.
"""

PATIENCE = 30.0
"""Seconds that killed processes and their cgroups get to disappear. On an idle machine
it takes a few hundredths of one.
"""


def processes(run: Run) -> set[int]:
    """The run's processes but this one, in this machine's numbers."""
    pids: set[int] = set()
    for directory in _cgroups(run):
        with suppress(OSError):
            pids |= {
                int(line) for line in (directory / "cgroup.procs").read_text().split()
            }
    mark = f"{run.directory}/".encode()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                if mark in Path(entry.path, "cmdline").read_bytes() + b"/":
                    pids.add(int(entry.name))
    return {pid for pid in pids - {os.getpid()} if start_time(pid)}


def mounts(run: Run) -> list[str]:
    """Places below the run's directory where something is mounted."""
    with open("/proc/self/mounts") as lines:
        points = [line.split()[1].replace("\\040", " ") for line in lines]
    return [point for point in points if point.startswith(f"{run.directory}/")]


def _cgroups(run: Run) -> list[Path]:
    """Its cgroups in all trees, children before parents."""
    cgroups: list[Path] = []
    for tree in cgroup_trees():
        for directory, _, _ in os.walk(Path(tree) / run.cgroup, topdown=False):
            cgroups.append(Path(directory))
    return cgroups


def leftovers(run: Run) -> list[str]:
    """What there is of a run, in words; empty if it is gone."""
    remains = [f"process {pid}" for pid in sorted(processes(run))]
    remains += [f"mount {point}" for point in mounts(run)]
    remains += [f"cgroup {directory}" for directory in _cgroups(run)]
    if run.directory.exists():
        remains.append(f"directory {run.directory}")
    return remains


async def remove_sandboxes(client: CriClient, run_id: str) -> None:
    """What a run made in a containerd that goes on without it. Raises
    RuntimeServiceError.
    """
    items = (
        await client.call(
            "ListPodSandbox", {"filter": {"label_selector": {RUN_LABEL: run_id}}}
        )
    ).get("items") or []
    for item in items:
        await client.stop_pod_sandbox(item["id"])
        await client.remove_pod_sandbox(item["id"])


def _tell_containerd(run: Run) -> None:
    """Before its processes are killed: a containerd that is not ours should know
    why.
    """

    async def tell(socket: str) -> None:
        client = CriClient(socket, timeout=10.0)
        try:
            await remove_sandboxes(client, run.id)
        finally:
            await client.close()

    with suppress(
        FileNotFoundError, RuntimeServiceError
    ):  # a containerd that is gone has nothing of ours
        asyncio.run(tell((run.directory / SOCKET_FILE).read_text()))


def clean(run: Run) -> None:
    """Everything of the run goes. Raises OSError naming what would not. Not to be
    called on a running event loop.
    """
    _tell_containerd(run)
    deadline = time.monotonic() + PATIENCE
    killed: set[int] = set()
    while True:
        for pid in processes(run):
            killed.add(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for directory in _cgroups(run):
            with suppress(OSError):
                directory.rmdir()
        left = [*processes(run), *_cgroups(run)]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.02)
    for pid in killed:
        with suppress(
            ChildProcessError
        ):  # those that are our own children are ours to bury
            os.waitpid(pid, os.WNOHANG)
    unmount_below(str(run.directory))
    with suppress(OSError):
        remove_tree(run.directory)
    with suppress(OSError):
        RUNS.rmdir()  # only if it was the last one
    remaining = leftovers(run)
    if remaining:
        raise OSError(f"run {run.id} left something behind: {', '.join(remaining[:5])}")


def clean_abandoned() -> list[str]:
    """Take away every run whose owner is dead; what was found of each. Others are left
    alone. Raises OSError.
    """
    lines = []
    for run in runs():
        if not run.owned():
            remains = leftovers(run)
            clean(run)
            lines.append(f"run {run.id}: {len(remains)} things taken away")
    return lines
