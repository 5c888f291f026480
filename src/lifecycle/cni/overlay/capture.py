"""Frames as they pass an interface, through a raw packet socket: what `tcpdump` uses,
too. Linux and root only.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from lifecycle.cni.namespaces import with_net_ns_path

ETH_P_ALL = 3


class Capture:
    """Listens on an interface of a namespace from construction on."""

    def __init__(self, netns: str, interface: str) -> None:
        with with_net_ns_path(netns):
            self._socket = socket.socket(
                socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL)
            )
            self._socket.bind((interface, 0))

    def first(self, matches: Callable[[bytes], bool], seconds: float = 2.0) -> bytes:
        """The first frame that fits. Raises TimeoutError."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self._socket.settimeout(left)
            try:
                frame = self._socket.recv(65535)
            except TimeoutError:
                break
            if matches(frame):
                return frame
        raise TimeoutError(f"no such frame in {seconds:g} seconds")

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()

    def __enter__(self) -> Capture:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
