"""How often Python looks for objects that only hold each other."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


def collect_rarely() -> None:
    """A thousand times less often than usual, for a process whose objects live long and
    are many. The young, of which each is looked at twice, it takes in portions: nobody
    else does anything meanwhile, and one large request is millions of them.
    """
    gc.set_threshold(20_000, 10, 25_000)


@contextmanager
def collected_rarely() -> Iterator[None]:
    """The same for a while, in a process that is not only ours: modules are loaded, or
    a cluster starts, and hardly anything of that is garbage.
    """
    before = gc.get_threshold()
    collect_rarely()
    try:
        yield
    finally:
        gc.set_threshold(*before)
