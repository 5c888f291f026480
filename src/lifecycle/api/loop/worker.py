"""Work that grows with what a client sent is done beside the event loop.

One loop answers everybody. To read a body of 3 MiB, check it and say what is wrong with
it takes seconds, and nobody else is to wait for that. So there is one worker, a thread,
which takes such work piece by piece: a large body's reading, a patch, the checks of the
kind, a large answer's encoding. It gets functions that know nothing but their
arguments: what a request brought along, and stored objects, which nobody changes. What
the server decides by – its caches, its informers, its store – stays the loop's alone,
so the order of things is the same with the worker and without it.

One worker and not many: Python computes in one thread at a time, and with two of them
the loop has every other turn. A large request waits for other large ones, a small one
for nobody.

On virtual time nothing may happen meanwhile, and a browser tab has no other thread:
there the work is done at once.

Upstream: Go's runtime, which interrupts a goroutine after 10 ms (`runtime/proc.go`,
`forcePreemptNS`); `apiserver/pkg/server/filters/timeout.go`, where each request has a
goroutine of its own.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from threading import local
from time import perf_counter, sleep
from typing import Any, Generic, TypeVar, TypeVarTuple

from lifecycle.api import fast_json
from lifecycle.api.freed_memory import give_back, give_back_after, give_back_soon
from lifecycle.api.loop.clock import IN_A_TAB, VirtualTimeLoop

LARGE = 16 << 10
"""Bytes of JSON, to be read and checked, from which on it is the worker's: the dearest
that are fewer take some fifty milliseconds, most take one. What costs more or less a
byte than that is counted as more or less.
"""

TURN = 0.0001
"""Seconds after which a thread lets go of the interpreter if another wants it. An
answer takes a dozen turns: each read, each write and each look at the sockets is one,
and large bodies that come in at the same time are a hundred reads.
"""

PIECES = 0.01
"""Seconds that the pieces of one request may take together before they are large."""

SOON = 0.1
"""Seconds until what is let go is freed."""

HELD, LONGEST_REST = 0.002, 0.02
"""Seconds: after a call of which length the worker rests, and how long at the most."""

T = TypeVar("T")
R = TypeVar("R")
Args = TypeVarTuple("Args")


_here = local()


@cache
def _worker() -> ThreadPoolExecutor:
    sys.setswitchinterval(min(TURN, sys.getswitchinterval()))
    return ThreadPoolExecutor(1, "worker", lambda: setattr(_here, "is_worker", True))


def one_by_one(work: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """`work` on each, where each may be a call of a library that holds the interpreter
    for twenty milliseconds: a megabyte of JSON read. After such a call the worker rests
    for as long as it took, or an answer would wait as long at each of its dozen turns.
    """
    if not getattr(_here, "is_worker", False):
        return [work(thing) for thing in things]
    results: list[R] = []
    for thing in things:
        began = perf_counter()
        results.append(work(thing))
        rest(perf_counter() - began)
    return results


def rest(held: float) -> None:
    """For who has held the interpreter so long, without a break: if it is the worker,
    it rests.
    """
    if held > HELD and getattr(_here, "is_worker", False):
        sleep(min(held, LONGEST_REST))


async def beside(size: int, work: Callable[[*Args], T], *args: *Args) -> T:
    """What `work(*args)` returns or raises; worked out by the worker if `size` is more
    than `LARGE`, here and now if not.

    `work` must not touch what belongs to the loop, and whoever waits must not change
    the arguments. Cancelled while it waits for its turn, it is not begun.
    """
    if size <= LARGE or IN_A_TAB:
        return work(*args)
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualTimeLoop):
        return work(*args)
    try:
        return await loop.run_in_executor(_worker(), copy_context().run, work, *args)
    finally:
        give_back_after(size)


def let_go(things: list[Any], size: int) -> asyncio.Future[None] | None:
    """In a moment nobody else will hold these things, whose JSON has `size` bytes
    together. To free the millions of pieces that they are made of is work like any
    other: the worker does it, one thing after the other. The list is empty then, and
    who is about to make as many should wait for that.
    """
    if size <= LARGE or IN_A_TAB:
        return None
    loop = asyncio.get_running_loop()
    if isinstance(loop, VirtualTimeLoop):
        return None
    freed: asyncio.Future[None] = loop.create_future()
    loop.call_later(SOON, _let_go_beside, loop, things, freed)
    return freed


def _let_go_beside(
    loop: asyncio.AbstractEventLoop, things: list[Any], freed: asyncio.Future[None]
) -> None:
    def tell(_: object = None) -> None:
        if not freed.done():
            freed.set_result(None)

    try:
        loop.run_in_executor(_worker(), _free, things).add_done_callback(tell)
    except RuntimeError:  # the loop is ending
        tell()
    give_back_soon()


def _free(things: list[Any]) -> None:
    """What was large goes back to the machine at once: half a gigabyte of it, later,
    would take as long as nobody should wait.
    """

    def free(_: int) -> None:
        began = perf_counter()
        things.pop()
        if perf_counter() - began > HELD:
            give_back()

    one_by_one(free, range(len(things)))


def size_of(obj: Any) -> int:
    """Bytes of the JSON of what never was JSON: a component of this process sends
    objects. 0 for what cannot be.
    """
    try:
        return len(fast_json.dumps(obj))
    except TypeError:
        return 0


class Turn:
    """The pieces of one request that are small each, and may be any number: policies
    that look at one object, the parameters of a policy. Once they have taken `PIECES`
    together, those that follow are the worker's.
    """

    __slots__ = ("_used",)

    def __init__(self) -> None:
        self._used = 0.0

    @property
    def over(self) -> bool:
        """Whether the next piece is the worker's. On virtual time, which stands still
        meanwhile, never.
        """
        return self._used > PIECES

    def end(self) -> None:
        """The next piece is large."""
        self._used = PIECES + 1

    async def work(self, work: Callable[[*Args], T], *args: *Args) -> T:
        """What `work(*args)` returns or raises; what is said of `beside` holds here."""
        if self.over:
            return await beside(LARGE + 1, work, *args)
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            return work(*args)
        finally:
            self._used += loop.time() - began


class OnDemand(Generic[T]):
    """What the worker works out when somebody first asks for it: a policy's
    expressions, compiled. Whoever asks later has it at once, and those who ask
    meanwhile have what the first one gets: the worker has one thing in hand at a time.
    """

    __slots__ = ("_results", "_work")

    def __init__(self, work: Callable[[*Args], T], *args: *Args) -> None:
        self._work: Callable[[], T] = partial(work, *args)
        self._results: list[T] = []

    async def get(self) -> T:
        """The result, or what the work raises; what is said of `beside` holds here."""
        if not self._results:
            await beside(LARGE + 1, self._work_out)
        return self._results[0]

    def _work_out(self) -> None:
        if not self._results:
            self._results.append(self._work())
