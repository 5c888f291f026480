"""All sources of one kubelet, and whether each of them has spoken.

Only when all have does "nobody knows this pod" mean anything: before, nothing may be
cleaned up.

Upstream: `pkg/kubelet/config/sources.go` (`SourcesReady`), `pkg/kubelet/kubelet.go`
(`makePodSourceConfig`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import Any

from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Client
from lifecycle.kubelet.config.apiserver import new_source_apiserver
from lifecycle.kubelet.config.config import PodConfig
from lifecycle.kubelet.config.file import SourceFile
from lifecycle.kubelet.config.http import SourceURL
from lifecycle.kubelet.types.pod_update import FILE, HTTP

SOURCES_CHECK_PERIOD = 1.0
"""Seconds between looks whether the last source has spoken: a URL may take its time."""


class PodSources:
    """What feeds a `PodConfig`. `static_pod_path`, `static_pod_url`: manifests that
    need no API server.
    """

    def __init__(
        self,
        client: Client,
        node_name: str,
        pod_config: PodConfig,
        clock: Clock,
        *,
        static_pod_path: Path | None = None,
        static_pod_url: str = "",
    ) -> None:
        self._pod_config = pod_config
        self._api = new_source_apiserver(client, node_name, pod_config)
        self._static: dict[str, SourceFile | SourceURL] = {}
        if static_pod_path is not None:
            send = partial(pod_config.merge, FILE)
            self._static[FILE] = SourceFile(static_pod_path, node_name, send, clock)
        if static_pod_url:
            send = partial(pod_config.merge, HTTP)
            self._static[HTTP] = SourceURL(static_pod_url, node_name, send, clock)

    def start_static(self, start: Callable[[Coroutine[Any, Any, None]], None]) -> None:
        """Begin with those that need no API server."""
        for source in self._static.values():
            start(source.run())

    def start_api(self) -> None:
        """Begin to watch."""
        self._api.start()

    def all_ready(self) -> bool:
        """Whether each has spoken at least once."""
        return self._api.has_synced and self._pod_config.seen_all_sources(self._static)

    async def wait_until_ready(self) -> None:
        """Until each has spoken."""
        await self._api.wait_for_sync()
        while not self.all_ready():  # noqa: ASYNC110 - a URL is asked now and then, too
            await asyncio.sleep(SOURCES_CHECK_PERIOD)

    async def stop(self) -> None:
        """No more watching; the others end with the tasks that they run in."""
        await self._api.stop()
