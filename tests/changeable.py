"""Which of a room's dataclasses can be changed once they are made: objects are built, not patched, so these are exceptions."""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import is_dataclass


def changeable(room: str) -> set[str]:
    """Their names, as `module.Class` below the room. Whatever is a `__main__` is left out: importing it would run it."""
    package = importlib.import_module(f"lifecycle.{room}")
    found = set()
    for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        if info.name.endswith(".__main__"):
            continue
        module = importlib.import_module(info.name)
        for each in vars(module).values():
            if isinstance(each, type) and is_dataclass(each) and each.__module__ == info.name:
                parameters = each.__dataclass_params__  # type: ignore[attr-defined]
                if not parameters.frozen:
                    found.add(f"{info.name.removeprefix(f'{package.__name__}.')}.{each.__name__}")
    return found
