"""Warnings about volumes that would put two files at one place, or a file where another
needs a directory.

Upstream: `pkg/api/pod/warnings.go` (`warningsForOverlappingVirtualPaths`,
`checkForOverlap`), v1.36.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable
from typing import NamedTuple

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object

_SOURCES = {
    "configMap": "ConfigMap {}",
    "secret": "Secret {}",
    "downwardAPI": "DownwardAPI",
}
_OWNERS = {"configMap": "name", "secret": "secretName", "downwardAPI": ""}


MOST = 4096
"""Warnings after which no more are looked for: an answer has room for so many bytes of
them.
"""


class _Placed(NamedTuple):
    """A path, and what puts a file there: how that is worded (empty if the volume has
    only one source), and its name.
    """

    path: str
    worded: str = ""
    name: str = ""

    def __str__(self) -> str:
        path = go_quote(self.path)
        return (
            f"{path} ({self.worded.format(go_quote(self.name))})"
            if self.worded
            else path
        )


def overlapping_paths(volumes: list[Object]) -> list[str]:
    """One warning per pair of paths that are equal, or of which one lies inside the
    other.
    """
    warnings: list[str] = []
    for volume in volumes:
        if len(warnings) >= MOST:
            break
        for kind, worded in _SOURCES.items():
            source = volume.get(kind)
            if source and len(source.get("items") or ()) > 1:
                what = worded.format(go_quote(source.get(_OWNERS[kind], "")))
                paths = [_Placed(item.get("path", "")) for item in source["items"]]
                warnings += _overlaps(
                    f"volume {go_quote(volume.get('name', ''))} ({what})", paths
                )
        projected = volume.get("projected")
        if projected is not None:
            where = f"volume {go_quote(volume.get('name', ''))} (Projected)"
            warnings += _projected(where, projected.get("sources") or [])
    return warnings


class _Places:
    """What is placed so far, by its path. A volume may have twenty thousand, too many
    to be compared with one another: what lies inside a path stands together where paths
    are sorted, and a path that it lies inside of is one of its beginnings.
    """

    def __init__(self) -> None:
        self._at: dict[str, list[tuple[int, _Placed]]] = {}
        self._sorted: list[str] = []
        self._lengths: set[int] = set()

    def place(self, number: int, one: _Placed) -> list[_Placed]:
        """Put one where it belongs; all that are at its place, above it and below it,
        in the order in which they came.
        """
        path, here = one.path, self._at.get(one.path)
        found = list(here or ())
        for length in self._lengths:
            if length < len(path) and path[length] == "/":
                found += self._at.get(path[:length], ())
        inside = slice(  # "0" is what follows "/"
            bisect_left(self._sorted, f"{path}/"), bisect_left(self._sorted, f"{path}0")
        )
        for below in self._sorted[inside]:
            found += self._at[below]
        if here is None:
            here = self._at[path] = []
            insort(self._sorted, path)
            self._lengths.add(len(path))
        here.append((number, one))
        return [other for _, other in sorted(found)]


def _projected(where: str, sources: list[Object]) -> list[str]:
    warnings: list[str] = []
    placed = _Placing(where)
    for source in sources:
        if all(part is None for part in source.values()):
            warnings.append(f"{where} has no sources provided")
            continue
        for one in _placed_by(source):
            warnings += placed.check(one)
    return warnings


def _placed_by(source: Object) -> list[_Placed]:
    for kind, worded in _SOURCES.items():
        projection = source.get(kind) or {}
        if projection.get("items") is not None:
            return [
                _Placed(item.get("path", ""), worded, projection.get("name", ""))
                for item in projection["items"]
            ]
    token = source.get("serviceAccountToken")
    return (
        [] if token is None else [_Placed(token.get("path", ""), "ServiceAccountToken")]
    )


def _overlaps(where: str, paths: Iterable[_Placed]) -> list[str]:
    placed = _Placing(where)
    return [warning for one in paths for warning in placed.check(one)]


class _Placing:
    """Puts one path after the other, and says with which each collides."""

    def __init__(self, where: str) -> None:
        self._where, self._places = where, _Places()
        self._count = self._told = 0

    def check(self, one: _Placed) -> list[str]:
        """A warning for each that is there already."""
        if one.path.endswith("/"):
            one = one._replace(path=one.path.rstrip("/"))
        if not one.path or self._told >= MOST:
            return []
        self._count += 1
        others = self._places.place(self._count, one)
        self._told += len(others)
        return [f"{self._where}: overlapping paths: {one} with {it}" for it in others]
