"""How many requests a client sends at once, and how it saves up for more."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.client.rest import Transport
from lifecycle.client.transport_https import ConnectionConfig
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.kubectl.failures import ConnectionFailed
from lifecycle.kubectl.request import wire
from lifecycle.kubectl.request.throttling import RetryTransport, TokenBucket


@pytest.mark.parametrize("burst", [1, 2, 3, 10])
@pytest.mark.parametrize("idle", [0, 1, 3600], ids=["at once", "after a second", "after an hour"])
def test_nobody_saves_up_more_than_a_burst(burst: int, idle: float) -> None:
    bucket = TokenBucket(1.0, burst)
    assert [bucket.reserve(0.0) for _ in range(burst + 2)] == [*([0.0] * burst), 1.0, 2.0]
    later = idle and idle + 2.0  # two are owed by then
    again = [bucket.reserve(later) for _ in range(burst + 2)]
    ready = min(int(idle), burst)
    assert again == [max(0.0, number + 1.0 - ready) + (0.0 if idle else 2.0) for number in range(burst + 2)]


TIMES = [
    # a second, a burst, when somebody asks, when it is sent
    (1.0, 1, [0, 0, 0], [0, 1, 2]), (1.0, 1, [0, 0.5, 5, 5], [0, 1, 5, 6]), (1.0, 3, [0, 0, 0, 0, 0], [0, 0, 0, 1, 2]),
    (2.0, 2, [0, 0, 0, 0, 0], [0, 0, 0.5, 1, 1.5]), (2.0, 2, [0, 0, 9, 9, 9], [0, 0, 9, 9, 9.5]),
    (4.0, 2, [3, 3, 3.25, 3.25, 3.25], [3, 3, 3.25, 3.5, 3.75]), (5.0, 10, [0.0] * 12, [*([0.0] * 10), 0.2, 0.4]),
]  # fmt: skip


@pytest.mark.parametrize(("qps", "burst", "asked", "sent"), TIMES)
def test_who_has_sent_a_burst_waits_for_each_that_follows(
    qps: float, burst: int, asked: list[float], sent: list[float]
) -> None:
    async def main() -> list[float]:
        loop = asyncio.get_running_loop()
        began, bucket, times = loop.time(), TokenBucket(qps, burst), list[float]()

        async def ask(at: float) -> None:
            await asyncio.sleep(at)
            await bucket.wait()
            times.append(loop.time() - began)

        await asyncio.gather(*map(ask, asked))
        return times

    assert on_virtual_time(main()) == pytest.approx(sent)


class _Busy:
    """A server that refuses so many requests, and notes when each came."""

    def __init__(self, refusals: int, status: int, after: str) -> None:
        self._left, self._status, self._after = refusals, status, after
        self.times: list[float] = []

    async def round_trip(self, request: Request) -> Response:
        self.times.append(asyncio.get_running_loop().time())
        self._left -= 1
        return Response(self._status, {"retry-after": self._after}) if self._left >= 0 else Response(200)

    async def close(self) -> None:
        """Nothing is open."""


@pytest.mark.parametrize(
    ("refusals", "status", "after", "times"),
    [
        (3, 429, "0", [0, 1, 2, 3]),  # nobody asks for patience, and each attempt takes a token nonetheless
        (2, 429, "5", [0, 5, 10]),
        (2, 503, "1", [0, 1, 2]),
        (2, 500, "0", [0, 1, 2]),
        (2, 404, "1", [0]),
        (2, 429, "soon", [0]),
        (99, 429, "1", list(range(11))),  # ten more, and no further
    ],
)
def test_whoever_is_asked_for_patience_tries_again_and_takes_a_token_each_time(
    refusals: int, status: int, after: str, times: list[float]
) -> None:
    """One a second, and one at once. Upstream: `withRetry.Before`, which throttles a retry as it does a request."""

    async def main() -> tuple[list[float], int]:
        busy, began = _Busy(refusals, status, after), asyncio.get_running_loop().time()
        answer = await RetryTransport(busy, TokenBucket(1.0, 1)).round_trip(Request("GET", "/version"))
        return [at - began for at in busy.times], answer.status

    came, code = on_virtual_time(main())
    assert came == pytest.approx(times)
    assert code == (200 if len(times) == refusals + 1 else status)


@pytest.mark.parametrize(
    ("method", "kind", "times"),
    [
        ("GET", "eof", list(range(11))),  # a second later, and ten times at most
        ("POST", "eof", [0]),  # it may have arrived
        *((method, "eof", [0]) for method in ("PATCH", "PUT", "DELETE", "HEAD")),
        ("GET", "refused", [0]),
        ("GET", "timeout", [0]),
    ],
)
def test_only_what_asks_is_sent_again_into_a_broken_connection(method: str, kind: str, times: list[float]) -> None:
    class Broken:
        async def round_trip(self, request: Request) -> Response:
            came.append(asyncio.get_running_loop().time() - began)
            raise ConnectionFailed("EOF", kind, "h:1")

        async def close(self) -> None:
            """Nothing is open."""

    came, began = list[float](), 0.0

    async def main() -> None:
        nonlocal began
        began = asyncio.get_running_loop().time()
        with pytest.raises(ConnectionFailed):
            await RetryTransport(Broken(), TokenBucket(100.0, 100)).round_trip(Request(method, "/version"))

    on_virtual_time(main())
    assert came == pytest.approx(times)


@pytest.mark.parametrize(("qps", "burst"), [(50.0, 300), (5.0, 10)])
def test_looking_things_up_takes_no_tokens_of_the_requests(
    qps: float, burst: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kubectl's discovery has a bucket of its own, of 50 a second and 300 at once, whatever requests are allowed."""
    buckets = list[tuple[float, int]]()

    class Noted(TokenBucket):
        def __init__(self, qps: float, burst: int) -> None:
            buckets.append((qps, burst))
            super().__init__(qps, burst)

    monkeypatch.setattr(wire, "TokenBucket", Noted)

    async def main() -> None:
        connected = wire.connect(ConnectionConfig("http://h:1"), log=lambda *_: None, qps=qps, burst=burst)
        await connected.close()

    on_virtual_time(main())
    assert buckets == [(qps, burst), (50.0, 300)]


def test_each_attempt_is_signed_for_itself_and_told_in_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """A token may have become too old while somebody waited; and what is told of a request has the credentials in it, masked."""
    signed, lines, busy = list[str](), list[str](), _Busy(2, 429, "1")

    class Signing:
        def __init__(self, inner: Transport) -> None:
            self.inner = inner

        async def round_trip(self, request: Request) -> Response:
            signed.append(f"Bearer {len(signed)}")
            return await self.inner.round_trip(
                replace(request, headers={**request.headers, "authorization": signed[-1]})
            )

        async def close(self) -> None:
            await self.inner.close()

    monkeypatch.setattr(wire.HTTPTransport, "round_trip", lambda _, request: busy.round_trip(request))

    async def main() -> int:
        connected = wire.connect(ConnectionConfig("http://h:1"), log=lines.append, level=8, sign=Signing)
        answer = await connected.client.transport.round_trip(Request("GET", "/version"))
        await connected.close()
        return answer.status

    assert on_virtual_time(main()) == 200
    assert signed == ["Bearer 0", "Bearer 1", "Bearer 2"]
    assert sum("Bearer <masked>" in line for line in lines) == 3
