"""The end of a container: how long is its hook waited for, and what is left?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import cache
from itertools import product
from types import SimpleNamespace
from typing import Any, cast

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.cri.apis.container import ContainerState
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.kubelet.kuberuntime.container_killer import ContainerKiller

CONTRACT = """\
ending(pod, condemned_by, hook_seconds) -> {"hook": seconds, "left": seconds}

pod:          a Pod with one container.
condemned_by: "liveness" or "startup" if that probe has failed for good, else "".
hook_seconds: how long the preStop hook takes, if the container has one.
hook:         the seconds for which the hook is waited for, at most all there are;
              whole ones are counted: 2.7 are 2. Nobody waits if there is no hook, or
              no time.
left:         the seconds that the runtime is given for the program then; never fewer
              than 2.

The time there is: what the deletion says (metadata.deletionGracePeriodSeconds); if it
says nothing, terminationGracePeriodSeconds of the probe that has condemned it; if that
says nothing, the pod's spec; and else 30 seconds."""

STARTER = '''\
def ending(pod, condemned_by, hook_seconds):
    """How long the hook is waited for, and what is left for the program."""
    grace = pod["spec"].get("terminationGracePeriodSeconds", 30)
    return {"hook": hook_seconds, "left": grace - hook_seconds}
'''

HOOKS = (0.0, 1.2, 4.0, 9.7, 60.0)
GRACES: dict[str, tuple[int | None, int | None, int | None]] = {
    "nothing said": (None, None, None),
    "in the spec": (None, None, 10),
    "by the deletion": (5, None, 20),
    "in a probe": (None, 4, 20),
    "nothing in the spec but a probe": (None, 8, None),
    "all three": (6, 3, 60),
    "at once": (0, 9, 30),
    "next to nothing": (1, None, 30),
}
"""Seconds of the deletion, of the probe, of the spec."""


def cases() -> Iterator[Case]:
    """All that may be said about time, with hooks and without."""
    for name, condemned_by in product(GRACES, ("", "liveness", "startup")):
        for probe, hook in product(("liveness", "startup"), (None, *HOOKS)):
            if hook is None and probe == "startup":
                continue
            label = f"{name}, {probe} probe, hook {'none' if hook is None else hook}"
            group = f"condemned by {condemned_by}" if condemned_by else "just deleted"
            pod = _pod(name, probe, hook is not None)
            seconds = hook or 0.0
            yield Case(
                group,
                label,
                dict(_right(name, probe, condemned_by, hook)),
                lambda a, p=pod, c=condemned_by, s=seconds: _whole(a(p, c, s)),  # type: ignore[misc]
                pod,
                [pod, condemned_by, seconds],
            )


def _pod(name: str, probe: str, with_hook: bool) -> Object:
    deletion, own, spec_seconds = GRACES[name]
    container: Object = {"name": "nginx", "image": "nginx"}
    if own is not None:
        container[f"{probe}Probe"] = {"terminationGracePeriodSeconds": own}
    if with_hook:
        container["lifecycle"] = {"preStop": {"exec": {"command": ["drain"]}}}
    pod: Object = {"metadata": {"name": "nginx"}, "spec": {"containers": [container]}}
    if deletion is not None:
        pod["metadata"]["deletionGracePeriodSeconds"] = deletion
    if spec_seconds is not None:
        pod["spec"]["terminationGracePeriodSeconds"] = spec_seconds
    return pod


@cache
def _right(
    name: str, probe: str, condemned_by: str, hook: float | None
) -> dict[str, float]:
    pod = _pod(name, probe, hook is not None)
    return _whole(ending(pod, condemned_by, hook or 0.0))


def _whole(answer: dict[str, float]) -> dict[str, float]:
    """2 and 2.0 are the same."""
    return {
        name: int(value) if value == int(value) else value
        for name, value in answer.items()
    }


class _Runtime:
    """Notes how much time it is given."""

    def __init__(self) -> None:
        self.asked_at = self.timeout = 0.0

    async def pod_sandbox_status(self, pod_sandbox_id: str) -> Any:
        """See `RuntimeService`."""
        return SimpleNamespace(ip="10.244.1.9")

    async def stop_container(self, container_id: str, timeout: float) -> None:
        """See `RuntimeService`."""
        self.asked_at, self.timeout = asyncio.get_running_loop().time(), timeout


class _Hooks:
    """Takes as long as it is told."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tasks: list[asyncio.Task[None]] = []

    async def run(self, *_: object) -> str:
        """See `HookRunner`."""
        await asyncio.sleep(self._seconds)
        return ""

    def keep(self, task: asyncio.Task[None]) -> None:
        """See `HookRunner`."""
        self._tasks.append(task)


def ending(pod: Object, condemned_by: str, hook_seconds: float) -> dict[str, float]:
    """The book's own killer, with a hook that takes so long."""
    runtime, message = _Runtime(), ""
    if condemned_by:
        message = f"Container nginx failed {condemned_by} probe, will be restarted"
    run = SimpleNamespace(
        id="id",
        pod_sandbox_id="s",
        metadata=SimpleNamespace(name="nginx"),
        state=ContainerState.RUNNING,
    )

    async def kill() -> float:
        killer = ContainerKiller(
            cast(Any, runtime),
            Clock(),
            cast(Any, _Hooks(hook_seconds)),
            lambda *_: None,
        )
        begin = asyncio.get_running_loop().time()
        await killer.kill(pod, cast(Any, run), message)
        return int(runtime.asked_at - begin)

    return {"hook": run_virtual(kill()), "left": runtime.timeout}


def ours() -> Attempt:
    """The book's."""
    return ending


EXERCISE = Exercise(
    "container-end",
    "The end of a container",
    CONTRACT,
    STARTER,
    "the book's own kubelet",
    cases,
    ours,
    ("hooks-and-the-end-of-a-container", "grace-period"),
)
