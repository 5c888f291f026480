"""Waiting for an object: what is there, what comes, what goes, and what is said if it was all in vain."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure
from lifecycle.client.rest import MERGE_PATCH, Client
from lifecycle.kubectl.resource_args import ResourceTuple
from lifecycle.pytest_plugin.waiting import until
from tests.fake_api import FakeAPI

PODS, NODES = resource("pods"), resource("nodes")
READY = {"conditions": [{"type": "Ready", "status": "True"}]}


def body(name: str = "p", kind: str = "Pod", **status: Any) -> Object:
    return {"kind": kind, "apiVersion": "v1", "metadata": {"name": name}, "status": status}


def waited(
    scene: Callable[[Client, FakeAPI], Awaitable[Any]], condition: Any, *, timeout: float = 30, target: Any = None
) -> tuple[Object, list[Request]]:
    """What came, with what was asked; `scene` plays meanwhile."""
    asked: list[Request] = []

    async def main() -> Object:
        def note(request: Request) -> StatusError | None:
            asked.append(request)
            return None

        api = FakeAPI()
        other = Client(api, "other/1")
        if scene is now:
            await scene(other, api)
        api.refuse = note
        playing = asyncio.create_task(scene(other, api)) if scene is not now else None  # type: ignore[arg-type]
        try:
            return await until(Client(api, "test/1"), target or ResourceTuple(PODS, "p"), "ns", condition, timeout)
        finally:
            if playing is not None:
                playing.cancel()
                await asyncio.gather(playing, return_exceptions=True)

    return run_virtual(main()), [request for request in asked if request.headers.get("user-agent") == "test/1"]


async def now(client: Client, api: FakeAPI) -> None:
    await client.create(PODS, body(**READY), "ns")


async def later(client: Client, api: FakeAPI) -> None:
    await asyncio.sleep(5)
    await client.create(PODS, body(), "ns")
    await asyncio.sleep(5)
    await client.patch(PODS, "p", "ns", {"status": {"phase": "Running"}}, patch_type=MERGE_PATCH, subresource="status")
    await asyncio.sleep(5)
    await client.patch(PODS, "p", "ns", {"status": READY}, patch_type=MERGE_PATCH, subresource="status")
    await asyncio.sleep(5)
    await client.delete(PODS, "p", "ns")


async def forgetful(client: Client, api: FakeAPI) -> None:
    await asyncio.sleep(5)
    await client.create(PODS, body(), "ns")
    api.compact()
    api.drop_watches()
    await asyncio.sleep(5)
    await client.patch(PODS, "p", "ns", {"status": READY}, patch_type=MERGE_PATCH, subresource="status")


def has_status(obj: Object) -> bool:
    return obj.get("status", {}).get("conditions") == READY["conditions"]


@pytest.mark.parametrize("scene", [now, later, forgetful])
@pytest.mark.parametrize(
    "condition", ["condition=Ready", has_status, lambda obj: obj.get("status", {}).get("conditions")]
)
def test_what_is_there_or_comes_is_given_as_it_then_is(scene: Any, condition: Any) -> None:
    found, asked = waited(scene, condition)
    assert (found["kind"], found["apiVersion"], found["metadata"]["name"]) == ("Pod", "v1", "p")
    assert found["status"]["conditions"] == READY["conditions"]
    assert all(request.query["fieldSelector"] == ["metadata.name=p"] for request in asked)
    assert {request.path for request in asked} == {"/api/v1/namespaces/ns/pods"}
    assert not any("allowWatchBookmarks" in request.query for request in asked), "a bookmark is no pod"


def test_who_waits_for_the_end_gets_what_was_seen_last() -> None:
    found, _ = waited(later, "delete")
    assert found == {}, "it was not there to begin with"

    async def going(client: Client, api: FakeAPI) -> None:
        await client.create(PODS, body(phase="Running"), "ns")
        await asyncio.sleep(5)
        await client.delete(PODS, "p", "ns")

    async def main() -> Object:
        api = FakeAPI()
        playing = asyncio.create_task(going(Client(api, "other/1"), api))
        await asyncio.sleep(1)
        last = await until(Client(api, "test/1"), ResourceTuple(PODS, "p"), "ns", "delete", 30)
        await playing
        return last

    assert run_virtual(main())["status"] == {"phase": "Running"}


def test_what_lies_in_no_namespace_is_not_looked_for_in_one() -> None:
    async def node(client: Client, api: FakeAPI) -> None:
        await asyncio.sleep(1)
        await client.create(NODES, body("p", "Node"))

    found, asked = waited(node, "create", target=ResourceTuple(NODES, "p"))
    assert found["kind"] == "Node"
    assert {request.path for request in asked} == {"/api/v1/nodes"}


def test_what_lies_in_no_namespace_is_said_to_lie_in_none() -> None:
    async def main() -> None:
        await until(Client(FakeAPI(), "test/1"), ResourceTuple(NODES, "n"), "", "create", 5)

    with pytest.raises(
        TimeoutError, match=r"^nodes/n in namespace \(none\) did not come to 'create' within 5 s; it was never there$"
    ):
        run_virtual(main())


@pytest.mark.parametrize(
    ("scene", "condition", "words"),
    [
        (later, "condition=Never", "'condition=Never' within 12 s; its status was last:\nphase: Running"),
        (later, has_status, "what has_status asks for within 12 s; its status was last:\nphase: Running"),
        (now, "delete", "'delete' within 12 s; its status was last:\nconditions:\n- type: Ready\n  status: 'True'"),
    ],
)
def test_a_wait_in_vain_says_what_for_how_long_and_how_it_was_last(scene: Any, condition: Any, words: str) -> None:
    with pytest.raises(TimeoutError) as over:
        waited(scene, condition, timeout=12)
    assert str(over.value) == f"pods/p in namespace ns did not come to {words}"


def test_what_never_came_was_never_there() -> None:
    async def nothing(client: Client, api: FakeAPI) -> None:
        await asyncio.sleep(100)

    with pytest.raises(TimeoutError) as over:
        waited(nothing, "condition=Ready", timeout=0.5)
    assert (
        str(over.value) == "pods/p in namespace ns did not come to 'condition=Ready' within 0.5 s; it was never there"
    )


def test_a_refusal_is_not_waited_out() -> None:
    async def main() -> None:
        api = FakeAPI(refuse=lambda request: failure(403, "Forbidden", "not for you", {}))
        with pytest.raises(StatusError, match=r"not for you$"):
            await until(Client(api, "test/1"), ResourceTuple(PODS, "p"), "ns", "create", 30)

    run_virtual(main())


def test_what_the_server_says_of_the_watch_itself_is_no_state_of_the_object() -> None:
    class Forgetting(FakeAPI):
        """The first watch begins with the news that its revision is forgotten."""

        told = 0

        async def round_trip(self, request: Request) -> Response:
            if request.query.get("watch") and not self.told:
                self.told += 1
                gone = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 410}
                return Response(stream=frames(WatchFrame("ERROR", gone), WatchFrame("ADDED", {"kind": "Stale"})))
            return await super().round_trip(request)

    async def frames(*some: WatchFrame) -> AsyncIterator[WatchFrame]:
        for frame in some:
            yield frame

    async def main() -> list[Any]:
        api, seen = Forgetting(), list[Any]()
        await now(Client(api, "other/1"), api)

        def is_running(obj: Object) -> bool:
            seen.append(obj["kind"])
            return len(seen) == 2

        await until(Client(api, "test/1"), ResourceTuple(PODS, "p"), "ns", is_running, 30)
        return seen

    assert run_virtual(main()) == ["Pod", "Pod"]
