"""Dead containers are kept for their logs, but not for ever.

Of each container of a living pod the newest dead run stays: it has the log that
`kubectl logs --previous` shows, and it is the `lastState`. Of pods that are gone
nothing stays. A sandbox goes when it is not ready any more and nothing is in it.

Upstream: `pkg/kubelet/kuberuntime/kuberuntime_gc.go` (`evictContainers`,
`evictSandboxes`), `pkg/kubelet/container/container_gc.go` (`GCPolicy`), v1.36.
"""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from lifecycle.cri.apis.container import ContainerState, ContainerStatus
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxState, PodSandboxStatus
from lifecycle.cri.apis.services import RuntimeService, StateLister

GC_PERIOD = 60.0


@dataclass(slots=True, frozen=True)
class GCPolicy:
    """`min_age` in seconds. `max_per_pod_container`: dead runs to keep of each
    container. `max_containers`: of all; -1: any number.
    """

    min_age: float = 0.0
    max_per_pod_container: int = 1
    max_containers: int = -1


Unit = tuple[str, str]
"""Pod uid and container name."""


def containers_to_remove(
    dead: dict[Unit, list[ContainerStatus]],
    policy: GCPolicy,
    is_pod_deleted: Callable[[str], bool],
) -> list[ContainerStatus]:
    """Which of the dead go. `dead`: by unit, newest first."""
    removed: list[ContainerStatus] = []
    kept: dict[Unit, list[ContainerStatus]] = {}
    for unit, runs in dead.items():
        limit = 0 if is_pod_deleted(unit[0]) else policy.max_per_pod_container
        kept[unit] = runs[:limit] if limit >= 0 else runs
        removed += runs[limit:] if limit >= 0 else []
    total = sum(map(len, kept.values()))
    if 0 <= policy.max_containers < total:
        each = max(policy.max_containers // len(kept), 1)
        for unit, runs in kept.items():
            removed += runs[each:]
            kept[unit] = runs[:each]
        rest = sorted(
            (run for runs in kept.values() for run in runs),
            key=lambda run: run.created_at,
        )
        removed += rest[: max(len(rest) - policy.max_containers, 0)]
    return removed


class ContainerGC:
    """`is_pod_deleted(uid)`: the pod is gone from the API server, or it is over and has
    been let go.
    """

    def __init__(
        self,
        runtime: RuntimeService,
        now: Callable[[], float],
        is_pod_deleted: Callable[[str], bool],
        policy: GCPolicy | None = None,
    ) -> None:
        self._runtime = runtime
        self._now = now
        self._is_pod_deleted = is_pod_deleted
        self.policy = policy or GCPolicy()

    async def garbage_collect(self) -> tuple[list[str], list[str]]:
        """Remove what need not be kept; ids of containers and of sandboxes."""
        if await self._all_alive():
            return [], []
        sandboxes = await self._runtime.list_pod_sandbox()
        uids = {sandbox.id: sandbox.metadata.uid for sandbox in sandboxes}
        oldest = (self._now() - self.policy.min_age) * 1e9
        dead: dict[Unit, list[ContainerStatus]] = {}
        occupied: set[str] = set()
        for sandbox in sandboxes:
            for status in await self._runtime.list_containers(sandbox.id):
                if (
                    status.state is not ContainerState.RUNNING
                    and status.created_at <= oldest
                ):
                    dead.setdefault(
                        (uids[sandbox.id], status.metadata.name), []
                    ).append(status)
                else:
                    occupied.add(sandbox.id)
        for runs in dead.values():
            runs.sort(key=lambda run: -run.created_at)
        gone = containers_to_remove(dead, self.policy, self._is_pod_deleted)
        ids = {status.id for status in gone}
        for status in gone:
            await _quietly(self._runtime.remove_container, status.id)
        occupied |= {
            run.pod_sandbox_id
            for runs in dead.values()
            for run in runs
            if run.id not in ids
        }
        empty = self._evictable(sandboxes, occupied)
        for sandbox in empty:
            await _quietly(self._runtime.remove_pod_sandbox, sandbox.id)
        return [status.id for status in gone], [sandbox.id for sandbox in empty]

    async def _all_alive(self) -> bool:
        """Whether a short look tells that there is nothing to remove, as most often."""
        if not isinstance(self._runtime, StateLister):
            return False
        alive = (ContainerState.RUNNING, PodSandboxState.READY)
        return all(each.state in alive for each in await self._runtime.list_states())

    def _evictable(
        self, sandboxes: list[PodSandboxStatus], occupied: set[str]
    ) -> list[PodSandboxStatus]:
        """Of a living pod the newest sandbox stays even if it is dead: its attempt is
        counted on.
        """
        newest: dict[str, int] = {}
        for sandbox in sandboxes:
            uid = sandbox.metadata.uid
            newest[uid] = max(newest.get(uid, -1), sandbox.created_at)
        return [
            sandbox
            for sandbox in sandboxes
            if sandbox.state is not PodSandboxState.READY
            and sandbox.id not in occupied
            and (
                self._is_pod_deleted(sandbox.metadata.uid)
                or sandbox.created_at < newest[sandbox.metadata.uid]
            )
        ]


async def _quietly(remove: Callable[[str], Awaitable[None]], name: str) -> None:
    with contextlib.suppress(RuntimeServiceError):  # the next round comes in a minute
        await remove(name)
