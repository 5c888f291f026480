"""What all containers use, while they come and go."""

from __future__ import annotations

import asyncio
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from lifecycle.cri.apis.container import ContainerState
from lifecycle.cri.sandbox.runtime import SandboxRuntime
from lifecycle.cri.sandbox.state import not_found

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the runtime is Linux's")


def container(name: str, sandbox: str = "pod", state: ContainerState = ContainerState.RUNNING) -> Any:
    return SimpleNamespace(status=SimpleNamespace(id=name, pod_sandbox_id=sandbox, state=state))


class Measured(SandboxRuntime):
    """While `first` is measured, `late` comes and `second` goes; `third` loses its files."""

    async def container_stats(self, container_id: str) -> dict[str, Any]:
        await asyncio.sleep(0)
        if container_id == "first":
            self._containers["late"] = container("late")
            del self._containers["second"]
        if container_id == "third":
            raise FileNotFoundError("config.json")
        if container_id not in self._containers:
            raise not_found("container", container_id)
        return {"id": container_id}


def test_who_comes_or_goes_meanwhile_does_not_spoil_the_others_figures() -> None:
    runtime = Measured.__new__(Measured)
    there = [container(name) for name in ("first", "second", "third", "fourth")]
    there += [container("other", "elsewhere"), container("over", state=ContainerState.EXITED)]
    runtime._containers = {each.status.id: each for each in there}
    assert asyncio.run(runtime.list_container_stats("pod")) == [{"id": "first"}, {"id": "fourth"}]
    del runtime._containers["first"]
    assert asyncio.run(runtime.list_container_stats()) == [{"id": "fourth"}, {"id": "other"}, {"id": "late"}]
