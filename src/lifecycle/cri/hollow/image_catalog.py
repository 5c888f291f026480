"""What registries have, as far as a hollow node can know.

Nothing is asked of any registry; there is a table, `image_catalog.tsv`. So:

- An official image (`docker.io/library/…`) exists if the table has its repository and
  one of the repository's patterns fits the tag. Other names there are typing errors.
- So it is for every other repository that the table has (`registry.k8s.io/pause` …).
- Any other repository is somebody's own, and exists with every tag; only hosts below
  `.invalid`, which the Internet promises never to have, have nothing.
- Every digest exists in a repository that does: nobody can tell from the name.

Patterns are no list of releases: `nginx:1.99` fits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from lifecycle.api.tables import table_lines
from lifecycle.cri.images.reference import split_reference

OFFICIAL = "docker.io/library/"
"""Where Docker Hub keeps the images whose names have no slash."""

ACCESS_DENIED = (
    "pull access denied, repository does not exist or may require authorization: server"
    " message: insufficient_scope: authorization failed"
)
"""What Docker Hub says to whoever asks for a repository that it does not have."""

_TOKENS = {
    "N": r"\d+",
    "W": r"[a-z][a-z0-9.]*",
    "H": r"[0-9a-f]+",
    "[": "(?:",
    "]": ")?",
    "(": "(?:",
    ")": ")",
    "|": "|",
}


@dataclass(slots=True, frozen=True)
class Repository:
    """One line of the table. `size` of its images in bytes, 0: not known."""

    name: str
    size: int
    tags: str

    def has(self, tag: str) -> bool:
        """Whether one of its patterns fits."""
        return any(pattern.fullmatch(tag) for pattern in _patterns(self.tags))


@cache
def _patterns(tags: str) -> tuple[re.Pattern[str], ...]:
    return tuple(
        re.compile("".join(_TOKENS.get(char) or re.escape(char) for char in pattern))
        for pattern in tags.split()
    )


@cache
def repositories() -> dict[str, Repository]:
    """The table, by name."""
    rows = (line.split("\t") for line in table_lines(__package__, "image_catalog.tsv"))
    next(rows)
    return {name: Repository(name, int(size), tags) for name, size, tags in rows}


def not_found(reference: str) -> str:
    """What a registry says that does not have it."""
    return f"{reference}: not found"


def pull_error(reference: str) -> str:
    """Why there is no such image, in the registry's words as containerd passes them on;
    empty if there is. `reference`: a normalised name.
    """
    repository, tag, digest = split_reference(reference)
    if repository.partition("/")[0].partition(":")[0].endswith(".invalid"):
        return not_found(reference)
    known = repositories().get(repository)
    if known is None:
        if repository.startswith(OFFICIAL):
            return ACCESS_DENIED
        return ""
    return "" if digest or known.has(tag) else not_found(reference)
