"""Warnings about volumes that would put two files at one place, or a file where another needs a directory.

Upstream: `pkg/api/pod/warnings.go` (`warningsForOverlappingVirtualPaths`, `checkForOverlap`), v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lifecycle.api.go_format import go_quote
from lifecycle.api.wire import Object


class _Placed(NamedTuple):
    """A path, and what puts a file there (empty if the volume has only one source)."""

    path: str
    source: str

    def __str__(self) -> str:
        return f"{go_quote(self.path)} ({self.source})" if self.source else go_quote(self.path)


def overlapping_paths(volumes: list[Object]) -> list[str]:
    """One warning per pair of paths that are equal, or of which one lies inside the other."""
    warnings: list[str] = []
    for volume in volumes:
        name = go_quote(volume.get("name", ""))
        for kind, owner, described in (
            ("configMap", "name", "ConfigMap {}"),
            ("secret", "secretName", "Secret {}"),
            ("downwardAPI", "", "DownwardAPI"),
        ):
            source = volume.get(kind) or {}
            what = described.format(go_quote(source.get(owner, "")))
            warnings += _overlaps(f"volume {name} ({what})", _items(source, ""))
        projected = volume.get("projected")
        if projected is not None:
            warnings += _projected(name, projected.get("sources") or [])
    return warnings


def _projected(name: str, sources: list[Object]) -> list[str]:
    warnings: list[str] = []
    placed: list[_Placed] = []
    for source in sources:
        if not any(part is not None for part in source.values()):
            warnings.append(f"volume {name} (Projected) has no sources provided")
            continue
        for one in _placed_by(source):
            warnings += _check(f"volume {name} (Projected)", placed, one)
    return warnings


def _placed_by(source: Object) -> Iterable[_Placed]:
    for kind, described in (("configMap", "ConfigMap {}"), ("secret", "Secret {}"), ("downwardAPI", "DownwardAPI")):
        given = source.get(kind) or {}
        if given.get("items") is not None:
            return _items(given, described.format(go_quote(given.get("name", ""))))
    token = source.get("serviceAccountToken")
    return [] if token is None else [_Placed(token.get("path", ""), "ServiceAccountToken")]


def _items(source: Object, described: str) -> list[_Placed]:
    return [_Placed(item.get("path", ""), described) for item in source.get("items") or ()]


def _overlaps(where: str, paths: Iterable[_Placed]) -> list[str]:
    placed: list[_Placed] = []
    return [warning for one in paths for warning in _check(where, placed, one)]


def _check(where: str, placed: list[_Placed], one: _Placed) -> list[str]:
    """What `one` collides with; it is added to what is `placed`."""
    one = _Placed(one.path.rstrip("/"), one.source)
    found = [other for other in placed if one.path and other.path and _collide(one.path, other.path)]
    placed.append(one)
    return [f"{where}: overlapping paths: {one} with {other}" for other in found]


def _collide(one: str, other: str) -> bool:
    return one == other or one.startswith(f"{other}/") or other.startswith(f"{one}/")
