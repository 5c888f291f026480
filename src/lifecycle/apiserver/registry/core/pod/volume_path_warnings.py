"""Warnings about volumes that would put two files at one place, or a file where another
needs a directory.

Upstream: `pkg/api/pod/warnings.go` (`warningsForOverlappingVirtualPaths`,
`checkForOverlap`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lifecycle.api.go_format import go_quote
from lifecycle.api.wire import Object

_SOURCES = {
    "configMap": "ConfigMap {}",
    "secret": "Secret {}",
    "downwardAPI": "DownwardAPI",
}
_OWNERS = {"configMap": "name", "secret": "secretName", "downwardAPI": ""}


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


def _projected(where: str, sources: list[Object]) -> list[str]:
    warnings: list[str] = []
    placed: list[_Placed] = []
    for source in sources:
        if all(part is None for part in source.values()):
            warnings.append(f"{where} has no sources provided")
            continue
        for one in _placed_by(source):
            warnings += _check(where, placed, one)
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
    placed: list[_Placed] = []
    return [warning for one in paths for warning in _check(where, placed, one)]


def _check(where: str, placed: list[_Placed], one: _Placed) -> list[str]:
    """What `one` collides with; it is added to what is `placed`."""
    if one.path.endswith("/"):
        one = one._replace(path=one.path.rstrip("/"))
    overlaps = [
        other
        for other in placed
        if one.path and other.path and _collide(one.path, other.path)
    ]
    placed.append(one)
    return [f"{where}: overlapping paths: {one} with {other}" for other in overlaps]


def _collide(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
