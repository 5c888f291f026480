"""What has been given to whom, in memory and in `/var/lib/kubelet/cpu_manager_state`.

The file is what lets a kubelet restart without moving anybody. A checksum guards it: a
kubelet that finds a file which does not add up, or of another policy, refuses to start,
and somebody has to drain the node and delete the file.

Upstream: `pkg/kubelet/cm/cpumanager/state/{state_checkpoint,checkpoint}.go`,
`pkg/kubelet/checkpointmanager/checksum/checksum.go`, v1.36. Left out: assignments to
whole pods (alpha).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from lifecycle.api import fast_json
from lifecycle.kubelet.cm.cpumanager.cpu_set import (
    CPUSet,
    format_cpu_set,
    parse_cpu_set,
)

FILE_NAME = "cpu_manager_state"
Assignments = dict[str, dict[str, CPUSet]]
"""Pod uid → container name → CPUs."""


class CheckpointError(Exception):
    """The file cannot be used."""


def checksum(
    policy: str, default: str, entries: Mapping[str, Mapping[str, str]]
) -> int:
    """FNV-1a of the text that Go prints for the checkpoint in memory."""

    def go_map(items: Mapping[str, str]) -> str:
        """go-spew names the type of a map, and none of what is in it."""
        return (
            f"map[{' '.join(f'{key}:{value}' for key, value in sorted(items.items()))}]"
        )

    inner = go_map({uid: go_map(of) for uid, of in entries.items()})
    dump = (
        f"(*state.CPUManagerCheckpoint){{PolicyName:(string){policy}"
        f" DefaultCPUSet:(string){default}"
        f" Entries:(map[string]map[string]string){inner}"
        " Checksum:(checksum.Checksum)0}"
    )
    state = 2166136261
    for byte in dump.encode():
        state = (state ^ byte) * 16777619 & 0xFFFFFFFF
    return state


class CPUState:
    """Assignments, and the pool that everybody else shares. `path=None` keeps nothing
    on disk.
    """

    def __init__(self, policy: str, path: Path | None = None) -> None:
        self.policy = policy
        self.path = path
        self.default: CPUSet = frozenset()
        self.assignments: Assignments = {}
        if path is not None and path.exists():
            self._restore(path.read_bytes())

    def get(self, uid: str, container: str) -> CPUSet | None:
        """What a container has for itself, None if nothing."""
        return self.assignments.get(uid, {}).get(container)

    def get_or_default(self, uid: str, container: str) -> CPUSet:
        """What a container may run on."""
        own = self.get(uid, container)
        return self.default if own is None else own

    def set(self, uid: str, container: str, cpus: CPUSet, default: CPUSet) -> None:
        """Give CPUs to a container; `default` is the pool without them."""
        self.assignments.setdefault(uid, {})[container] = cpus
        self.set_default(default)

    def delete(self, uid: str, container: str, default: CPUSet) -> None:
        """Take them back."""
        of_pod = self.assignments.get(uid, {})
        of_pod.pop(container, None)
        if not of_pod:
            self.assignments.pop(uid, None)
        self.set_default(default)

    def set_default(self, cpus: CPUSet) -> None:
        """Another shared pool."""
        self.default = cpus
        self.store()

    def store(self) -> None:
        """Write the file, whole or not at all."""
        if self.path is None:
            return
        temporary = self.path.with_name(self.path.name + ".tmp")
        temporary.write_bytes(self.checkpoint())
        os.replace(temporary, self.path)

    def checkpoint(self) -> bytes:
        """The file's content, as Go's encoder writes it."""
        entries = {
            uid: {name: format_cpu_set(cpus) for name, cpus in sorted(of.items())}
            for uid, of in sorted(self.assignments.items())
        }
        default = format_cpu_set(self.default)
        document = {"policyName": self.policy, "defaultCpuSet": default}
        contents = {**document, "entries": entries} if entries else document
        return fast_json.dumps(
            {**contents, "checksum": checksum(self.policy, default, entries)}
        )

    def _restore(self, content: bytes) -> None:
        try:
            document = fast_json.loads(content)
            policy, default = document["policyName"], document["defaultCpuSet"]
            entries = document.get("entries") or {}
            stored = document["checksum"]
        except (fast_json.JSONDecodeError, KeyError, TypeError):
            raise CheckpointError(
                "could not restore state from checkpoint: checkpoint is corrupted"
            ) from None
        if stored != checksum(policy, default, entries):
            raise CheckpointError(
                "could not restore state from checkpoint: checkpoint is corrupted"
            )
        if policy != self.policy:
            raise CheckpointError(
                f'configured policy "{self.policy}" differs from state checkpoint'
                f' policy "{policy}"'
            )
        self.default = parse_cpu_set(default)
        self.assignments = {
            uid: {n: parse_cpu_set(text) for n, text in of.items()}
            for uid, of in entries.items()
        }
