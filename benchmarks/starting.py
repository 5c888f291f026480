"""What everybody waits for who types `lifecycle`, or imports it."""

from __future__ import annotations

import asyncio
import sys

from benchmarks.measure import Result, repeated, stopwatch

TIMES = 9


async def took(*arguments: str) -> float:
    """Seconds of a Python process from its start to its end."""
    elapsed = stopwatch()
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.DEVNULL)
    if await process.wait():
        raise RuntimeError(f"python {' '.join(arguments)} failed")
    return elapsed()


async def run() -> list[Result]:
    """The help of the command line with the interpreter's own start, and the package without."""
    elsewhere = await repeated("python -c pass", "s", lambda: took("-c", "pass"), TIMES, None)

    async def importing() -> float:
        return max(0.0, await took("-c", "import lifecycle") - elsewhere.value)

    return [
        elsewhere,
        await repeated("lifecycle --help", "s", lambda: took("-m", "lifecycle", "--help"), TIMES, 0.15),
        await repeated("import lifecycle", "s", importing, TIMES, 0.05, "without the interpreter's start"),
    ]
