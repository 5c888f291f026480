"""The bytes of a watch's frames.

A line of JSON is made once for all who watch, mostly out of bytes that are there
already. A table, YAML or protobuf is made for each of them, and what is shown of a
large object may be dear: a column is a path through all of it. That is the worker's.

Upstream: `apiserver/pkg/endpoints/handlers/watch.go` (`watchEncoder`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.http.wire import WatchFrame
from lifecycle.api.loop.worker import beside


def json_frame(frame: WatchFrame) -> bytes:
    """One line of a JSON watch; made once for all watchers that share the frame."""
    if frame.encoded is None:
        obj = (
            frame.source.json
            if frame.source is not None
            else fast_json.dumps(frame.object)
        )
        frame.encoded = b'{"type":"%b","object":%b}\n' % (frame.type.encode(), obj)
    return frame.encoded


async def encoded_frame(
    encode: Callable[[Any], bytes], frame: WatchFrame | bytes
) -> bytes:
    """What `encode` makes of a frame. Pieces of a log or of somebody else's page are
    bytes already.
    """
    if isinstance(frame, bytes) or encode is json_frame:
        return encode(frame)
    return await beside(frame.size, encode, frame)
