"""Waiting for the end of one object.

One look decides whether there is anything to wait for, and whether one may. From then
on it is listed and watched, and nothing that the server says meanwhile ends it: who
does not want to wait for ever has a timeout.

Upstream: `kubectl/pkg/cmd/wait/delete.go` (`IsDeleted`), v1.36.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress

from lifecycle.api.status import StatusError
from lifecycle.kubectl.failures import ConnectionFailed
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import Info

RELIST_PERIOD = 1.0
"""Seconds until a list that was refused, or a watch that ended, is asked for again."""


async def until_deleted(info: Info, uid: str, session: Session) -> None:
    """Return when it is not there, or another of its name is. `uid`: which one is
    meant; empty: any. Raises StatusError if the first look is refused.
    """
    try:
        now = await session.send("GET", info.path)
    except StatusError as error:
        if error.code == 404:
            return
        raise
    if uid and now["metadata"].get("uid") != uid:
        return
    while True:
        with suppress(StatusError, ConnectionFailed):
            if await _seen_gone(info, uid, session):
                return
        await asyncio.sleep(RELIST_PERIOD)


async def _seen_gone(info: Info, uid: str, session: Session) -> bool:
    """List it and watch it; False if the watch ends before it does."""
    resource, namespace = info.resource, info.namespace
    listed = await session.client.list(
        resource, namespace, field_selector=f"metadata.name={info.name}"
    )
    items = listed.get("items") or ()
    if not items or (uid and items[0]["metadata"].get("uid") != uid):
        return True
    revision = listed["metadata"]["resourceVersion"]
    async for frame in await session.watch_one(
        resource, namespace, info.name, revision
    ):
        if frame.type == "DELETED":
            return True
        if frame.type == "ERROR":
            break
    return False
