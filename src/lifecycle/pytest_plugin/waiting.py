"""Waiting for an object to be as a test wants it: a list, then a watch from there.

What kubectl can wait for is said as for `kubectl wait --for`; everything else is a
function of the object. Unlike kubectl, this waits for objects that do not exist yet,
too: an operator makes them when it gets to it.

Upstream: `client-go/tools/watch/until.go` (`UntilWithSync`), v1.36.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

import yaml

from lifecycle.api.http.wire import Object
from lifecycle.client.rest import Client
from lifecycle.kubectl.commands.wait_conditions import Deleted, condition_for
from lifecycle.kubectl.resource_args import ResourceTuple

Check = Callable[[Object], object]
"""Says of an object whether it is as wanted: anything true means yes."""


async def until(
    client: Client,
    target: ResourceTuple,
    namespace: str,
    condition: str | Check,
    timeout: float,
) -> Object:
    """The object as soon as it meets the condition; with `delete`, as it was last seen.

    Raises TimeoutError with what the object's status was then, CommandError for a
    condition that kubectl does not know, StatusError if the server refuses.
    """
    parsed = condition_for(condition) if isinstance(condition, str) else None
    check = parsed.check if parsed and not isinstance(parsed, Deleted) else condition
    last: Object = {}
    try:
        async with (
            asyncio.timeout(timeout),
            aclosing(_states(client, target, namespace)) as states,
        ):
            while True:
                state = await anext(states)
                if state is None and isinstance(parsed, Deleted):
                    return last
                if state is not None and callable(check) and check(state):
                    return state
                last = state or last
    except TimeoutError:
        what = f"{target.resource.plural}/{target.name}"
        raise TimeoutError(
            f"{what} in namespace {namespace or '(none)'} did not come to"
            f" {_condition_name(condition)} within {timeout:g} s; {_last(last)}"
        ) from None


async def _states(
    client: Client, target: ResourceTuple, namespace: str
) -> AsyncGenerator[Object | None, None]:
    """What the object is now, and what it becomes; None: it is not there."""
    resource, only = target.resource, f"metadata.name={target.name}"
    namespace = namespace if resource.namespaced else ""
    while True:
        listed = await client.list(resource, namespace, field_selector=only)
        kind = {"apiVersion": resource.api_version, "kind": resource.kind}
        (item,) = listed.get("items") or (None,)
        yield item and {**kind, **item}
        stream = await client.watch(
            resource,
            namespace,
            resource_version=listed["metadata"]["resourceVersion"],
            field_selector=only,
            bookmarks=False,
        )
        async for frame in stream:
            if frame.type == "ERROR":  # the revision is forgotten: list again
                break
            yield None if frame.type == "DELETED" else frame.object


def _condition_name(condition: str | Check) -> str:
    if isinstance(condition, str):
        return repr(condition)
    return f"what {getattr(condition, '__name__', repr(condition))} asks for"


def _last(last: Object) -> str:
    if not last:
        return "it was never there"
    status = yaml.safe_dump(last.get("status", {}), sort_keys=False).rstrip()
    return f"its status was last:\n{status}"
