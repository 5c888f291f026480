"""How a command that serves is told to end: Ctrl-C, SIGTERM, or a terminal that went
away.
"""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Any

from lifecycle.api.late_import import late_import

if TYPE_CHECKING:
    import asyncio
else:  # `lifecycle --help` loads every word
    asyncio = late_import("asyncio")


def first_signal() -> asyncio.Future[int]:
    """Becomes the number of the first signal that asks this process to end; those after
    it change nothing. Needs a running loop.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[Any] = loop.create_future()
    ends = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:
        ends.append(signal.SIGHUP)  # the terminal is gone; `nohup` has it ignored
    for number in ends:
        loop.add_signal_handler(number, _stop, waiting, number)
    return waiting


def _stop(waiting: asyncio.Future[int], number: int) -> None:
    if not waiting.done():
        waiting.set_result(number)
