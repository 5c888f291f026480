"""Terms: the one resource of the glossary server, kept in memory.

An added server may keep its objects wherever it likes; that is the difference to a
custom resource, whose objects lie in the cluster's own etcd. It has resource versions
of its own, too: they count its own changes.

Upstream: `k8s.io/sample-apiserver` (`pkg/registry/wardle/flunder`), whose objects lie
in an etcd of their own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from lifecycle.api.field_errors import invalid_object, required
from lifecycle.api.http.wire import Object, WatchFrame
from lifecycle.api.human_duration import human_duration
from lifecycle.api.loop.clock import Clock, parse_time
from lifecycle.api.names import NameSource
from lifecycle.api.status import already_exists, conflict, gone, not_found
from lifecycle.api.validation.content import NameFunction, dns1123_subdomain
from lifecycle.apiserver.registry.rest.object_meta import validate_object_meta

GROUP, VERSION, PLURAL, KIND = "lookup.lifecycle.book", "v1", "terms", "Term"
API_VERSION = f"{GROUP}/{VERSION}"
KNOWN = {
    "kubelet": "The agent on each node that makes containers of pods.",
    "pause": "The container that holds a pod's namespaces open.",
    "reconcile": (
        "To compare what is with what should be, and to do one thing about it."
    ),
}
"""What stands in the glossary from the start."""
WINDOW = 1000


def _name(text: str, prefix: bool) -> tuple[str, ...]:
    return dns1123_subdomain(text.removesuffix("-") if prefix else text)


_check_name: NameFunction = _name


class TermStore:
    """All terms by name, and the changes that watches may go back to."""

    def __init__(self, clock: Clock, names: NameSource) -> None:
        self._clock = clock
        self._names = names
        self._terms: dict[str, Object] = {}
        self._events: list[tuple[int, WatchFrame]] = []
        self._changed: set[asyncio.Event] = set()
        self.revision = 0
        for name, meaning in KNOWN.items():
            self.create({"metadata": {"name": name}, "spec": {"meaning": meaning}})

    def get(self, name: str) -> Object:
        """One term. Raises StatusError 404."""
        try:
            return self._terms[name]
        except KeyError:
            raise not_found(PLURAL, name, GROUP) from None

    def everything(self) -> list[Object]:
        """All terms by name."""
        return [self._terms[name] for name in sorted(self._terms)]

    def create(self, obj: Object, *, dry_run: bool = False) -> Object:
        """Add a term. Raises StatusError 409 or 422."""
        metadata = dict(obj.get("metadata") or {})
        if not metadata.get("name") and metadata.get("generateName"):
            metadata["name"] = self._names.generate_name(metadata["generateName"])
        metadata |= {
            "uid": self._names.uid(),
            "creationTimestamp": self._clock.timestamp(),
            "generation": 1,
        }
        term = {**obj, "kind": KIND, "apiVersion": API_VERSION, "metadata": metadata}
        _validate(term)
        if metadata["name"] in self._terms:
            raise already_exists(PLURAL, metadata["name"], GROUP)
        return term if dry_run else self._keep("ADDED", term)

    def update(self, name: str, obj: Object, *, dry_run: bool = False) -> Object:
        """Replace a term. Raises StatusError 404, 409 or 422."""
        old = self.get(name)
        metadata = {**(obj.get("metadata") or {}), "name": name}
        resource_version = metadata.get("resourceVersion")
        if resource_version and resource_version != old["metadata"]["resourceVersion"]:
            raise conflict(PLURAL, name, group=GROUP)
        for key in ("uid", "creationTimestamp", "generation"):
            metadata[key] = old["metadata"][key]
        if obj.get("spec") != old.get("spec"):
            metadata["generation"] += 1
        term = {**obj, "kind": KIND, "apiVersion": API_VERSION, "metadata": metadata}
        _validate(term)
        return term if dry_run else self._keep("MODIFIED", term)

    def delete(self, name: str, *, dry_run: bool = False) -> Object:
        """Take a term out. Raises StatusError 404."""
        old = self.get(name)
        if not dry_run:
            self._keep("DELETED", old)
        return old

    def _keep(self, change: str, term: Object) -> Object:
        self.revision += 1
        term = {
            **term,
            "metadata": {**term["metadata"], "resourceVersion": str(self.revision)},
        }
        name = term["metadata"]["name"]
        if change == "DELETED":
            del self._terms[name]
        else:
            self._terms[name] = term
        self._events.append((self.revision, WatchFrame(change, term)))
        del self._events[:-WINDOW]
        for event in self._changed:
            event.set()
        return term

    async def watch(
        self, resource_version: str, name: str = ""
    ) -> AsyncIterator[WatchFrame]:
        """Changes after a resource version; from nothing or `0`: all there is, then
        what comes. Raises StatusError 410.
        """
        frames: list[WatchFrame] = []
        if resource_version in ("", "0"):
            seen = self.revision
            frames = [WatchFrame("ADDED", term) for term in self.everything()]
        else:
            seen = int(resource_version)
            if self._events and seen < self._events[0][0] - 1:
                raise gone(f"too old resource version: {seen} ({self._events[0][0]})")
        return self._follow(seen, frames, name)

    async def _follow(
        self, seen: int, frames: list[WatchFrame], name: str
    ) -> AsyncIterator[WatchFrame]:
        event = asyncio.Event()
        self._changed.add(event)
        try:
            while True:
                for frame in frames:
                    if not name or frame.object["metadata"]["name"] == name:
                        yield frame
                frames = [frame for revision, frame in self._events if revision > seen]
                seen = max(seen, self.revision)
                if not frames:
                    event.clear()
                    await event.wait()
        finally:
            self._changed.discard(event)


def _validate(term: Object) -> None:
    errors = validate_object_meta(term["metadata"], False, _check_name)
    if not (term.get("spec") or {}).get("meaning"):
        errors.append(
            required("spec.meaning", "a term without a meaning explains nothing")
        )
    if errors:
        raise invalid_object(KIND, GROUP, term["metadata"].get("name", ""), errors)


def as_table(
    terms: list[Object],
    clock: Clock,
    *,
    headers: bool = True,
    resource_version: str = "",
) -> Object:
    """What `kubectl get` prints. Each row brings the object's metadata along."""
    rows = []
    for term in terms:
        age = human_duration(
            clock.now() - parse_time(term["metadata"]["creationTimestamp"])
        )
        about = {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": term["metadata"],
        }
        rows.append(
            {
                "cells": [term["metadata"]["name"], term["spec"]["meaning"], age],
                "object": about,
            }
        )
    columns = [
        {
            "name": "Name",
            "type": "string",
            "format": "name",
            "description": "The term.",
            "priority": 0,
        },
        {
            "name": "Meaning",
            "type": "string",
            "format": "",
            "description": "What it means.",
            "priority": 0,
        },
        {
            "name": "Age",
            "type": "string",
            "format": "",
            "description": "Since when it stands here.",
            "priority": 0,
        },
    ]
    metadata = {"resourceVersion": resource_version} if resource_version else {}
    table = {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": [],
    }
    return {**table, "columnDefinitions": columns if headers else [], "rows": rows}
