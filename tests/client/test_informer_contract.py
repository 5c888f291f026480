"""The informer contract, as properties: whatever the server and the network do, what do handlers and caches see?"""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object, Request, Response, UserInfo
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.etcd.memory import MemoryStore

CONFIGMAPS = resource("configmaps")
NAMES = ("a", "b", "c")

action = st.one_of(
    st.tuples(st.just("create"), st.sampled_from(NAMES)),
    st.tuples(st.just("update"), st.sampled_from(NAMES)),
    st.tuples(st.just("delete"), st.sampled_from(NAMES)),
    st.tuples(st.just("drop"), st.just("")),
    st.tuples(st.just("compact"), st.just("")),
    st.tuples(st.just("wait"), st.sampled_from(("0", "0", "1", "30"))),
)


class Witness:
    """A handler that writes down what it was told, and checks at each call that the indexer is not behind."""

    def __init__(self, informer: Any) -> None:
        self.informer = informer
        self.calls: list[tuple[str, str, Object | None, Object | None]] = []
        informer.add_event_handler(
            add=lambda obj: self.note("add", None, obj),
            update=lambda old, new: self.note("update", old, new),
            delete=lambda obj: self.note("delete", obj, None),
        )

    def note(self, what: str, old: Object | None, new: Object | None) -> None:
        obj = new if new is not None else old
        assert obj is not None
        key = meta_namespace_key(obj)
        if new is not None:
            assert self.informer.indexer.get_by_key(key) is new, "the cache is behind the handler"
        else:
            assert self.informer.indexer.get_by_key(key) is None
        self.calls.append((what, key, old, new))


async def play(actions: list[tuple[str, str]], use_watch_list: bool = False) -> None:
    api = FakeAPI()
    client = Client(api, "test/v0")
    factory = SharedInformerFactory(client, use_watch_list=use_watch_list)
    informer = factory.informer(CONFIGMAPS)
    early = Witness(informer)
    states: dict[str, list[Object | None]] = {}

    def record(name: str, obj: Object | None) -> None:
        states.setdefault(f"ns/{name}", []).append(obj)

    late: Witness | None = None
    factory.start()
    for counter, (what, arg) in enumerate(actions):
        live = api.objects.get((CONFIGMAPS, "ns", arg))
        if what == "create" and live is None:
            await client.create(CONFIGMAPS, {"metadata": {"name": arg}, "data": {"n": str(counter)}}, "ns")
            record(arg, api.objects[(CONFIGMAPS, "ns", arg)])
        elif what == "update" and live is not None:
            await client.update(CONFIGMAPS, {**live, "data": {"n": str(counter)}})
            record(arg, api.objects[(CONFIGMAPS, "ns", arg)])
        elif what == "delete" and live is not None:
            await client.delete(CONFIGMAPS, arg, "ns")
            record(arg, None)
        elif what == "drop":
            api.drop_watches()
        elif what == "compact":
            api.compact()
        elif what == "wait":
            await asyncio.sleep(float(arg))
        if counter == len(actions) // 2:
            late = Witness(informer)
    await asyncio.sleep(200)  # virtual: long enough for every pause of the reflector

    truth = {
        f"ns/{name}": api.objects[(CONFIGMAPS, "ns", name)] for name in NAMES if (CONFIGMAPS, "ns", name) in api.objects
    }
    assert {key: informer.indexer.get_by_key(key) for key in informer.indexer.keys()} == truth  # noqa: SIM118
    for witness in (early, late):
        if witness is not None:
            check(witness, states, truth)
    await factory.stop()


def check(witness: Witness, states: dict[str, list[Object | None]], truth: dict[str, Object]) -> None:
    for key in {key for _, key, _, _ in witness.calls} | set(truth):
        calls = [(what, old, new) for what, k, old, new in witness.calls if k == key]
        # Per object: add, updates, delete, add, … and each update starts where the last call ended.
        present: Object | None = None
        seen: list[int] = []
        for what, old, new in calls:
            if what == "add":
                assert present is None
            elif what == "update":
                assert present is not None
                assert old is present
            else:
                assert present is not None
            present = new
            if new is not None:
                seen.append(int(new["metadata"]["resourceVersion"]))
        # A subsequence of the object's states, in order. A relist may repeat the state already known, never go back.
        assert seen == sorted(seen)
        real = [int(s["metadata"]["resourceVersion"]) for s in states[key] if s is not None]
        assert set(seen) <= set(real)
        # Converged.
        assert present == truth.get(key)


