"""An etcd that can be down for a while. What it has kept is on its disk meanwhile.

Nothing is answered and every watch ends. The API server sees what it sees of an etcd
whose process was killed; when it is back, all that was ever confirmed is there.

Upstream: none. The words are those of gRPC for a port on which nobody listens
(`grpc/internal/transport/http2_client.go`, `newHTTP2Client`).
"""

from __future__ import annotations

from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import KeyValue, RangeResult, UnavailableError
from lifecycle.etcd.watches import EventWatch

REFUSED = (
    'rpc error: code = Unavailable desc = connection error: desc = "transport: Error'
    ' while dialing: dial tcp 127.0.0.1:2379: connect: connection refused"'
)


class EtcdProcess(MemoryStore):
    """Implements `Store`; each of its methods raises UnavailableError while it is
    killed.
    """

    def __init__(self) -> None:
        super().__init__()
        self._open: list[EventWatch] = []

    def kill(self) -> None:
        """No answers from now on."""
        self.problem = REFUSED
        watches, self._open = self._open, []
        for watch in watches:
            watch.end_of_events(UnavailableError(REFUSED))

    def start(self) -> None:
        """It has read its disk, and answers again."""
        self.problem = ""

    def _listening(self) -> None:
        if self.problem:
            raise UnavailableError(REFUSED)

    async def get(self, key: str, revision: int = 0) -> KeyValue | None:
        """See `Store`."""
        self._listening()
        return await super().get(key, revision)

    async def range(
        self, start: str, end: str, *, revision: int = 0, limit: int = 0
    ) -> RangeResult:
        """See `Store`."""
        self._listening()
        return await super().range(start, end, revision=revision, limit=limit)

    async def put(
        self, key: str, value: bytes, *, expected: int | None = None, lease: int = 0
    ) -> int | None:
        """See `Store`."""
        self._listening()
        return await super().put(key, value, expected=expected, lease=lease)

    async def delete(self, key: str, *, expected: int | None = None) -> int | None:
        """See `Store`."""
        self._listening()
        return await super().delete(key, expected=expected)

    async def grant(self, ttl: int) -> int:
        """See `Store`."""
        self._listening()
        return await super().grant(ttl)

    async def revoke(self, lease: int) -> None:
        """See `Store`."""
        self._listening()
        await super().revoke(lease)

    async def compact(self, revision: int) -> None:
        """See `Store`."""
        self._listening()
        await super().compact(revision)

    def watch(
        self, start: str, end: str, *, revision: int = 0, progress: bool = False
    ) -> EventWatch:
        """See `Store`. It ends when etcd does."""
        watch = super().watch(start, end, revision=revision, progress=progress)
        if self.problem:
            watch.end_of_events(UnavailableError(REFUSED))
        else:
            self._open = [each for each in self._open if not each.ended]
            self._open.append(watch)
        return watch
