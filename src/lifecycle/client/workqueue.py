"""The to-do list of a controller.

Handlers add keys, workers take them. Three promises make controllers simple:

* a key that is waiting is there once, however often it is added;
* a key is never with two workers at the same time: added meanwhile, it waits (*dirty*)
  until the worker calls `done`;
* a key that failed comes back later and later (`add_rate_limited`) until it works and
  is forgotten (`forget`).

Upstream: `client-go/util/workqueue/queue.go` (`Typed`), `delaying_queue.go`,
`rate_limiting_queue.go`, `default_rate_limiters.go`, v1.36. Left out: metrics, the
priority queue, `ShutDownWithDrain`.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Hashable
from typing import Generic, Protocol, TypeVar

T = TypeVar("T", bound=Hashable)
Item = TypeVar("Item", bound=Hashable, contravariant=True)


class ShutDown(Exception):
    """The queue has been shut down and is empty."""


class RateLimiter(Protocol[Item]):
    """How long an item has to wait."""

    def when(self, item: Item) -> float:
        """Seconds until the item may be tried again; counts as a failure."""
        ...

    def forget(self, item: Item) -> None:
        """The item worked: its next failure is its first."""
        ...

    def num_requeues(self, item: Item) -> int:
        """How often the item has failed since it last worked."""
        ...


class ItemExponentialFailureRateLimiter(Generic[T]):
    """`base` seconds, doubled with each failure of that item, at most `maximum`."""

    def __init__(self, base: float = 0.005, maximum: float = 1000.0) -> None:
        self._base = base
        self._maximum = maximum
        self._failures: dict[T, int] = {}

    def when(self, item: T) -> float:
        """Seconds until the item may be tried again; counts as a failure."""
        failures = self._failures.get(item, 0)
        self._failures[item] = failures + 1
        return min(self._base * 2.0 ** min(failures, 1000), self._maximum)

    def forget(self, item: T) -> None:
        """The item worked: its next failure is its first."""
        self._failures.pop(item, None)

    def num_requeues(self, item: T) -> int:
        """How often the item has failed since it last worked."""
        return self._failures.get(item, 0)


class BucketRateLimiter(Generic[T]):
    """A token bucket over all items together: `qps` a second, `burst` at once. It keeps
    one bad item from starving the server.
    """

    def __init__(self, qps: float = 10.0, burst: int = 100) -> None:
        self._qps = qps
        self._burst = float(burst)
        self._tokens = float(burst)
        self._last = 0.0

    def when(self, item: T) -> float:
        """Seconds until there is a token for this call."""
        now = asyncio.get_running_loop().time()
        self._tokens = min(self._burst, self._tokens + (now - self._last) * self._qps)
        self._last = now
        self._tokens -= 1.0
        return max(0.0, -self._tokens / self._qps)

    def forget(self, item: T) -> None:
        """Nothing to forget: the bucket knows no items."""

    def num_requeues(self, item: T) -> int:
        """Always 0: the bucket knows no items."""
        return 0


class MaxOfRateLimiter(Generic[T]):
    """The longest of several limiters' waits."""

    def __init__(self, *limiters: RateLimiter[T]) -> None:
        self._limiters = limiters

    def when(self, item: T) -> float:
        """The longest wait; every limiter counts the failure."""
        return max(limiter.when(item) for limiter in self._limiters)

    def forget(self, item: T) -> None:
        """Forget it in every limiter."""
        for limiter in self._limiters:
            limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        """The most failures that any limiter knows of."""
        return max(limiter.num_requeues(item) for limiter in self._limiters)


def default_controller_rate_limiter() -> MaxOfRateLimiter[str]:
    """5 ms doubling up to 1000 s per item, 10 a second with a burst of 100 overall."""
    return MaxOfRateLimiter(
        ItemExponentialFailureRateLimiter[str](), BucketRateLimiter[str]()
    )


class WorkQueue(Generic[T]):
    """Deduplicating queue. `get` and `done` come in pairs."""

    def __init__(self) -> None:
        self._queue: deque[T] = deque()
        self._dirty: set[T] = set()
        self._processing: set[T] = set()
        self._waiters: deque[asyncio.Future[None]] = deque()
        self._shutting_down = False

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, item: T) -> None:
        """Have the item processed, once, some time from now."""
        if self._shutting_down or item in self._dirty:
            return
        self._dirty.add(item)
        if item not in self._processing:
            self._queue.append(item)
            self._wake_one()

    async def get(self) -> T:
        """The next item; waits for one. Raises ShutDown when there will be no more."""
        while not self._queue:
            if self._shutting_down:
                raise ShutDown
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if waiter in self._waiters:
                    self._waiters.remove(waiter)
                elif (
                    self._queue
                ):  # woken and cancelled at once: the wake-up is somebody else's now
                    self._wake_one()
                raise
        item = self._queue.popleft()
        self._processing.add(item)
        self._dirty.discard(item)
        return item

    def done(self, item: T) -> None:
        """The worker is finished with the item; if it was added meanwhile, it waits
        again.
        """
        self._processing.discard(item)
        if item in self._dirty:
            self._queue.append(item)
            self._wake_one()

    def shut_down(self) -> None:
        """No more items; workers get what waits and then ShutDown."""
        self._shutting_down = True
        while self._waiters:
            self._wake_one()

    def _wake_one(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return


class DelayingQueue(WorkQueue[T]):
    """A work queue that can add later."""

    def __init__(self) -> None:
        super().__init__()
        self._waiting: dict[T, asyncio.TimerHandle] = {}

    def add_after(self, item: T, seconds: float) -> None:
        """Add the item after some seconds. Of several waits for one item the shortest
        counts.
        """
        if self._shutting_down:
            return
        if seconds <= 0:
            self.add(item)
            return
        loop = asyncio.get_running_loop()
        waiting = self._waiting.get(item)
        if waiting is not None:
            if waiting.when() <= loop.time() + seconds:
                return
            waiting.cancel()
        self._waiting[item] = loop.call_later(seconds, self._due, item)

    def shut_down(self) -> None:
        """No more items, not even those due later."""
        super().shut_down()
        for handle in self._waiting.values():
            handle.cancel()
        self._waiting.clear()

    def _due(self, item: T) -> None:
        self._waiting.pop(item, None)
        self.add(item)


class RateLimitingQueue(DelayingQueue[T]):
    """A delaying queue that knows how long a failed item should wait."""

    def __init__(self, rate_limiter: RateLimiter[T] | None = None) -> None:
        super().__init__()
        self._limiter: RateLimiter[T] = rate_limiter or MaxOfRateLimiter(
            ItemExponentialFailureRateLimiter[T](), BucketRateLimiter[T]()
        )

    def add_rate_limited(self, item: T) -> None:
        """The item failed: again, when the limiter says."""
        self.add_after(item, self._limiter.when(item))

    def forget(self, item: T) -> None:
        """The item worked, or is given up: forget its failures."""
        self._limiter.forget(item)

    def num_requeues(self, item: T) -> int:
        """How often the item has failed since it was last forgotten."""
        return self._limiter.num_requeues(item)
