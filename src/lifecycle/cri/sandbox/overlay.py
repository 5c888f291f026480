"""Can the kernel put layers together here? An overlay on top of another overlay cannot,
as in many CI containers.

Tried once, in a mount namespace of its own, so that nothing can be left behind.
"""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path

from lifecycle.cri.sandbox import syscalls

CLONE_FS = 0x00000200


def overlay_works(root: Path) -> bool:
    """For directories below `root`."""
    worked: list[bool] = []

    def work(where: str) -> None:
        try:
            syscalls.unshare(syscalls.CLONE_NEWNS | CLONE_FS)
            syscalls.mount("", "/", flags=syscalls.MS_REC | syscalls.MS_PRIVATE)
            for name in ("lower", "upper", "work", "merged"):
                Path(where, name).mkdir()
            data = f"lowerdir={where}/lower,upperdir={where}/upper,workdir={where}/work"
            syscalls.mount("overlay", f"{where}/merged", "overlay", 0, data)
            syscalls.umount(f"{where}/merged", 0)
            worked.append(True)
        except OSError:
            worked.append(False)

    with tempfile.TemporaryDirectory(dir=root) as where:
        thread = threading.Thread(target=work, args=(where,))
        thread.start()
        thread.join()
    return worked[0]
