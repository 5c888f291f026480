"""What the pinned Kubernetes version publishes about its own API, as package data.

Schemas, discovery documents and the version come from the recorded cluster (`README.md`
beside this file says from which), never from our own memory. Everything is read when
first asked for, not at import.
"""

from __future__ import annotations

import io
import zipfile
from functools import cache
from importlib.resources import files
from typing import Any

from lifecycle.api import fast_json
from lifecycle.api.version import KUBERNETES_VERSION


@cache
def _archive() -> zipfile.ZipFile:
    return zipfile.ZipFile(
        io.BytesIO(
            files(__package__).joinpath(f"{KUBERNETES_VERSION}.zip").read_bytes()
        )
    )


@cache
def published_names(prefix: str = "") -> tuple[str, ...]:
    """The names of all published documents below a prefix, e.g. `openapi/` or
    `discovery/legacy/`.
    """
    return tuple(name for name in _archive().namelist() if name.startswith(prefix))


def published_bytes(name: str) -> bytes:
    """One document as it was served. Raises KeyError for a name that is not there."""
    return _archive().read(name)


@cache
def published(name: str) -> Any:
    """One JSON document, decoded once and shared: treat it as read-only. Raises
    KeyError for a name that is not there.
    """
    return fast_json.loads(published_bytes(name))
