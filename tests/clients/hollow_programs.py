"""What the containers of other people's tests run, in as many words as those tests read."""

from __future__ import annotations

import time

from lifecycle.cri.hollow.process.listening import PAGES
from lifecycle.cri.hollow.process.process import Process


async def date(process: Process) -> int:
    """coreutils' `date`: the time, or a complaint about what is no date."""
    if len(process.argv) > 1:
        process.complain(f"date: invalid date '{process.argv[1]}'")
        return 1
    process.print(time.strftime("%a %b %e %H:%M:%S UTC %Y", time.gmtime(process.machine.now())))
    return 0


async def dd(process: Process) -> int:
    """`dd`: it is believed to have written."""
    process.complain("10+0 records out")
    return 0


async def nginx(process: Process) -> int:
    """nginx, with the file that `dd` has written among its pages."""
    process.listen(80, {*PAGES, "/foo.dat"})
    await process.terminated()
    return 0


PROGRAMS = {("ubuntu", "date"): date, ("nginx", "date"): date, ("nginx", "dd"): dd, "nginx": nginx}
