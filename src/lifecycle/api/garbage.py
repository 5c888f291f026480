"""How often Python looks for objects that only hold each other."""

from __future__ import annotations

import gc


def collect_rarely() -> None:
    """A thousand times less often than usual, for a process whose objects live long and
    are many. The young, of which each is looked at twice, it takes in portions: nobody
    else does anything meanwhile, and one large request is millions of them.
    """
    gc.set_threshold(20_000, 10, 25_000)
