"""A process that has loaded pytest, and what our fixtures load when somebody asks for a cluster; it becomes `pytest …` when it is asked
(see `nursery`). The plugin itself each loads anew: pytest wants to be there first."""

from __future__ import annotations

import socket
import sys
from importlib import import_module
from pathlib import Path

EXTENSIONS = Path(__file__).parents[2] / "book" / "_ext"

FIRST = (
    "pytest",
    "lifecycle.cluster.background",
    "lifecycle.cluster.cluster",
    "aiohttp.web",
    "cryptography.x509",
    "kubernetes",
)


def main() -> None:
    """Returns in those who are to be pytest."""
    sys.path[0] = str(EXTENSIONS)  # instead of this folder
    nursery = import_module("nursery")
    sys.path.pop(0)
    nursery.load(FIRST)
    asked = socket.socket(fileno=int(sys.argv[1]))
    sys.argv = ["pytest", *nursery.serve(asked)]
    sys.path.insert(0, "")


if __name__ == "__main__":
    main()
    import pytest

    sys.exit(pytest.main())
