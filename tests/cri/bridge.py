"""A bridge and a range of addresses for one scene: nobody else has them, not even what a scene before has left behind."""

from __future__ import annotations

import os
import subprocess
import zlib
from itertools import chain
from pathlib import Path

ROUTES = Path("/proc/net/route")


def taken() -> set[int]:
    """The third numbers of all ranges `10.222.x.0` that this machine has a route to."""
    found = set()
    for line in ROUTES.read_text().splitlines()[1:]:
        address = bytes.fromhex(line.split()[1])[::-1]  # the kernel writes it the wrong way round
        if address[:2] == bytes([10, 222]):
            found.add(address[2])
    return found


class Bridge:
    """`name`: at most 15 characters, different for each scene. `subnet`: free when it was made."""

    def __init__(self, where: Path) -> None:
        number = zlib.crc32(f"{os.getpid()} {where}".encode())
        self.name = f"lc{number:08x}"
        begin = number % 250
        free = (n for n in chain(range(begin, 250), range(begin)) if n not in taken())
        self.subnet = f"10.222.{next(free)}.0/24"

    def plugin(self, data_dir: str) -> dict[str, object]:
        """The configuration of the CNI plugin `bridge`."""
        ipam = {"type": "host-local", "ranges": [[{"subnet": self.subnet}]], "dataDir": data_dir}
        return {"type": "bridge", "bridge": self.name, "isGateway": True, "ipam": ipam}

    def remove(self) -> None:
        """Again does no harm."""
        subprocess.run(["ip", "link", "del", self.name], capture_output=True, check=False)
