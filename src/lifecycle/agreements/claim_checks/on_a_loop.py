"""Running a few lines of asyncio from a check, wherever it is called from: a test, a
command, or a notebook with a loop of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def on_a_loop(main: Coroutine[Any, Any, T]) -> T:
    """What `main` returns, run on a new loop in a thread of its own."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, main).result()
