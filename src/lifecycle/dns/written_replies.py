"""Replies as they went over the wire, for who asks the same again.

A client asks for one name again and again, and so do all others: nobody's resolver in a
pod remembers anything. To read a question and to write its answer takes ten times as
long as to look the address up. So the bytes of a reply are kept under the bytes of its
question, all but the number that pairs the two. Everything that makes a difference is
in them: flags, options, capital letters.

Only what leaves nothing to the dice is kept, and until anything changes in the cluster.
Whoever may send a packet chooses what is kept: so many short questions, and no more.

Upstream: CoreDNS 1.14, `plugin/cache/cache.go`, which keeps messages by name and type,
for as long as their records may be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.dns.records import SMALLEST

if TYPE_CHECKING:
    from lifecycle.dns.wire import Reply

ENTRIES = 2048
NUMBER = 2
"""Bytes of the number with which a packet begins."""


class WrittenReplies:
    """Of questions that came as datagrams."""

    def __init__(self) -> None:
        self._written = BoundedCache[bytes, bytes](ENTRIES, SMALLEST)
        self.forget = self._written.clear

    def to(self, question: bytes) -> bytes:
        """The reply to a question like that; empty if none is kept."""
        written = self._written.get(question[NUMBER:], b"")
        return question[:NUMBER] + written if written else b""

    def keep(self, question: bytes, reply: Reply, packet: bytes) -> None:
        """`packet` is the written reply."""
        if reply.is_certain and NUMBER < len(packet) <= SMALLEST:
            self._written.put(question[NUMBER:], packet[NUMBER:])
