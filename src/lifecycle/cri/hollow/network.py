"""What hollow pods reach of one another: whoever answers HTTP at a pod's address, on
whichever node.

There are no packets. Names and the addresses of Services lead nowhere here, for there
is no kernel with rules, and nobody asks the cluster's DNS.

Ours.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.cri.apis.pod_network import HTTPAnswer, HTTPRequest
from lifecycle.cri.hollow.container import HollowContainer
from lifecycle.cri.hollow.streaming import http_answer

Find = Callable[[str, int], HollowContainer | None]
"""Who listens on a port of a pod's address. Raises KeyError if no pod of the node has
that address.
"""


class HollowNetwork:
    """Of all nodes that join it."""

    def __init__(self) -> None:
        self._nodes: list[Find] = []

    def join(self, find: Find) -> None:
        """One more node."""
        self._nodes.append(find)

    def listening(self, ip: str, port: int) -> HollowContainer | None:
        """On whichever node. Raises KeyError for an address that no pod has."""
        for find in self._nodes:
            try:
                return find(ip, port)
            except KeyError:
                continue
        raise KeyError(ip)

    async def http(self, request: HTTPRequest) -> HTTPAnswer:
        """What a pod is answered that asks. Raises KeyError."""
        return await http_answer(self.listening(request.host, request.port), request)
