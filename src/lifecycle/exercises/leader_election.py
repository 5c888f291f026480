"""Leader election: may this copy write its name into the lease?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from random import Random
from typing import Any, cast

from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import Clock
from lifecycle.api.status import not_found
from lifecycle.client.leader_election import LeaderElector
from lifecycle.client.rest import Client
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
attempt(lease, me, unchanged, now) -> the spec to write, or None

lease:     the spec of the Lease, None if there is none yet: {"holderIdentity",
        "leaseDurationSeconds", "acquireTime", "renewTime", "leaseTransitions"}. All but
        the first may be missing; the holder may be empty: nobody.
me:        the identity of this copy, which wants to lead for 15 seconds at a time.
unchanged: for how many seconds this copy has seen the lease as it is.
now:       the time as text, to be written; it is compared with nothing.
Returns None if somebody else holds the lease, and leaseDurationSeconds (the holder's)
have not passed since it was seen to change. Otherwise the whole spec: with a new
renewTime and 15 seconds, and, if this copy held it before, with the old acquireTime and
the old count of transitions. If it did not, acquireTime is new and there is one
transition more. In a new Lease there have been none."""

STARTER = '''\
def attempt(lease, me, unchanged, now):
    """What to write."""
    if lease is not None and lease["holderIdentity"] != me:
        return None
    return {
        "holderIdentity": me,
        "leaseDurationSeconds": 15,
        "acquireTime": now,
        "renewTime": now,
        "leaseTransitions": 0,
    }
'''

SEED = 36
NOW, THEN = "2026-01-01T00:01:00.000000Z", "2025-12-31T23:00:00.000000Z"
AGES = (0, 1, 9, 14, 15, 16, 29, 30, 3600)


def cases() -> Iterator[Case]:
    """Every holder with every age, and leases in which something is missing."""
    yield _case("nobody yet", "no lease", None, 0)
    for holder, age in product(("one", "two", ""), AGES):
        yield _case(f"held by {holder or 'nobody'}", f"{age} s", _lease(holder), age)
    for seconds, age in product((1, 30, 600), AGES):
        lease = _lease("two", leaseDurationSeconds=seconds)
        yield _case("another duration", f"{seconds} s long, {age} s", lease, age)
    chance = Random(SEED)
    for number in range(30):
        lease = _lease(chance.choice(("one", "two", "")))
        lease["leaseTransitions"] = chance.randrange(9)
        lease["renewTime"] = chance.choice((NOW, THEN, "2030-01-01T00:00:00.000000Z"))
        if chance.random() < 0.4:
            del lease["leaseTransitions"]
        if lease["holderIdentity"] != "one" and chance.random() < 0.4:
            del lease["acquireTime"], lease["leaseDurationSeconds"]
        age = chance.choice(AGES)
        yield _case("something missing, dates wrong", f"lease {number}", lease, age)


def _lease(holder: str, **more: Any) -> Object:
    return {
        "holderIdentity": holder,
        "leaseDurationSeconds": 15,
        "acquireTime": THEN,
        "renewTime": THEN,
        "leaseTransitions": 3,
        **more,
    }


def _case(group: str, label: str, lease: Object | None, age: float) -> Case:
    ask: Callable[[Attempt], Any] = lambda attempt: {  # noqa: E731
        "write": attempt(lease, "one", age, NOW)
    }
    question = {"lease": lease, "me": "one", "unchanged": age, "now": NOW}
    expected = {"write": _ours(lease, "one", age, NOW)}
    return Case(group, label, expected, ask, question)


def _ours(lease: Object | None, me: str, unchanged: float, now: str) -> Object | None:
    written: bytes = _elector(fast_json.dumps(lease), me, unchanged, now)
    answer: Object | None = fast_json.loads(written)
    return answer


@cache
def _elector(lease: bytes, me: str, unchanged: float, now: str) -> bytes:
    """Our elector looks twice, so long apart, and what it then writes is taken down."""
    spec: Object | None = fast_json.loads(lease)
    server = _OneLease(None if spec is None else {"metadata": {}, "spec": spec})
    elector = LeaderElector(cast(Client, server), "lease", me, clock=_Stopped(now))

    async def look_twice() -> None:
        await elector.try_acquire_or_renew()
        if server.written is None and unchanged:
            await asyncio.sleep(unchanged)
            await elector.try_acquire_or_renew()

    on_virtual_time(look_twice())
    return fast_json.dumps(server.written)


class _Stopped(Clock):
    """A clock that says one time."""

    def __init__(self, now: str) -> None:
        super().__init__()
        self._now = now

    def micro_timestamp(self) -> str:
        """See `Clock`."""
        return self._now


class _OneLease:
    """A server that has one lease, or none, and keeps the spec that is written."""

    def __init__(self, lease: Object | None) -> None:
        self._lease, self.written = lease, cast("Object | None", None)

    async def get(self, _resource: object, name: str, _namespace: str) -> Object:
        """The lease. Raises StatusError 404."""
        if self._lease is None:
            raise not_found("leases", name, "coordination.k8s.io")
        return self._lease

    async def create(self, _resource: object, lease: Object, _: str) -> Object:
        """Take it down."""
        return await self.update(_resource, lease)

    async def update(self, _resource: object, lease: Object) -> Object:
        """Take it down."""
        self.written = lease["spec"]
        return lease


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "leader-election",
    "May I lead?",
    CONTRACT,
    STARTER,
    "the book's own elector",
    cases,
    ours,
    ("the-controller-manager", "lease"),
)
