"""Clients that want the same few keys at once."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import dataclass

from tests.linearizability.operations import History, Listing, Operation, Outcome
from tests.linearizability.subjects import NoAnswerError, NothingDoneError, RefusedError, Subject

KINDS = ("create", "get", "update", "delete", "list")
WEIGHTS = (3, 5, 7, 2, 2)


@dataclass(frozen=True)
class Workload:
    """`patience`: seconds until a client gives up, not knowing. `pause`: seconds between two operations of one, at most."""

    seed: int
    clients: int = 6
    operations: int = 40
    keys: int = 3
    patience: float = 10.0
    pause: float = 0.01

    async def play(self, subjects: Sequence[Subject], history: History | None = None) -> History:
        """Each client has one subject, and does one thing after the other. With a history, it goes on with that."""
        history = history if history is not None else History()
        await asyncio.gather(
            *(self._client(number, subjects[number % len(subjects)], history) for number in range(self.clients))
        )
        return history

    async def _client(self, number: int, subject: Subject, history: History) -> None:
        rng = random.Random(f"{self.seed} {number}")
        known = {f"k{self.seed}-{key}": 0 for key in range(self.keys)}
        for count in range(self.operations):
            await asyncio.sleep(rng.random() * self.pause)
            (what,), key = rng.choices(KINDS, WEIGHTS), rng.choice(list(known))
            if what == "update" and not known[key]:
                what = "get"
            if what == "list":
                await self._list(number, subject, history, known)
                continue
            expected = known[key] if what == "update" or (what == "delete" and rng.random() < 0.9) else 0
            value = f"{self.seed}.{number}.{count}" if what in ("create", "update") else ""
            asked = Operation(number, what, key, history.now(), value=value, expected=expected)
            await self._ask(asked, subject, history, known)

    async def _ask(self, asked: Operation, subject: Subject, history: History, known: dict[str, int]) -> None:
        key = asked.key
        try:
            async with asyncio.timeout(self.patience):
                if asked.what == "get":
                    state = await subject.get(key)
                    known[key] = state[1] if state is not None else 0
                    history.note(asked, Outcome.DONE, state=state)
                elif asked.what == "delete":
                    await subject.delete(key, asked.expected)
                    known[key] = 0
                    history.note(asked, Outcome.DONE)
                else:
                    if asked.what == "create":
                        revision = await subject.create(key, asked.value)
                    else:
                        revision = await subject.update(key, asked.value, asked.expected)
                    known[key] = revision
                    history.note(asked, Outcome.DONE, revision)
        except RefusedError:
            history.note(asked, Outcome.REFUSED)
        except NothingDoneError:
            pass
        except (NoAnswerError, TimeoutError):
            if asked.what != "get":
                history.note(asked, Outcome.UNKNOWN)

    async def _list(self, number: int, subject: Subject, history: History, known: dict[str, int]) -> None:
        called = history.now()
        try:
            async with asyncio.timeout(self.patience):
                revision, items = await subject.list()
        except (NothingDoneError, NoAnswerError, TimeoutError):
            return
        history.listings.append(Listing(number, called, history.now(), revision, items))
        for key in known:
            known[key] = items[key][1] if key in items else 0
