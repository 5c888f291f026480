"""Where a scene is played: one namespace of one cluster, and an administrator who waits by watching."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource, resource_for_kind
from lifecycle.client.rest import Client

PATIENCE = 120.0
"""Seconds until something that does not come is given up; it is there in a few on an idle machine."""

QUIET = 2.0
"""Seconds without a change after which nothing more is to come: longer than any of the delays between a cause and its effect."""

Objects = dict[str, Object]
Condition = Callable[[Objects], Any]


class Stage:
    """`namespace` is the scene's own; what it has in no namespace carries `name` in its own name."""

    def __init__(self, client: Client, namespace: str) -> None:
        self.client = client
        self.namespace = namespace

    async def open(self) -> None:
        """Make the namespace, and wait for what the controllers put into every new one."""
        await self.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}}, "")
        await self.until("serviceaccounts", lambda items: "default" in items)
        await self.until("configmaps", lambda items: "kube-root-ca.crt" in items)

    async def create(self, manifest: Object, namespace: str | None = None) -> Object:
        """Create an object; in the scene's namespace if it belongs in one."""
        kind = resource_for_kind(manifest["apiVersion"], manifest["kind"])
        assert kind is not None, manifest["kind"]
        own = self.namespace if kind.namespaced and namespace is None else namespace or ""
        return await self.client.create(kind, manifest, own)

    async def patch(self, name: str, which: str, patch: Object, subresource: str = "", namespace: str = "-") -> Object:
        """A merge patch of `which` object of a resource."""
        own = self.namespace if namespace == "-" else namespace
        return await self.client.patch(resource(name), which, own, patch, subresource=subresource)

    async def delete(self, name: str, which: str, *, namespace: str = "-", **options: Any) -> None:
        """Delete an object."""
        await self.client.delete(resource(name), which, self.namespace if namespace == "-" else namespace, **options)

    async def until(self, name: str, condition: Condition, namespace: str = "-") -> Objects:
        """Watch a resource until its objects, by name, fulfil a condition. Raises TimeoutError that says what they were."""
        own = self.namespace if namespace == "-" else namespace
        items: Objects = {}
        complete = False
        try:
            async with asyncio.timeout(PATIENCE):
                frames = await self.client.watch(resource(name), own, send_initial_events=True)
                async for frame in frames:
                    meta = frame.object.get("metadata") or {}
                    if frame.type == "BOOKMARK":
                        complete = True
                    elif frame.type == "DELETED":
                        items.pop(meta["name"], None)
                    else:
                        items[meta["name"]] = frame.object
                    if complete and condition(items):
                        return items
        except TimeoutError:
            raise TimeoutError(f"{self.namespace}: {name} did not get there: {_short(items.values())}") from None
        raise ConnectionError(f"{self.namespace}: the watch of {name} ended")

    async def status(self, name: str, which: str, namespace: str = "-", **fields: Any) -> Object:
        """Wait until fields of an object's status have these values, and its generation has been observed."""

        def there(items: Objects) -> bool:
            obj = items.get(which) or {}
            status = obj.get("status") or {}
            seen = status.get("observedGeneration")
            return (seen is None or seen >= obj["metadata"].get("generation", 0)) and all(
                status.get(field, 0 if isinstance(value, int) else None) == value for field, value in fields.items()
            )

        return (await self.until(name, there, namespace))[which]


async def quiet(client: Client, resources: Iterable[Resource]) -> None:
    """Watch these until none of them has changed for `QUIET` seconds."""
    changed = asyncio.Event()

    async def listen(row: Resource) -> None:
        frames = await client.watch(row)
        async for frame in frames:
            if frame.type != "BOOKMARK":
                changed.set()

    listeners = [asyncio.create_task(listen(row)) for row in resources]
    try:
        async with asyncio.timeout(PATIENCE):
            while True:
                changed.clear()
                try:
                    await asyncio.wait_for(changed.wait(), QUIET)
                except TimeoutError:
                    return
    finally:
        for listener in listeners:
            listener.cancel()
        await asyncio.gather(*listeners, return_exceptions=True)


def _short(objects: Iterable[Object]) -> str:
    return "; ".join(f"{o['metadata']['name']} {str(o.get('status'))[:300]}" for o in objects)[:3000]
