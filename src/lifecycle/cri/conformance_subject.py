"""What a conformance check gets to work with: a runtime, an image, and a few helping
hands; and the list of all checks.

Ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from lifecycle.cri.apis.container import (
    ContainerConfig,
    ContainerMetadata,
    ContainerState,
    ContainerStatus,
)
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxMetadata
from lifecycle.cri.apis.runtime import Runtime
from lifecycle.cri.log_format import parse_entries

PATIENCE = 60
"""Seconds until a check gives up: a machine may be busy, a runtime may do nothing."""

LOOK_AGAIN = 0.02


@dataclass(slots=True)
class Subject:
    """A runtime to check. `image`: one with a shell, pulled by the checks; `directory`:
    for logs; `cgroup_parent`: for its pods.

    `processes`: whether programs really run. `private_image` needs user `reader` and
    `password`; empty: no such registry.
    """

    runtime: Runtime
    image: str
    directory: str
    cgroup_parent: str = ""
    processes: bool = True
    private_image: str = ""
    password: str = ""
    sandboxes: list[str] = field(default_factory=list)

    def sandbox_config(self, name: str = "pod", **options: Any) -> PodSandboxConfig:
        """A pod with a PID namespace per container, as the kubelet asks for by
        default.
        """
        uid = str(uuid4())
        linux: dict[str, Any] = {
            "security_context": {"namespace_options": {"pid": "CONTAINER"}}
        }
        if self.cgroup_parent:
            linux["cgroup_parent"] = self.cgroup_parent
        config = PodSandboxConfig(
            PodSandboxMetadata(name, uid, "conformance", 0),
            hostname=name,
            log_directory=f"{self.directory}/conformance_{name}_{uid}",
            labels={"app": name},
            annotations={"note": "kept"},
            linux=linux,
        )
        return replace(config, **options)

    async def sandbox(self, config: PodSandboxConfig) -> str:
        """Run one; it is removed after the check."""
        sandbox_id = await self.runtime.run_pod_sandbox(config)
        self.sandboxes.append(sandbox_id)
        return sandbox_id

    async def container(
        self,
        sandbox_id: str,
        sandbox: PodSandboxConfig,
        script: str,
        name: str = "c",
        **options: Any,
    ) -> str:
        """A started container that runs a shell script."""
        config = self.container_config(("sh", "-c", script), name, **options)
        container_id = await self.runtime.create_container(sandbox_id, config, sandbox)
        await self.runtime.start_container(container_id)
        return container_id

    def container_config(
        self, command: tuple[str, ...], name: str = "c", **options: Any
    ) -> ContainerConfig:
        """In a PID namespace of its own, with a log."""
        config = ContainerConfig(
            ContainerMetadata(name, 0),
            self.image,
            command,
            labels={"container": name},
            annotations={"kept": "too"},
            log_path=f"{name}/0.log",
            linux={"security_context": {"namespace_options": {"pid": "CONTAINER"}}},
        )
        return replace(config, **options)

    async def ended(self, container_id: str) -> ContainerStatus:
        """Its status once it has ended. Raises AssertionError if it does not."""
        for _ in range(round(PATIENCE / LOOK_AGAIN)):
            status = await self.runtime.container_status(container_id)
            if status.state is ContainerState.EXITED:
                return status
            await asyncio.sleep(LOOK_AGAIN)
        raise AssertionError(f"container {container_id} did not end")

    async def log(self, path: str, lines: int) -> list[tuple[str, str]]:
        """Stream and text of the first `lines` lines of a log, once they are there."""
        for _ in range(round(PATIENCE / LOOK_AGAIN)):
            try:
                entries = [
                    (entry.stream, entry.text.decode())
                    for entry in parse_entries(self.runtime.read_log(path))
                ]
            except FileNotFoundError:
                entries = []
            if len(entries) >= lines:
                return entries
            await asyncio.sleep(LOOK_AGAIN)
        raise AssertionError(f"{path} did not get {lines} lines: {entries}")


Check = Callable[[Subject], Awaitable[None]]
CHECKS: dict[str, Check] = {}
NEEDS_PROCESSES: set[str] = set()


def check(processes: bool = False) -> Callable[[Check], Check]:
    """Register a check under its own name."""

    def register(function: Check) -> Check:
        CHECKS[function.__name__] = function
        if processes:
            NEEDS_PROCESSES.add(function.__name__)
        return function

    return register


@asynccontextmanager
async def refused(code: str, *words: str) -> AsyncIterator[None]:
    """The block must raise a RuntimeServiceError with this gRPC code (empty: any) and
    these words.
    """
    refusal: RuntimeServiceError | None = None
    try:
        yield
    except RuntimeServiceError as error:
        refusal = error
    if refusal is None:
        raise AssertionError(f"expected the call to be refused with {code}")
    assert code in ("", refusal.code), f"expected {code}, not {refusal}"
    for word in words:
        assert word in str(refusal), f"expected {word!r} in {refusal}"