@given(st.lists(action, max_size=30))
@settings(max_examples=120, deadline=None)
def test_every_handler_sees_an_ordered_subsequence_and_the_end(actions: list[tuple[str, str]]) -> None:
    run_virtual(play(actions))


@pytest.mark.parametrize("supported", [True, False])
def test_a_list_can_be_streamed_where_the_server_can(supported: bool) -> None:
    async def main() -> None:
        requests: list[Request] = []
        fake = FakeAPI()
        server = create_server_chain(MemoryStore())
        transport: Any = fake
        if supported:
            await server.start()
            transport = server.in_process_transport(UserInfo("admin", ("system:masters", "system:authenticated")))

        class Spy:
            async def round_trip(self, request: Request) -> Response:
                requests.append(request)
                answer: Response = await transport.round_trip(request)
                return answer

            async def close(self) -> None:
                pass

        client = Client(Spy(), "test/v0")
        for name in NAMES:
            await client.create(
                CONFIGMAPS, {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name}}, "default"
            )
        requests.clear()
        informer = SharedInformerFactory(client, use_watch_list=True).informer(CONFIGMAPS)
        await informer.wait_for_sync()
        assert [o["metadata"]["name"] for o in informer.indexer] == list(NAMES)
        await client.delete(CONFIGMAPS, "a", "default")
        await asyncio.sleep(1)
        assert len(informer.indexer) == 2
        lists = [r for r in requests if r.method == "GET" and not r.param("watch")]
        assert len(lists) == (0 if supported else 1)
        await informer.stop()
        if supported:
            await server.stop()

    run_virtual(main())


def test_a_dropped_watch_is_resumed_without_a_new_list() -> None:
    async def main() -> None:
        api = FakeAPI()
        client = Client(api, "test/v0")
        informer = SharedInformerFactory(client).informer(CONFIGMAPS)
        await informer.wait_for_sync()
        for n in range(5):
            await client.create(CONFIGMAPS, {"metadata": {"name": f"x{n}"}}, "ns")
            await asyncio.sleep(5)
            api.drop_watches()
            await asyncio.sleep(5)
        assert len(informer.indexer) == 5
        assert (api.lists, api.watches) == (1, 6)
        api.compact()
        api.drop_watches()
        await client.create(CONFIGMAPS, {"metadata": {"name": "y"}}, "ns")
        api.compact()
        await asyncio.sleep(60)
        assert len(informer.indexer) == 6
        assert api.lists == 2  # only the 410 costs a list
        await informer.stop()

    run_virtual(main())


def test_what_vanished_between_two_lists_is_announced_as_deleted() -> None:
    async def main() -> None:
        api = FakeAPI()
        client = Client(api, "test/v0")
        informer = SharedInformerFactory(client).informer(CONFIGMAPS)
        gone: list[str] = []
        informer.add_event_handler(delete=lambda obj: gone.append(obj["metadata"]["name"]))
        await client.create(CONFIGMAPS, {"metadata": {"name": "a"}}, "ns")
        await informer.wait_for_sync()
        api.drop_watches()
        await client.delete(CONFIGMAPS, "a", "ns")
        api.compact()
        await asyncio.sleep(60)
        assert gone == ["a"]
        await informer.stop()

    run_virtual(main())


def test_a_failing_handler_harms_nobody_else(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        api = FakeAPI()
        client = Client(api, "test/v0")
        informer = SharedInformerFactory(client).informer(CONFIGMAPS)
        seen: list[str] = []

        def broken(obj: Object) -> None:
            raise ValueError("broken")

        informer.add_event_handler(add=broken)
        informer.add_event_handler(add=lambda obj: seen.append(obj["metadata"]["name"]))
        await informer.wait_for_sync()
        await client.create(CONFIGMAPS, {"metadata": {"name": "a"}}, "ns")
        await asyncio.sleep(1)
        assert seen == ["a"]
        await informer.stop()

    run_virtual(main())
    assert "handler failed for a" in caplog.text


def test_a_dead_server_is_asked_less_and_less_often() -> None:
    class Dead(FakeAPI):
        async def round_trip(self, request: Any) -> Any:
            asked.append(asyncio.get_running_loop().time())
            raise ConnectionError("refused")

    asked: list[float] = []

    async def main() -> None:
        informer = SharedInformerFactory(Client(Dead(), "test/v0")).informer(CONFIGMAPS)
        informer.start()
        await asyncio.sleep(600)
        await informer.stop()

    run_virtual(main())
    pauses = [b - a for a, b in pairwise(asked)]
    assert 0.8 <= pauses[0] <= 1.6
    assert all(30 <= pause <= 60 for pause in pauses[6:])
    assert len(asked) < 25
