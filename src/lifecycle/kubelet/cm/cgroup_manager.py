"""Writing cgroups: a tree of directories in which every file is a setting.

In version 1 each controller has a tree of its own (`cpu/`, `memory/`, `pids/` …) and a
group exists in all of them; in version 2 there is one tree, and a parent has to hand
its controllers down. A directory made there is a cgroup, a file written is a limit,
`rmdir` ends it. On an ordinary directory the same code leaves the same files, which is
how it can be watched without being root.

With the systemd driver upstream asks systemd over D-Bus to make a slice; here the
slice's directory is made directly.

Upstream: `pkg/kubelet/cm/cgroup_manager_linux.go`, `cgroup_v1_manager_linux.go`,
`cgroup_v2_manager_linux.go`, with `opencontainers/cgroups` underneath, v1.36.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from lifecycle.api.go.format import go_path_error
from lifecycle.kubelet.cm.cgroup_names import CgroupName, cgroup_path
from lifecycle.kubelet.cm.resource_config import ResourceConfig, cpu_shares_to_weight

V1_CONTROLLERS = (
    "cpu",
    "cpuacct",
    "cpuset",
    "memory",
    "devices",
    "freezer",
    "blkio",
    "pids",
    "hugetlb",
)
V2_CONTROLLERS = ("cpu", "cpuset", "memory", "hugetlb", "pids")
UNLIMITED_V1_MEMORY = 9223372036854771712
"""What an unlimited group says on a kernel with pages of 4 KiB."""


class CgroupError(OSError):
    """The tree does not take it."""

    def __str__(self) -> str:
        return str(self.strerror or self.args[0])


def cgroup_version(root: Path) -> int:
    """2 if the directory is the root of a unified tree, else 1."""
    return 2 if (root / "cgroup.controllers").exists() else 1


def is_cgroup_filesystem(path: Path) -> bool:
    """Whether the kernel's cgroup file system is mounted at or above a path. Where
    nobody tells of mounts, as in a browser's tab, there is none.
    """
    best, kind, mounts = "", "", Path("/proc/self/mountinfo")
    for line in mounts.read_text().splitlines() if mounts.exists() else ():
        left, _, right = line.partition(" - ")
        point = left.split()[4]
        if (str(path) + "/").startswith(point.rstrip("/") + "/") and len(point) >= len(
            best
        ):
            best, kind = point, right.split()[0]
    return kind in ("cgroup", "cgroup2")


class CgroupManager:
    """One tree. `root` is what is mounted at `/sys/fs/cgroup`; `driver` decides about
    names.

    `controllers` (version 1) are the sub-directories to work in; those that are not
    there are left out.
    """

    def __init__(
        self, root: Path, *, version: int = 0, driver: str = "systemd"
    ) -> None:
        self.root = root
        self.version = version or cgroup_version(root)
        self.driver = driver
        self.controllers = tuple(
            name for name in V1_CONTROLLERS if (root / name).is_dir()
        )

    def name(self, cgroup: CgroupName) -> str:
        """As the tree spells it, from its root."""
        return cgroup_path(cgroup, self.driver)

    def paths(self, cgroup: CgroupName) -> dict[str, Path]:
        """The group's directories by controller; in version 2 there is one, under the
        empty name.
        """
        relative = self.name(cgroup).lstrip("/")
        if self.version == 2:
            return {"": self.root / relative}
        return {
            controller: self.root / controller / relative
            for controller in self.controllers
        }

    def exists(self, cgroup: CgroupName) -> bool:
        """Whether it is there, in every controller's tree."""
        return all(path.is_dir() for path in self.paths(cgroup).values())

    def create(self, cgroup: CgroupName, config: ResourceConfig | None = None) -> None:
        """Make the group and its parents, then set its limits. Raises CgroupError."""
        try:
            for controller, path in self.paths(cgroup).items():
                for directory in reversed([path, *_below(self.root, path)]):
                    directory.mkdir(exist_ok=True)
                    if self.version == 2 and directory != path:
                        self._hand_down(directory)
                    elif controller == "cpuset":
                        _copy_cpuset(directory)
        except OSError as error:
            raise CgroupError(
                error.errno,
                f"failed to create container for [{' '.join(cgroup)}] :"
                f" {go_path_error('mkdir', error)}",
            ) from None
        if config is not None:
            self.update(cgroup, config)

    def update(self, cgroup: CgroupName, config: ResourceConfig) -> None:
        """Set limits; what is None stays as it is. Raises CgroupError."""
        paths = self.paths(cgroup)
        for controller, file, value in self.files(config):
            if controller not in paths:
                continue  # version 1, and that controller is not mounted here
            try:
                (paths[controller] / file).write_text(value)
            except OSError as error:
                raise CgroupError(
                    error.errno,
                    "failed to set supported cgroup subsystems for cgroup"
                    f" [{' '.join(cgroup)}]: failed to write {value!r}:"
                    f" {go_path_error('write', error)}",
                ) from None

    def files(self, config: ResourceConfig) -> Iterator[tuple[str, str, str]]:
        """Controller, file and content of every limit."""
        if self.version == 2:
            yield from (("", file, value) for file, value in _unified(config))
            return
        if config.cpu_shares is not None:
            yield "cpu", "cpu.shares", str(config.cpu_shares)
        if config.cpu_period:
            yield "cpu", "cpu.cfs_period_us", str(config.cpu_period)
        if config.cpu_quota:
            yield "cpu", "cpu.cfs_quota_us", str(config.cpu_quota)
        if config.memory:
            yield "memory", "memory.limit_in_bytes", str(config.memory)
        if config.pids_limit:
            yield "pids", "pids.max", _limit(config.pids_limit)
        for size, value in config.hugepage_limit.items():
            yield "hugetlb", f"hugetlb.{size}.limit_in_bytes", str(value)

    def read(self, cgroup: CgroupName, file: str) -> str:
        """A setting, wherever its controller is. Raises CgroupError if there is
        none.
        """
        for path in self.paths(cgroup).values():
            if (path / file).is_file():
                return (path / file).read_text().strip()
        raise CgroupError(f"failed to read {file} for cgroup {self.name(cgroup)}")

    def config(self, cgroup: CgroupName) -> ResourceConfig:
        """The limits of CPU and memory that it has. Raises CgroupError,
        FileNotFoundError.
        """
        if self.version == 2:
            memory = self.read(cgroup, "memory.max")
            quota, period = self.read(cgroup, "cpu.max").split()
            return ResourceConfig(
                cpu_quota=-1 if quota == "max" else int(quota),
                cpu_period=int(period),
                memory=None if memory == "max" else int(memory),
            )
        return ResourceConfig(
            cpu_shares=int(self.read(cgroup, "cpu.shares")),
            cpu_quota=int(self.read(cgroup, "cpu.cfs_quota_us")),
            cpu_period=int(self.read(cgroup, "cpu.cfs_period_us")),
            memory=int(self.read(cgroup, "memory.limit_in_bytes")),
        )

    def pids(self, cgroup: CgroupName) -> list[int]:
        """The processes in a group and below it. Groups that go away meanwhile have
        none.
        """
        processes: set[int] = set()
        for path in self.paths(cgroup).values():
            for directory, _, _ in os.walk(path):
                with suppress(OSError):
                    lines = Path(directory, "cgroup.procs").read_text().split()
                    processes.update(map(int, lines))
        return sorted(processes)

    def children(self, cgroup: CgroupName) -> list[str]:
        """The names of groups directly below, as the tree spells them."""
        names = (
            entry.name
            for path in self.paths(cgroup).values()
            if path.is_dir()
            for entry in path.iterdir()
        )
        return sorted(
            {
                name
                for name in names
                if any((p / name).is_dir() for p in self.paths(cgroup).values())
            }
        )

    def kill(self, cgroup: CgroupName) -> None:
        """Kill what is left in a group. Upstream: `tryKillingCgroupProcesses`."""
        for pid in self.pids(cgroup):
            if pid != os.getpid():
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def destroy(self, cgroup: CgroupName) -> None:
        """Remove it and what is below. Again does no harm. Raises CgroupError while
        processes are in it.
        """
        for path in self.paths(cgroup).values():
            if not path.is_dir():
                continue
            real = is_cgroup_filesystem(path)
            for directory, names, files in os.walk(path, topdown=False):
                if not real:
                    for file in files:
                        (Path(directory) / file).unlink()
                del names
                try:
                    os.rmdir(directory)
                except OSError as error:
                    raise CgroupError(
                        error.errno,
                        "unable to destroy cgroup paths for cgroup"
                        f" [{' '.join(cgroup)}]: {go_path_error('rmdir', error)}",
                    ) from None

    def _hand_down(self, directory: Path) -> None:
        """Let children of a directory have its controllers. Nothing to do on an
        ordinary directory.
        """
        available = directory / "cgroup.controllers"
        if available.exists():
            for controller in set(available.read_text().split()) & set(V2_CONTROLLERS):
                (directory / "cgroup.subtree_control").write_text(f"+{controller}")


