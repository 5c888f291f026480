"""A process that has loaded what `lifecycle run …` loads word by word, and becomes the command when it is asked (see `nursery`)."""

from __future__ import annotations

import socket
import sys
from importlib import import_module
from pathlib import Path

EXTENSIONS = Path(__file__).parents[3] / "book" / "_ext"

FIRST = (
    "lifecycle.__main__",
    "lifecycle.cli",
    "lifecycle.cluster.background",
    "lifecycle.cluster.cluster",
    "aiohttp.web",
    "cryptography.x509",
    "uvloop",
    "lifecycle.cluster.alone.process",
    *(f"lifecycle.cluster.alone.{component}" for component in ("controllers", "dns", "kubelet", "proxy", "scheduler")),
)
"""The command, and what its words load before, or when they begin."""


def main() -> None:
    """Returns in those who are to be the command."""
    sys.path[0] = str(EXTENSIONS)  # instead of this folder
    nursery = import_module("nursery")
    sys.path.pop(0)
    nursery.load(FIRST)
    asked = socket.socket(fileno=int(sys.argv[1]))
    sys.argv = [str(sys.modules["lifecycle.__main__"].__file__), *nursery.serve(asked)]


if __name__ == "__main__":
    main()
    from lifecycle.__main__ import main as lifecycle

    lifecycle()
