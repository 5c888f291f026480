"""Limits: the cgroups of a container, in version 1 (a tree per controller) or version 2
(one tree), as they are mounted.

Namespaces decide what a process sees; how much CPU and memory it gets is decided here
and nowhere else. A cgroup is a directory; its limits are files; its members are the
process ids in `cgroup.procs`, and children inherit membership.

CPU shares (1024 for one CPU) became a weight of 1 to 10000 in version 2.

Upstream: runc `libcontainer/cgroups/fs`, `fs2`,
`cgroups.ConvertCPUSharesToCgroupV2Value`; systemd's slices are only followed in their
names. Left out: device rules in version 2 (they take a BPF program), huge pages, block
I/O.
"""

from __future__ import annotations

import math
import os
import signal
import time
from contextlib import suppress
from typing import Any

Spec = dict[str, Any]

CONTROLLERS = ("cpu", "cpuacct", "memory", "pids", "cpuset", "devices", "freezer")
DEFAULT_DEVICES = (
    "c *:* m", "b *:* m", "c 1:3 rwm", "c 1:5 rwm", "c 1:7 rwm", "c 1:8 rwm",
    "c 1:9 rwm", "c 5:0 rwm",
    "c 5:1 rwm", "c 5:2 rwm", "c 136:* rwm",
)  # fmt: skip


def hierarchies() -> dict[str, str]:
    """Where each controller's tree is mounted; the key is empty for a version 2
    tree.
    """
    mount_points: dict[str, str] = {}
    with open("/proc/self/mounts") as mounts:
        for line in mounts:
            _, path, kind, options, *_ = line.split()
            if kind == "cgroup":
                for option in options.split(","):
                    if option in CONTROLLERS:
                        mount_points[option] = path
            elif kind == "cgroup2" and "" not in mount_points:
                mount_points[""] = path
    if len(mount_points) > 1 and "" in mount_points:
        del mount_points[""]  # mixed: the limits are in the version 1 trees
    return mount_points


def directory_of(cgroups_path: str) -> str:
    """The directory below each tree. `SLICE:PREFIX:ID` is laid out as systemd does:
    `a.slice/a-b.slice/PREFIX-ID.scope`.
    """
    if ":" not in cgroups_path:
        return cgroups_path.strip("/")
    slice_name, prefix, container_id = cgroups_path.split(":")
    parts = slice_name.removesuffix(".slice").split("-")
    slices = ["-".join(parts[: depth + 1]) + ".slice" for depth in range(len(parts))]
    return "/".join([*slices, f"{prefix}-{container_id}.scope"])


def cpu_weight(shares: int) -> int:
    """Version 2's weight for version 1's shares: 2 → 1, 1024 → 100, 262144 → 10000, a
    curve through these three.
    """
    if shares == 0:
        return 0
    if shares <= 2:
        return 1
    if shares >= 262144:
        return 10000
    level = math.log2(shares)
    return math.ceil(10 ** ((level * level + 125 * level) / 612.0 - 7.0 / 34.0))


def _write(path: str, value: object) -> None:
    with open(path, "w") as file:
        file.write(str(value))


def _read(path: str) -> str:
    with open(path) as file:
        return file.read()


