"""Long texts that stand beside their tests, in files.

Whoever changes what such a text tells writes it anew (`KEEP=anew pytest …`) and reads in the difference what else has changed.
"""

from __future__ import annotations

import os
from pathlib import Path


def kept(file: Path, text: str) -> str:
    """What is kept there: with `KEEP=anew` the text itself, from now on."""
    if os.environ.get("KEEP") == "anew":
        file.write_text(text)
    return file.read_text()
