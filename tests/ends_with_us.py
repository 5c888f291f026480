"""Programs that do not outlive the tests. Whoever starts one stops it; but if the tests themselves are ended hard, nobody does
that, and so the kernel has to.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from tests.conftest import unavailable


def ends_with_us(command: Iterable[str | Path], signal: str = "KILL") -> list[str]:
    """The command, to be started so that it gets a signal when the thread has ended that started it, however that ended.

    util-linux's `setpriv` asks the kernel for that (`PR_SET_PDEATHSIG`) and then becomes the program: the process id is the
    program's. Skips the test where there is none.
    """
    launcher = shutil.which("setpriv")
    if launcher is None:
        unavailable("setpriv is not installed (Debian: util-linux)")
    assert launcher is not None
    return [launcher, "--pdeathsig", signal, "--", *map(str, command)]
