"""What a hollow node knows: its sandboxes and containers, its images and log files, and
who is told of events.

Ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from lifecycle.api.loop.clock import Clock
from lifecycle.api.names import NameSource
from lifecycle.cri.apis.errors import RuntimeServiceError
from lifecycle.cri.apis.events import ContainerEventResponse, ContainerEventType
from lifecycle.cri.apis.image import Image
from lifecycle.cri.apis.pod_sandbox import PodSandboxConfig, PodSandboxStatus
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.images import KIND_IMAGES, HollowImages
from lifecycle.cri.hollow.logs import HollowLogs
from lifecycle.cri.hollow.network.addresses import HollowAddresses
from lifecycle.cri.hollow.network.network import HollowNetwork, Way
from lifecycle.cri.hollow.process.process import Program
from lifecycle.cri.hollow.process.volumes import HollowVolumes
from lifecycle.cri.hollow.programs import Key, Programs
from lifecycle.cri.hollow.step_times import RELEASE, Latency, StepTimes


class HollowState:
    """The beginning of `HollowRuntime`: the calls are made of it, layer by layer.
    `network`: where its pods meet those of other nodes; None: one of its own. `way`:
    how the node leads its pods to Services; None: it does not.
    """

    def __init__(
        self,
        *,
        clock: Clock | None = None,
        names: NameSource | None = None,
        latency: Latency = 0.0,
        seed: int | None = None,
        images: Iterable[tuple[int, tuple[str, ...]] | Image] = KIND_IMAGES,
        missing_images: Iterable[str] = (),
        programs: Mapping[Key, Program] | None = None,
        log_root: Path | None = None,
        network: HollowNetwork | None = None,
        way: Way | None = None,
    ) -> None:
        self._way = way
        self._network = network or HollowNetwork()
        self._clock = clock or Clock()
        self._names = names or NameSource()
        self._step_times = StepTimes(latency, str(seed))
        self._programs = Programs(programs)
        self.images = HollowImages(images, missing_images, self._programs.has_image)
        self.volumes = HollowVolumes(partial(self._take_time, RELEASE))
        self._sandboxes: dict[str, PodSandboxStatus] = {}
        self._by_pod: dict[str, list[str]] = {}
        self._containers: dict[str, HollowContainer] = {}
        self._in_sandbox: dict[str, list[str]] = {}
        self._handlers: list[Callable[[ContainerEventResponse], None]] = []
        self._addresses = HollowAddresses()
        self._configs: dict[str, PodSandboxConfig] = {}
        self.logs = HollowLogs(log_root)

    def get_container_events(
        self, handler: Callable[[ContainerEventResponse], None]
    ) -> None:
        """Handlers are called on the loop, at once."""
        self._handlers.append(handler)

    async def _take_time(self, step: str) -> None:
        seconds = self._step_times.draw(step)
        if seconds:
            await asyncio.sleep(seconds)

    def _now(self) -> int:
        return int(self._clock.now() * 1_000_000_000)

    def _id(self) -> str:
        return (self._names.uid() + self._names.uid()).replace("-", "")

    def _emit(
        self, kind: ContainerEventType, container_id: str, sandbox_id: str, pod_uid: str
    ) -> None:
        event = ContainerEventResponse(
            container_id, kind, self._now(), sandbox_id, pod_uid
        )
        for handler in self._handlers:
            handler(event)

    def _container(self, container_id: str) -> HollowContainer:
        try:
            return self._containers[container_id]
        except KeyError:
            raise RuntimeServiceError(
                "rpc error: code = NotFound desc = an error occurred when try to find"
                f' container "{container_id}": not found'
            ) from None

    def _sandbox(self, pod_sandbox_id: str) -> PodSandboxStatus:
        try:
            return self._sandboxes[pod_sandbox_id]
        except KeyError:
            raise RuntimeServiceError(
                "rpc error: code = NotFound desc = an error occurred when try to find"
                f' sandbox: "{pod_sandbox_id}": not found'
            ) from None
