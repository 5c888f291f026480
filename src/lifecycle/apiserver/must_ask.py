"""Questions whose answer is somebody else's: how a check that has to wait fits among
checks that do not.

Almost every authenticator and authorizer answers from what the server already has in
its caches. They are plain functions, and a request passes dozens of such questions in
microseconds. A few must ask outside: a webhook, or an identity provider for its keys.
Such a check raises `MustAsk`. Whoever drives the request – a filter, on the event loop
– asks, and puts the whole question once more; this time the check finds the answer with
`recall`. What was asked for one question is remembered until that question is answered,
and no longer: how long an answer may serve *others* is the business of the check's own
cache.

Upstream: none. Go blocks a goroutine in the middle of `Authorize`; one event loop
cannot.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_answers: ContextVar[dict[Hashable, Any] | None] = ContextVar(
    "answers from outside", default=None
)


class MustAsk(Exception):
    """The question cannot be answered before `ask` has been awaited. `key` names what
    is asked, in this process.
    """

    def __init__(self, key: Hashable, ask: Callable[[], Awaitable[Any]]) -> None:
        super().__init__("an answer from outside is needed")
        self.key = key
        self.ask = ask


def recall(key: Hashable, ask: Callable[[], Awaitable[Any]]) -> Any:
    """What `ask` answered. Raises MustAsk if it has not been asked for this question
    yet.
    """
    answers = _answers.get()
    if answers is None or key not in answers:
        raise MustAsk(key, ask)
    return answers[key]


async def answered(question: Callable[[], T], waiting: MustAsk) -> T:
    """Ask what `question` was waiting for, and put it again, as often as it takes. What
    asking raises, this raises.
    """
    answers: dict[Hashable, Any] = {}
    while True:
        answers[waiting.key] = await waiting.ask()
        token = _answers.set(answers)
        try:
            return question()
        except MustAsk as again:
            waiting = again
        finally:
            _answers.reset(token)


async def served(serve: Callable[[], Awaitable[T]], waiting: MustAsk) -> T:
    """`answered` for a question that is put somewhere inside a coroutine."""
    answers: dict[Hashable, Any] = dict(_answers.get() or {})
    while True:
        answers[waiting.key] = await waiting.ask()
        token = _answers.set(answers)
        try:
            return await serve()
        except MustAsk as again:
            waiting = again
        finally:
            _answers.reset(token)
