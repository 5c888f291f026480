"""What the sandbox runtime knows, on disk: one directory per sandbox and per container,
with a record in each.

A record is written before anything is made for it, so that whatever a crash leaves
behind can be found and cleaned up. Everything else follows from the shim's files beside
it: `pid.json` says which process, `exit.json` how it ended.

Upstream: containerd keeps the same in `meta.db` (`internal/cri/store/sandbox`,
`container`) and its shims' bundles.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifecycle.cri import translate
from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxState
from lifecycle.cri.sandbox.launch import read_json, start_time, write_json


@dataclass(slots=True)
class Sandbox:
    """A sandbox. `pid` is the pause process's, 0 if it does not run; `addresses` the
    primary one first.
    """

    id: str
    config: PodSandboxConfig
    directory: Path
    created_at: int
    state: PodSandboxState = PodSandboxState.NOTREADY
    addresses: list[str] = field(default_factory=list)
    pid: int = 0
    networked: bool = False
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    def save(self) -> None:
        """The record."""
        record = {
            "id": self.id,
            "config": translate.sandbox_config(self.config),
            "handler": self.config.runtime_handler,
            "created_at": self.created_at,
            "state": self.state.value,
            "addresses": self.addresses,
            "networked": self.networked,
        }
        write_json(f"{self.directory}/record.json", _plain(record))


@dataclass(slots=True)
class Container:
    """A container. `pid` is its process 1's, 0 if it does not run."""

    status: ContainerStatus
    config: ContainerConfig
    directory: Path
    pid: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    killed_for: str = ""

    def save(self) -> None:
        """The record."""
        record = {
            "config": translate.container_config(self.config),
            "status": translate.container_status(self.status),
            "pod_sandbox_id": self.status.pod_sandbox_id,
        }
        write_json(f"{self.directory}/record.json", _plain(record))

    def read_exit(self) -> None:
        """How it ended, as the shim wrote it down; a shim that was killed left nothing,
        and nobody knows.
        """
        status = self.status
        self.pid = 0
        if status.state is ContainerState.EXITED:
            return
        status.state = ContainerState.EXITED
        try:
            exited = read_json(f"{self.directory}/exit.json")
        except FileNotFoundError:
            status.exit_code, status.reason = 255, "Unknown"
        else:
            status.exit_code, status.finished_at = (
                exited["exit_code"],
                exited["finished_at"],
            )
            status.reason = (
                "OOMKilled"
                if exited["oom"]
                else "Completed"
                if status.exit_code == 0
                else "Error"
            )
        self.save()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return (
        value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value
    )


def running_pid(directory: Path) -> tuple[int, int]:
    """Process 1 and the shim of a bundle, (0, 0) if they do not run. Ids are checked
    against the time of their start.
    """
    try:
        known = read_json(f"{directory}/pid.json")
    except FileNotFoundError:
        return 0, 0
    pid = known["pid"] if start_time(known["pid"]) == known["started"] else 0
    return pid, known["shim"] if _is_shim(known["shim"], directory) else 0


def _is_shim(pid: int, directory: Path) -> bool:
    with suppress(OSError):
        return str(directory).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def load_sandboxes(root: Path) -> dict[str, Sandbox]:
    """All that have a record."""
    sandboxes = {}
    for directory in sorted(root.iterdir()):
        with suppress(FileNotFoundError):
            record = read_json(f"{directory}/record.json")
            config = translate.read_sandbox_config(record["config"], record["handler"])
            sandbox = Sandbox(record["id"], config, directory, record["created_at"])
            sandbox.state, sandbox.addresses = (
                PodSandboxState(record["state"]),
                record["addresses"],
            )
            sandbox.networked = record["networked"]
            sandboxes[sandbox.id] = sandbox
    return dict(sorted(sandboxes.items(), key=lambda item: item[1].created_at))


def load_containers(root: Path) -> dict[str, Container]:
    """All that have a record."""
    containers = {}
    for directory in sorted(root.iterdir()):
        with suppress(FileNotFoundError):
            record = read_json(f"{directory}/record.json")
            status = translate.read_container_status(
                record["status"], record["pod_sandbox_id"]
            )
            containers[status.id] = Container(
                status, translate.read_container_config(record["config"]), directory
            )
    return dict(sorted(containers.items(), key=lambda item: item[1].status.created_at))
