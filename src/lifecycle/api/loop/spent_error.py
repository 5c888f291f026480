"""An error that has become an answer holds nothing any more.

An error remembers where it was raised: its traceback holds the frame of every function
that it came through, and each frame what the function had in hand: the body, what was
made of it, two hundred thousand things that are wrong with it. That ends with the
error, unless one of those frames holds the error itself: a list of denials that one was
taken from, a future that somebody waited for and that failed. Then the ring outlives
the request, and only Python's garbage collector would find it. In a server it hardly
ever looks at what is old (`lifecycle.api.garbage`): after two dozen refusals of 3 MB a
process that needs 60 MB held a gigabyte.

Each such ring can be avoided where it is made, as asyncio does (`self = None`), and the
next one is made somewhere else. All of them go through a traceback, and all refusals
come by the one place where they become an answer. There the traceback is taken away,
that of the errors before this one, too. What it held is freed beside the loop, if it
may be much.

Upstream: nothing alike; Go's collector finds rings, and its errors hold no frames.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.loop.worker import let_go


def spend(error: BaseException, size: int = 0) -> None:
    """`error` keeps what it says. `size`: bytes of JSON that were the cause of it."""
    held: list[Any] = []
    errors = [error]
    for each in errors:
        before = [one for one in (each.__context__, each.__cause__) if one is not None]
        errors += before
        held += [each.__traceback__, *before]
        each.__traceback__ = each.__context__ = each.__cause__ = None
    let_go(held, size)
