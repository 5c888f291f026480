"""Managed fields through `/scale`: who owns the replicas of a Deployment is asked and
answered in terms of a Scale.

A write to `/scale` sees only `.spec.replicas`, as version `autoscaling/v1`; the result
is written back to the parent as an entry of subresource `scale`. Because the two sides
spell updaters' identifiers differently, upstream loses such an entry's time; so do we.

Upstream: `apimachinery/pkg/util/managedfields/scalehandler.go` (`ScaleHandler`), v1.36.
"""

from __future__ import annotations

from typing import Any

from lifecycle.api.fieldpath.field_sets import LEAF, Fields, difference, has
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.managedfields.entries import Entry, decode, encode

SCALE_VERSION = "autoscaling/v1"
REPLICAS: Fields = {"f:spec": {"f:replicas": LEAF}}
_PATH = ("f:spec", "f:replicas")


def scale_entries(parent_entries: list[Object] | None) -> list[Object]:
    """The entries of a parent that own its replicas, as entries of its Scale."""
    owners = {
        key: entry
        for key, entry in decode(parent_entries).items()
        if has(entry.fields, _PATH)
    }
    return encode(
        {
            key: entry._replace(api_version=SCALE_VERSION, fields=REPLICAS)
            for key, entry in owners.items()
        }
    )


def parent_entries(
    before: list[Object] | None, scale: list[Object] | None, api_version: str
) -> list[Object]:
    """The parent's entries after its Scale was written. `api_version` is the
    parent's.
    """
    from_scale = decode(scale)
    out: dict[Any, Entry] = {}
    for identifier, entry in decode(before).items():
        if not has(entry.fields, _PATH):
            out[identifier] = entry
        elif identifier in from_scale:
            out[identifier] = entry
            del from_scale[identifier]
        else:
            left = difference(entry.fields, REPLICAS)
            if left:
                out[identifier] = entry._replace(fields=left)
    for identifier, entry in from_scale.items():
        if has(entry.fields, _PATH):
            time = out[identifier].time if identifier in out else ""
            out[identifier] = entry._replace(
                api_version=api_version, fields=REPLICAS, time=time
            )
    return encode(out)
