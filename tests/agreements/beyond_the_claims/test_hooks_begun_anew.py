"""What becomes of the hook of a container that is to end, when it takes longer than there is time, and when there
is less time all of a sudden.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cri.apis.container import ContainerMetadata, ContainerState, ContainerStatus
from lifecycle.cri.apis.pod_sandbox import PodSandboxMetadata, PodSandboxState, PodSandboxStatus
from lifecycle.kubelet.kuberuntime.container_killer import ContainerKiller
from lifecycle.kubelet.lifecycle.handlers import HookRunner

RUN = ContainerStatus("c-1", "s", ContainerMetadata("c"), ContainerState.RUNNING, 1, "i", "i")


class Node:
    """Notes, with the second, when a hook begins, ends well or is broken off, and when the program is told to end
    and how long it then has.
    """

    def __init__(self, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        self.began, self.seconds = loop.time(), seconds
        self.noted: list[str] = []
        self.hooks = HookRunner(cast(Any, self))
        self.killer = ContainerKiller(cast(Any, self), Clock(), self.hooks, lambda *_: None)

    def note(self, what: str) -> None:
        self.noted.append(f"{asyncio.get_running_loop().time() - self.began:g} {what}")

    async def pod_sandbox_status(self, sandbox: str) -> PodSandboxStatus:
        return PodSandboxStatus(sandbox, PodSandboxMetadata("p", "u", "n", 0), PodSandboxState.READY, 1)

    async def exec_sync(self, container: str, command: tuple[str, ...], timeout: float) -> Any:
        self.note("hook")
        try:
            await asyncio.sleep(self.seconds)
        except asyncio.CancelledError:
            self.note("broken off")
            raise
        self.note("done")
        return type("Answer", (), {"exit_code": 0})()

    async def stop_container(self, container: str, timeout: float) -> None:
        self.note(f"stop in {timeout:g}")

    async def kill(self, grace: float) -> None:
        hook = {"preStop": {"exec": {"command": ["leave"]}}}
        pod: Object = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
        pod["spec"] = {"containers": [{"name": "c", "lifecycle": hook}]}
        await self.killer.kill(pod, RUN, grace_period=grace)


def noted(hook: float, *patience: tuple[float, float]) -> list[str]:
    """What happens to a container whose hook takes so long. `patience`: from which second on it has how many: who
    comes later puts an end to the attempt before his own.
    """

    async def main() -> list[str]:
        node, loop = Node(hook), asyncio.get_running_loop()
        attempt: asyncio.Task[None] | None = None
        for at, grace in patience:
            await asyncio.sleep(node.began + at - loop.time())
            if attempt is not None:
                attempt.cancel()
                await asyncio.gather(attempt, return_exceptions=True)
            attempt = asyncio.create_task(node.kill(grace))
        await asyncio.sleep(100)
        node.note("end")
        await node.hooks.stop()
        return node.noted[: next(i for i, line in enumerate(node.noted) if line.endswith("end"))]

    return on_virtual_time(main())


@pytest.mark.parametrize(
    ("hook", "patience", "happens"),
    [
        (3, [(0, 10)], ["0 hook", "3 done", "3 stop in 7"]),
        (9.5, [(0, 10)], ["0 hook", "9.5 done", "9.5 stop in 2"]),
        # nobody waits for it any more, and it goes on all the same
        (30, [(0, 10)], ["0 hook", "10 stop in 2", "30 done"]),
        (30, [(0, 0)], ["0 stop in 2"]),
        # less time: it begins again, and the one before is no more
        (30, [(0, 60), (5, 10)], ["0 hook", "5 broken off", "5 hook", "15 stop in 2", "35 done"]),
        (6, [(0, 60), (5, 10)], ["0 hook", "5 broken off", "5 hook", "11 done", "11 stop in 4"]),
        (6, [(0, 60), (5, 0)], ["0 hook", "5 broken off", "5 stop in 2"]),
        (6, [(0, 60), (2, 40), (4, 20)], ["0 hook", "2 broken off", "2 hook", "4 broken off", "4 hook", "10 done", "10 stop in 14"]),
        (6, [(0, 60), (8, 10)], ["0 hook", "6 done", "6 stop in 54", "8 hook", "14 done", "14 stop in 4"]),
    ],
)  # fmt: skip
def test_a_hook_is_waited_for_and_is_never_there_twice(
    hook: float, patience: list[tuple[float, float]], happens: list[str]
) -> None:
    assert noted(hook, *patience) == happens
