"""`kubectl wait --for=CONDITION`: stay until objects are as somebody wants them.

Upstream: `kubectl/pkg/cmd/wait/wait.go` (`ToOptions`, `RunWait`), `delete.go`
(`IsDeleted`), `create.go` (`IsCreated`), `condition.go` (`getObjAndCheckCondition`),
v1.36.2. What a condition is is in `wait_conditions`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, suppress

from lifecycle.api.http.wire import Object
from lifecycle.api.status import StatusError
from lifecycle.kubectl.commands.wait_conditions import (
    Condition,
    Created,
    Deleted,
    JSONPathValue,
    StatusCondition,
    condition_for,
)
from lifecycle.kubectl.commands.wait_deleted import until_deleted
from lifecycle.kubectl.failures import CommandError, several
from lifecycle.kubectl.flags import ALL_NAMESPACES, PRINT, SELECTOR, Parsed, flag, parse
from lifecycle.kubectl.printers import Printer
from lifecycle.kubectl.printing.key_order import in_key_order
from lifecycle.kubectl.session import Session
from lifecycle.kubectl.visitor import Info, local_objects, visit

FLAGS = (
    *PRINT,
    flag("filename", "slice", short="f"),
    flag("recursive", "bool", True, short="R"),
    SELECTOR,
    flag("field-selector"),
    flag("all", "bool"),
    ALL_NAMESPACES,
    flag("local", "bool"),
    flag("timeout", "duration", 30.0),
    flag("for", "array"),
)
A_WEEK = 168 * 3600.0
CREATE_POLL_PERIOD = 0.5
"""Seconds between two looks for what is not there yet, as upstream takes them."""
RELIST_PERIOD = 1.0
"""Seconds after a watch has ended, until the object is listed again."""


async def wait(argv: Sequence[str], session: Session) -> None:
    """Run `kubectl wait ARGV`: one condition after the other, for all objects."""
    p = parse(argv, FLAGS, "wait", session.warn)
    printer = Printer(p)
    if not p["for"]:
        raise CommandError("unrecognized condition: []")
    conditions = [condition_for(text) for text in p["for"]]
    timeout = p["timeout"] if p["timeout"] >= 0 else A_WEEK
    waiting = _Waiting(p, timeout, session)
    for condition in conditions:
        await waiting.until(condition, printer)


class _Waiting:
    """`timeout` seconds for all that is waited for; 0: look once."""

    def __init__(self, p: Parsed, timeout: float, session: Session) -> None:
        self._p, self._session, self._timeout = p, session, timeout
        self._ends = asyncio.get_running_loop().time() + timeout

    async def until(self, condition: Condition, printer: Printer) -> None:
        """Until it is met by all objects; each is told. Raises CommandError,
        StatusError.
        """
        if isinstance(condition, Created):
            await self._created()
        errs: list[CommandError | StatusError] = []
        visited = 0
        async for info in self._infos():
            try:
                if not isinstance(info, Info):
                    raise info
                visited += 1
                met = await self._met(condition, info)
            except (CommandError, StatusError) as error:
                gone = isinstance(error, StatusError) and error.code == 404
                if not (gone and isinstance(condition, Deleted)):
                    errs.append(error)
                continue
            text = printer.text(in_key_order(met), "condition met")
            self._session.print_now(text)
        if errs:
            raise several(errs)
        if not visited and not isinstance(condition, Deleted):
            raise CommandError("no matching resources found")

    async def _infos(self) -> AsyncIterator[Info | CommandError | StatusError]:
        p = self._p
        if p["local"]:
            for local in local_objects(p, self._session.stdin):
                yield local
            return
        async for info in visit(self._session, p, p.args, every=p["all"]):
            yield info

    async def _created(self) -> None:
        """Look for the objects until they are there."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._ends if self._timeout else None):
                while not await self._there():
                    if not self._timeout:
                        raise CommandError("timed out waiting for the condition")
                    await asyncio.sleep(CREATE_POLL_PERIOD)
                return
        raise CommandError("timed out waiting for the condition")

    async def _there(self) -> bool:
        count = 0
        async for info in self._infos():
            if isinstance(info, StatusError) and info.code == 404:
                if self._p["filename"]:
                    raise info
                return False
            if not isinstance(info, Info):
                raise info
            count += 1
        return count > 0

    async def _met(self, condition: Condition, info: Info) -> Object:
        """The object when it is as it should be. Raises CommandError, StatusError."""
        if isinstance(condition, Created):
            return info.obj
        path = info.resource.path(info.namespace, info.name)
        where = f"{info.resource.plural}/{info.name}"
        if not self._timeout:
            now = await self._session.send("GET", path)
            if isinstance(condition, Deleted) or not condition.check(now):
                raise CommandError(f"condition not met for {where}")
            return now
        try:
            async with asyncio.timeout_at(self._ends):
                if isinstance(condition, Deleted):
                    await until_deleted(info, "", self._session)
                    return info.obj
                return await self._watched(condition, info)
        except TimeoutError:
            raise CommandError(
                f"timed out waiting for the condition on {where}"
            ) from None

    async def _watched(
        self, condition: StatusCondition | JSONPathValue, info: Info
    ) -> Object:
        """List the one object, then watch it; a watch that ends is begun anew."""
        path = info.resource.path(info.namespace)
        query = {"fieldSelector": f"metadata.name={info.name}"}
        first = True
        while True:
            listed = await self._session.send("GET", path, query)
            items = listed.get("items") or ()
            if not items and first:
                raise info.not_found()
            first = False
            kind = {"apiVersion": info.obj["apiVersion"], "kind": info.obj["kind"]}
            for item in items:
                if condition.check(item):
                    return {**kind, **item}
            revision = {"resourceVersion": listed["metadata"]["resourceVersion"]}
            frames = self._session.watch_path(path, {**query, **revision})
            async with aclosing(frames):
                async for frame in frames:
                    if frame.type == "ERROR":
                        break
                    if frame.type != "DELETED" and condition.check(frame.object):
                        return frame.object
            await asyncio.sleep(RELIST_PERIOD)
