"""Paths as a process writes them: relative to where it is.

Ours.
"""

from __future__ import annotations

import posixpath


def absolute(cwd: str, path: str) -> str:
    """Without `.` and `..`."""
    return "/" + posixpath.normpath(posixpath.join(cwd, path)).lstrip("/")
