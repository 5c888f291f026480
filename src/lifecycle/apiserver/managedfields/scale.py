"""Managed fields through `/scale`: who owns the replicas of a Deployment is asked and
answered in terms of a Scale.

A write to `/scale` sees only `.spec.replicas`, as version `autoscaling/v1`; the result
is written back to the parent as an entry of subresource `scale`. Because the two sides
spell updaters' identifiers differently, upstream loses such an entry's time; so do we.

Upstream: `apimachinery/pkg/util/managedfields/scalehandler.go` (`ScaleHandler`), v1.36.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from lifecycle.api.fieldpath.field_sets import difference, from_paths, has
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.managedfields.entries import Entry, decode, encode

SCALE_VERSION = "autoscaling/v1"
REPLICAS = ("f:spec", "f:replicas")

ReplicasPath = Callable[[str], tuple[str, ...] | None]
"""Where a version of a kind has its replicas: an empty path where it has none, None if
there is no such version.
"""


def in_spec(api_version: str) -> tuple[str, ...]:
    """Where all built-in kinds have them."""
    return REPLICAS


def scale_entries(
    parent_entries: list[Object] | None, replicas_path: ReplicasPath = in_spec
) -> list[Object]:
    """The entries of a parent that own its replicas, as entries of its Scale."""
    owned = from_paths(REPLICAS)
    return encode(
        {
            key: entry._replace(api_version=SCALE_VERSION, fields=owned)
            for key, entry in decode(parent_entries).items()
            if (path := replicas_path(entry.api_version)) and has(entry.fields, path)
        }
    )


def parent_entries(
    before: list[Object] | None,
    scale: list[Object] | None,
    api_version: str,
    replicas_path: ReplicasPath = in_spec,
) -> list[Object]:
    """The parent's entries after its Scale was written. `api_version` is the
    parent's.
    """
    from_scale = decode(scale)
    out: dict[Any, Entry] = {}
    for identifier, entry in decode(before).items():
        path = replicas_path(entry.api_version)
        if path is None:
            continue
        if not path or not has(entry.fields, path):
            out[identifier] = entry
        elif identifier in from_scale:
            out[identifier] = entry
            del from_scale[identifier]
        else:
            left = difference(entry.fields, from_paths(path))
            if left:
                out[identifier] = entry._replace(fields=left)
    owned = from_paths(replicas_path(api_version) or REPLICAS)
    for identifier, entry in from_scale.items():
        if has(entry.fields, REPLICAS):
            time = out[identifier].time if identifier in out else ""
            out[identifier] = entry._replace(
                api_version=api_version, fields=owned, time=time
            )
    return encode(out)
