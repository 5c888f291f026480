"""What a contributor waits for: the book and the test suite, after set-up."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from benchmarks.measure import Result, stopwatch

ROOT = Path(__file__).resolve().parent.parent


async def _make(target: str) -> float:
    elapsed = stopwatch()
    process = await asyncio.create_subprocess_exec(
        "make", target, cwd=ROOT, env=os.environ, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL
    )
    if await process.wait():
        raise RuntimeError(f"make {target} failed: run it alone to see why")
    return elapsed()


async def run() -> list[Result]:
    """One run each: they are long."""
    return [
        Result("make book", "s", await _make("book"), 360),
        Result("make test", "s", await _make("test"), 360),
    ]
