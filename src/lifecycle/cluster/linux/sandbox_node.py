"""Our own runtime on a node of this machine: pods in the node's network, images from
the local source.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from lifecycle.cluster.linux.local_images import LocalImages
from lifecycle.cri.apis.image import AuthConfig
from lifecycle.cri.sandbox.network import PodNetworkSetup
from lifecycle.cri.sandbox.runtime import SandboxRuntime

Connected = Callable[[], Coroutine[Any, Any, object]]
"""Returns when pods of the node can be connected."""


class SandboxNode(SandboxRuntime):
    """A `SandboxRuntime` of one node. `connected`: awaited before the kubelet hears
    that the network's range is in use.
    """

    def __init__(
        self,
        directory: Path,
        network: PodNetworkSetup,
        host_netns: str,
        images: LocalImages,
        connected: Connected,
        nodename: str = "",
    ) -> None:
        super().__init__(directory, network, host_netns, nodename)
        self._source = images
        self._connected = connected
        self._adding = asyncio.Lock()

    async def update_runtime_config(self, pod_cidr: str) -> None:
        """The overlay's agent sees the range on the Node itself; it is in use when pods
        can be connected.
        """
        await self._connected()

    async def pull_image(self, image: str, auth: AuthConfig | None = None) -> str:
        """From the local source instead of a registry. Raises RuntimeServiceError."""
        name, built = self._source.pull(image, auth)
        async with self._adding:  # two pods may want the same layers
            return await asyncio.to_thread(self.images.add, name, built)
