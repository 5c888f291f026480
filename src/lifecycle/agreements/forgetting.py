"""Agreements play a scene once in a process and remember it. Whoever has changed a
component since, and wants to know what the tables say now, has it forgotten.
"""

from __future__ import annotations

import sys
from functools import cache

PACKAGE = __name__.rpartition(".")[0]

REMEMBERS = type(cache(object))
"""What `functools.cache` makes of a function."""


def forget_scenes() -> None:
    """Of the agreements and claims checks that are loaded, every remembered scene."""
    for name, module in list(sys.modules.items()):
        if not name.startswith(f"{PACKAGE}."):
            continue
        for value in vars(module).values():
            # not what it has imported
            if isinstance(value, REMEMBERS) and value.__module__ == name:
                value.cache_clear()
