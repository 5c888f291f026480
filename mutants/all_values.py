"""Who looks at the dataclasses of all modules of a room, and imports none of them by name.

Such a test finds the modules itself (`tests/changeable.py`). So neither its imports nor the lines that it runs say that it
is about them; that it stands in the tests of their room does.
"""

from __future__ import annotations

from pathlib import Path

from mutants.readers import Readers

LOOKS = ("tests.changeable", "changeable")


def of_all_values(readers: Readers, module: Path) -> list[Path]:
    """The test files that look at every module of this one's room."""
    if readers.tests is None or not module.is_relative_to(readers.source):
        return []
    _, *room = module.relative_to(readers.source).parts[:2]
    folder = readers.tests.joinpath(*room)
    return sorted(file for file, _ in readers.importers.get(LOOKS, ()) if file.is_relative_to(folder))
