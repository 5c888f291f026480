"""gzip for large answers, when the client takes it.

A list of a thousand pods shrinks to a tenth. Compressing costs more than all the rest
of the request, though, and the same list is often sent many times; so the compressed
form is kept as long as the body it came from is the current one.

Upstream: `apiserver/pkg/endpoints/handlers/responsewriters/writers.go`
(`deferredResponseWriter`, `defaultGzipThresholdBytes`), v1.36.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict

THRESHOLD = 128 * 1024
LEVEL = 1
KEPT = 8


class Compressor:
    """Compresses bodies and remembers the latest few by identity."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, tuple[bytes, bytes]] = OrderedDict()

    def compress(self, body: bytes) -> bytes:
        """The body as gzip."""
        known = self._kept.get(id(body))
        if known is not None and known[0] is body:
            self._kept.move_to_end(id(body))
            return known[1]
        squeezer = zlib.compressobj(LEVEL, zlib.DEFLATED, wbits=31)
        compressed = squeezer.compress(body) + squeezer.flush()
        self._kept[id(body)] = (body, compressed)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return compressed
