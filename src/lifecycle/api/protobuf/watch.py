"""A watch in protobuf: frames of four bytes of length and one `WatchEvent` each.

The event itself travels bare; the object inside it wears the full envelope.

Upstream: `apimachinery/pkg/util/framer/framer.go` (`lengthDelimitedFrameWriter`),
`serializer/protobuf` (`RawSerializer`), `meta/v1/watch.go` (`WatchEvent`), v1.36.
"""

from __future__ import annotations

from lifecycle.api.http.wire import Object
from lifecycle.api.protobuf.envelope import decode, encode
from lifecycle.api.protobuf.leaves import raw_fields
from lifecycle.api.protobuf.wire_format import delimited

_HEADER = 4


def encode_watch_frame(
    type: str, obj: Object, *, encoded: bytes | None = None
) -> bytes:
    """One event of a watch as it goes over the wire; `encoded` is the object's envelope
    if it is at hand already.
    """
    raw = encode(obj) if encoded is None else encoded
    event = delimited(b"\x0a", type.encode()) + delimited(
        b"\x12", delimited(b"\x0a", raw)
    )
    return len(event).to_bytes(_HEADER, "big") + event


def decode_watch_frames(data: bytes) -> tuple[list[tuple[str, Object]], bytes]:
    """The events of all complete frames, and the bytes of the one that is not complete
    yet. Raises ValueError if malformed.
    """
    events: list[tuple[str, Object]] = []
    position = 0
    while len(data) - position >= _HEADER:
        start = position + _HEADER
        stop = start + int.from_bytes(data[position:start], "big")
        if stop > len(data):
            break
        try:
            fields = dict(raw_fields(data[start:stop]))
            raw = dict(raw_fields(fields.get(2, b""))).get(1, b"")
            events.append((fields.get(1, b"").decode(), decode(raw)))
        except (IndexError, AttributeError, TypeError) as error:
            raise ValueError(f"malformed watch event: {error}") from error
        position = stop
    return events, data[position:]