class Cgroup:
    """One container's. `path` is the spec's `cgroupsPath`."""

    def __init__(self, path: str, trees: dict[str, str] | None = None) -> None:
        self.relative = directory_of(path)
        self._trees = hierarchies() if trees is None else trees
        self.unified = "" in self._trees

    def _path(self, controller: str = "", file: str = "") -> str:
        tree = self._trees.get("" if self.unified else controller, "")
        return os.path.join(tree, self.relative, file) if tree else ""

    def _paths(self) -> list[str]:
        return sorted(
            {os.path.join(tree, self.relative) for tree in self._trees.values()}
        )

    def directories(self) -> dict[str, str]:
        """The group's directory by controller; the key is empty in version 2."""
        return {
            controller: os.path.join(tree, self.relative)
            for controller, tree in self._trees.items()
        }

    def root(self) -> str:
        """Version 2: where the whole tree is mounted."""
        return self._trees[""]

    def tree_name(self, controller: str) -> str:
        """Version 1: the name of the directory where a controller's tree is mounted, as
        `cpu,cpuacct`.
        """
        return os.path.basename(self._trees[controller])

    def create(self, resources: Spec) -> None:
        """Make the directories and set the limits. Raises OSError."""
        for tree in set(self._trees.values()):
            path = tree
            for part in self.relative.split("/"):
                if self.unified:
                    self._hand_down(path)
                path = os.path.join(path, part)
                os.makedirs(path, exist_ok=True)
                if tree == self._trees.get("cpuset"):
                    self._fill_cpuset(path)
        self.update(resources)
        if (
            not self.unified
            and "devices" in self._trees
            and not (resources.get("devices") or [{}])[0].get("allow")
        ):
            with suppress(
                OSError
            ):  # a tree that is itself restricted cannot take more away
                _write(self._path("devices", "devices.deny"), "a")
                for rule in DEFAULT_DEVICES:
                    _write(self._path("devices", "devices.allow"), rule)

    @staticmethod
    def _hand_down(path: str) -> None:
        """Version 2: children only have the controllers that their parent hands
        down.
        """
        with suppress(OSError):
            for name in _read(f"{path}/cgroup.controllers").split():
                with suppress(OSError):
                    _write(f"{path}/cgroup.subtree_control", "+" + name)

    @staticmethod
    def _fill_cpuset(path: str) -> None:
        """Version 1: a new cpuset is empty, and nothing may run in it until it has been
        given something.
        """
        for name in ("cpuset.cpus", "cpuset.mems"):
            if not _read(f"{path}/{name}").strip():
                _write(
                    f"{path}/{name}", _read(f"{os.path.dirname(path)}/{name}").strip()
                )

    def update(self, resources: Spec) -> None:
        """Set the limits that are given; `resources` is the spec's. Raises OSError."""
        cpu, memory = resources.get("cpu") or {}, resources.get("memory") or {}
        for controller, file, value in self._settings(cpu, memory):
            path = self._path(controller, file)
            if path and value:
                _write(path, value)
        for file, value in (resources.get("unified") or {}).items():
            if self.unified:
                _write(self._path("", file), value)

    def _settings(self, cpu: Spec, memory: Spec) -> list[tuple[str, str, object]]:
        limit, swap = memory.get("limit"), memory.get("swap")
        if self.unified:
            quota = cpu.get("quota")
            top = (
                f"{quota if quota and quota > 0 else 'max'}"
                f" {cpu.get('period') or 100000}"
                if quota
                else ""
            )
            return [
                ("", "cpu.weight", cpu_weight(cpu.get("shares") or 0)),
                ("", "cpu.max", top),
                ("", "memory.max", "max" if limit == -1 else limit),
                ("", "memory.swap.max", "0" if swap and swap == limit else ""),
                ("", "cpuset.cpus", cpu.get("cpus")),
                ("", "cpuset.mems", cpu.get("mems")),
            ]
        # the limit with swap may never be below the one without: which comes first
        # depends on the direction
        total = self._path("memory", "memory.memsw.limit_in_bytes")
        with_swap = swap if total and os.path.exists(total) else None
        pair: list[tuple[str, str, object]] = [
            ("memory", "memory.limit_in_bytes", limit),
            ("memory", "memory.memsw.limit_in_bytes", with_swap),
        ]
        if with_swap and limit and os.path.exists(total) and int(_read(total)) < limit:
            pair.reverse()
        return [
            ("cpu", "cpu.shares", cpu.get("shares")),
            ("cpu", "cpu.cfs_period_us", cpu.get("period")),
            ("cpu", "cpu.cfs_quota_us", cpu.get("quota")),
            *pair,
            ("cpuset", "cpuset.cpus", cpu.get("cpus")),
            ("cpuset", "cpuset.mems", cpu.get("mems")),
        ]

    def join(self) -> None:
        """Put the calling process in; its children follow."""
        for path in self._paths():
            _write(f"{path}/cgroup.procs", 0)

    def members(self) -> set[int]:
        """Process ids, in this machine's numbers."""
        pids: set[int] = set()
        for path in self._paths():
            with suppress(OSError):
                pids |= {int(line) for line in _read(f"{path}/cgroup.procs").split()}
        return pids

    def kill(self) -> None:
        """SIGKILL to everyone in it, until nobody is left."""
        for _ in range(100):
            members = self.members()
            if not members:
                return
            for pid in members:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.005)

    def oom_kills(self) -> int:
        """How often the kernel killed someone in it for want of memory."""
        with suppress(OSError, ValueError):
            name = "memory.events" if self.unified else "memory.oom_control"
            for line in _read(self._path("memory", name)).splitlines():
                word, _, count = line.partition(" ")
                if word == "oom_kill":
                    return int(count)
        return 0

    def usage(self) -> tuple[int, int]:
        """Nanoseconds of CPU time, and bytes of memory that cannot simply be dropped
        (the working set).
        """
        cpu = memory = 0
        with suppress(OSError, ValueError, StopIteration):
            if self.unified:
                lines = dict(
                    line.split()
                    for line in _read(self._path("", "cpu.stat")).splitlines()
                )
                cpu = int(lines["usage_usec"]) * 1000
            else:
                cpu = int(_read(self._path("cpuacct", "cpuacct.usage")))
        with suppress(OSError, ValueError):
            file = "memory.current" if self.unified else "memory.usage_in_bytes"
            inactive = "inactive_file" if self.unified else "total_inactive_file"
            stat = dict(
                line.split()
                for line in _read(self._path("memory", "memory.stat")).splitlines()
            )
            memory = max(
                int(_read(self._path("memory", file))) - int(stat[inactive]), 0
            )
        return cpu, memory

    def remove(self) -> None:
        """Kill what is left and take the directory away; parents stay, they are the
        kubelet's.
        """
        self.kill()
        for path in self._paths():
            for _ in range(50):
                try:
                    os.rmdir(path)
                except FileNotFoundError:
                    break
                except OSError:  # the last member is still being buried
                    time.sleep(0.01)
                else:
                    break