def _below(root: Path, path: Path) -> list[Path]:
    """The directories between `root` and `path`, deepest first."""
    return [
        parent for parent in path.parents if parent != root and root in parent.parents
    ]


def _copy_cpuset(directory: Path) -> None:
    """A new group of version 1 may use no CPU at all until it is told which: those of
    its parent.
    """
    for file in ("cpuset.cpus", "cpuset.mems"):
        own, parents = directory / file, directory.parent / file
        if own.exists() and parents.exists() and not own.read_text().strip():
            own.write_text(parents.read_text())


def _limit(value: int) -> str:
    return "max" if value < 0 else str(value)


def _unified(config: ResourceConfig) -> Iterator[tuple[str, str]]:
    if config.cpu_shares is not None:
        yield "cpu.weight", str(cpu_shares_to_weight(config.cpu_shares))
    if config.cpu_quota or config.cpu_period:
        quota = config.cpu_quota or -1
        yield "cpu.max", f"{_limit(quota)} {config.cpu_period or 100000}"
    if config.memory:
        yield "memory.max", _limit(config.memory)
    if config.pids_limit:
        yield "pids.max", _limit(config.pids_limit)
    for size, value in config.hugepage_limit.items():
        yield f"hugetlb.{size}.max", str(value)
    yield from config.unified.items()
