"""The bytes of a watch's frames.

A line of JSON is made once for all who watch. A table, YAML or protobuf is made for
each of them, and what is shown of a large object may be dear: a column is a path
through all of it. That is the worker's.

Upstream: `apiserver/pkg/endpoints/handlers/watch.go` (`watchEncoder`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable

from lifecycle.api.wire import WatchFrame
from lifecycle.api.worker import beside


async def encoded_frame(
    encode: Callable[[WatchFrame], bytes], frame: WatchFrame
) -> bytes:
    """What `encode` makes of a frame."""
    return await beside(0 if frame.encoded else frame.size, encode, frame)
