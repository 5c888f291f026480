"""Static pods from a manifest at a URL, which is asked every 20 seconds.

Upstream: `pkg/kubelet/config/http.go` (`NewSourceURL`), v1.36.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from lifecycle.api.late_import import late_import
from lifecycle.api.loop.clock import Clock
from lifecycle.kubelet.config.apply_defaults import Send, apply_defaults, decode_pods
from lifecycle.kubelet.types.pod_update import HTTP

if TYPE_CHECKING:
    import aiohttp
else:
    aiohttp = late_import("aiohttp")

log = logging.getLogger(__name__)

HTTP_CHECK_FREQUENCY = 20.0
"""Seconds between questions: the setting `httpCheckFrequency`."""


class SourceURL:
    """A manifest at a URL. As long as it answers nothing useful, what it said last
    stays.
    """

    def __init__(
        self,
        url: str,
        node_name: str,
        send: Send,
        clock: Clock,
        *,
        period: float = HTTP_CHECK_FREQUENCY,
    ) -> None:
        self._url = url
        self._node_name = node_name
        self._send = send
        self._clock = clock
        self._period = period
        self._data = b""

    async def fetch(self, session: aiohttp.ClientSession) -> None:
        """Ask once. What cannot be read is complained of once, too. Raises ValueError,
        aiohttp.ClientError.
        """
        async with session.get(self._url) as response:
            data = await response.read()
            if response.status != 200:
                raise ValueError(f"{self._url}: {response.status} {response.reason}")
        if not data:
            self._send([])
            raise ValueError(f"zero-length data received from {self._url}")
        if data == self._data:
            return
        self._data = data
        now = self._clock.nano_timestamp()
        self._send(
            [
                apply_defaults(p, HTTP, self._url, self._node_name, now)
                for p in decode_pods(data, self._url)
            ]
        )

    async def run(self) -> None:
        """Ask, and ask again, until cancelled."""
        async with aiohttp.ClientSession(
            timeout=aiohttp.ClientTimeout(total=10)
        ) as session:
            while True:
                try:
                    await self.fetch(session)
                except (ValueError, aiohttp.ClientError, TimeoutError) as error:
                    log.warning("failed to read pods from URL: %s", error)
                await asyncio.sleep(self._period)
