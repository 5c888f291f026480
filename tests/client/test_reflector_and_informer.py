"""Pauses of a reflector, and what it asks each time; what an informer does with handlers and selections."""

from __future__ import annotations

import asyncio
import random
from typing import Any

import pytest
from tests.client.test_reflector import PODS, Kept, Script, added, bookmark, listed, pod
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object, Request, Response, WatchFrame
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure, gone
from lifecycle.client import shared_informer
from lifecycle.client.reflector import BackoffManager, ExpiredError, Reflector
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import PATIENCE, SharedInformer, SharedInformerFactory
from lifecycle.client.transport_https import NoAnswerError

CONFIGMAPS, SECRETS = resource("configmaps"), resource("secrets")


class Dice(random.Random):
    """Always throws the same."""

    def __init__(self, value: float) -> None:
        super().__init__()
        self.value = value

    def random(self) -> float:
        return self.value


@pytest.mark.parametrize("value", [0.0, 0.5, 0.75])
def test_pauses_double_from_eight_tenths_to_thirty_seconds_with_up_to_as_much_again(value: float) -> None:
    async def main() -> list[float]:
        manager = BackoffManager(Dice(value))
        await asyncio.sleep(500)
        return [manager.delay() for _ in range(8)]

    base = [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 30.0]
    assert run_virtual(main()) == pytest.approx([pause * (1 + value) for pause in base])


@pytest.mark.parametrize(("quiet", "pause"), [(120.0, 3.2), (120.5, 0.8)])
def test_two_good_minutes_are_forgiven(quiet: float, pause: float) -> None:
    async def main() -> float:
        manager = BackoffManager(Dice(0))
        manager.delay()
        manager.delay()
        await asyncio.sleep(quiet)
        return manager.delay()

    assert run_virtual(main()) == pytest.approx(pause)


class Asked(Script):
    """Remembers whole requests."""

    def __init__(self, *answers: Any) -> None:
        super().__init__(*answers)
        self.requests: list[Request] = []
        self.times: list[float] = []

    async def round_trip(self, request: Request) -> Response:
        self.requests.append(request)
        self.times.append(asyncio.get_running_loop().time())
        return await super().round_trip(request)


def reflect(script: Asked, seconds: float = 600, **options: Any) -> tuple[Reflector, Kept]:
    async def main() -> tuple[Reflector, Kept]:
        store = Kept()
        reflector = Reflector(Client(script, "test"), PODS, store, **options)
        running = asyncio.ensure_future(reflector.run())
        await asyncio.sleep(seconds)
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        return reflector, store

    return run_virtual(main())


@pytest.mark.parametrize("streamed", [False, True])
def test_list_and_watch_ask_for_one_namespace_and_selection(streamed: bool) -> None:
    answers: list[Any] = [[bookmark(5, end=True), 5], [5]] if streamed else [listed(5, "a"), [5]]
    script = Asked(*answers)
    options = {"namespace": "ns", "label_selector": "a=b", "field_selector": "c=d"}
    reflect(script, 3, use_watch_list=streamed, **options)
    for request in script.requests:
        assert request.path == "/api/v1/namespaces/ns/pods"
        assert (request.param("labelSelector"), request.param("fieldSelector")) == ("a=b", "c=d")
        if request.param("watch"):
            assert request.param("allowWatchBookmarks") == "true"
            assert 300 <= int(request.param("timeoutSeconds")) < 600
    assert len(script.requests) == (1 if streamed else 2)


def test_watches_of_many_clients_do_not_end_together() -> None:
    def timeout(namespace: str) -> str:
        script = Asked(listed(5))
        reflect(script, 3, namespace=namespace)
        return script.requests[1].param("timeoutSeconds")

    names = [f"ns{number}" for number in range(8)]
    assert len({timeout(name) for name in names}) > 4
    assert [timeout(name) for name in names] == [timeout(name) for name in names]


def test_what_a_list_leaves_out_is_filled_in() -> None:
    whole = {"kind": "Other", "apiVersion": "x/v1", **pod("b", 2)}
    script = Asked(listed(5, "a") | {"items": [pod("a", 1), whole]})
    reflector, store = reflect(script, 3)
    assert list(store) == [{"kind": "Pod", "apiVersion": "v1", **pod("a", 1)}, whole]
    assert reflector.last_sync_resource_version == "5"


@pytest.mark.parametrize("answer", [{"metadata": {}}, {"metadata": {"resourceVersion": "5"}, "items": None}])
def test_a_list_may_be_without_items_and_revision(answer: Object) -> None:
    reflector, store = reflect(Asked(answer), 3)
    assert (list(store), reflector.last_sync_resource_version) == ([], answer["metadata"].get("resourceVersion", ""))


@pytest.mark.parametrize("error", [OSError("x"), TimeoutError(), EOFError("x"), ConnectionError("x"), ValueError("x")])
def test_whatever_goes_wrong_is_tried_again_after_a_pause(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    script = Asked(error, error, listed(5, "a"), [9999])
    reflect(script, 60)
    first, second = script.times[1] - script.times[0], script.times[2] - script.times[1]
    assert 0.8 <= first < 1.6 <= second < 3.2
    unexpected = [r for r in caplog.records if r.levelname == "ERROR"]
    assert [r.getMessage() for r in unexpected] == (
        ["pods: list and watch failed"] * 2 if isinstance(error, ValueError) else []
    )


@pytest.mark.parametrize(("code", "complaints"), [(401, 1), (403, 1), (500, 0)])
def test_that_it_may_not_look_is_said_once(code: int, complaints: int, caplog: pytest.LogCaptureFixture) -> None:
    """It does not heal by itself, and without a word a component would wait for ever."""
    no = failure(code, "No", "you cannot")
    reflect(Asked(no, no, listed(5, "a"), [9999]), 60)
    said = [r.getMessage() for r in caplog.records if r.levelname == "ERROR"]
    assert said == ["failed to list pods: you cannot"] * complaints


def test_a_watch_without_an_answer_is_asked_for_again_and_nothing_is_listed_anew() -> None:
    script = Asked(listed(5), NoAnswerError("away"), [9999])
    reflect(script, 60)
    assert script.asked == ["list 0", "watch 5", "watch 5"]


@pytest.mark.parametrize(
    ("frames", "again"),
    [
        ([], "list 5"), ([1], "watch 5"), ([added("a", 7)], "watch 7"), ([bookmark(8)], "watch 8"),
        ([OSError("x")], "list 5"), ([EOFError("x")], "list 5"), ([1, EOFError("x")], "watch 5"),
    ],
)  # fmt: skip
def test_a_watch_that_says_nothing_within_a_second_is_not_resumed(frames: list[Any], again: str) -> None:
    script = Asked(listed(5), frames, listed(9))
    reflect(script, 60)
    assert script.asked[2] == again


@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        ([gone("too old")], StatusError, "too old"), ([listed(5), gone("too old")], ExpiredError, "too old"),
        ([listed(5), [WatchFrame("ERROR", gone("too old").status)]], ExpiredError, "too old"),
        ([listed(5), [WatchFrame("ERROR", {"code": 410})]], ExpiredError, ""),
        ([listed(5), [WatchFrame("ERROR", {"code": 500, "message": "no"})]], StatusError, "no"),
        ([listed(5), failure(500, "InternalError", "no")], StatusError, "no"),
        ([listed(5), []], EOFError, "very short watch: no event within a second"), ([OSError("away")], OSError, "away"),
        ([listed(5), TimeoutError("late")], TimeoutError, "late"),
    ],
)  # fmt: skip
def test_why_listing_and_watching_ends(answers: list[Any], kind: type[Exception], words: str) -> None:
    """A revision that the server has forgotten is told apart from what else it may say."""

    async def main() -> None:
        again = [gone("too old")] if answers[0].__class__ is StatusError else []  # asked for the newest, too
        reflector = Reflector(Client(Script(*answers, *again), "test"), PODS, Kept())
        with pytest.raises(kind) as caught:
            await reflector.list_and_watch()
        assert type(caught.value) is kind
        assert (caught.value.message if isinstance(caught.value, StatusError) else str(caught.value)) == words

    run_virtual(main())


@pytest.mark.parametrize("error", [OSError("x"), TimeoutError(), EOFError("x")])
def test_a_streamed_list_that_breaks_is_a_plain_one_this_time(error: Exception) -> None:
    script = Asked([error], listed(5, "a"))
    reflect(script, 60, use_watch_list=True)
    assert script.asked[:3] == ["stream", "list 0", "watch 5"]


class Stream:
    """Frames, and whether whoever read them closed them."""

    def __init__(self, inner: Any) -> None:
        self.inner, self.closed = inner, False

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> WatchFrame:
        frame: WatchFrame = await anext(self.inner)
        return frame

    async def aclose(self) -> None:
        self.closed = True
        await self.inner.aclose()


def test_streams_are_closed_before_anything_else_is_asked() -> None:
    streams: list[Stream] = []

    class Closing(Asked):
        async def round_trip(self, request: Request) -> Response:
            assert all(stream.closed for stream in streams)
            response = await super().round_trip(request)
            if response.stream is not None:
                response.stream = Stream(response.stream)
                streams.append(response.stream)
            return response

    broken = WatchFrame("ERROR", {"code": 500})
    script = Closing(
        [added("a", 3), bookmark(4), 5], [added("a", 3), broken, 5], listed(5), [bookmark(6), broken, 5], [OSError("x")],
        listed(7), [1, EOFError("x")],
    )  # fmt: skip
    reflect(script, 60, use_watch_list=True)
    assert len(streams) >= 5


def test_handlers_hear_what_they_asked_for_until_they_are_removed() -> None:
    async def main() -> None:
        api = FakeAPI()
        client, told = Client(api, "t"), list[str]()
        informer = SharedInformerFactory(client).informer(CONFIGMAPS)
        await client.create(CONFIGMAPS, {"metadata": {"name": "a"}}, "ns")
        await informer.wait_for_sync()

        def say(what: str) -> Any:
            return lambda obj: told.append(f"{what} {obj['metadata']['name']}")

        adds = informer.add_event_handler(add=say("add"))
        informer.add_event_handler(update=lambda old, new: told.append(f"update {new['data']['n']}"))
        informer.add_event_handler(delete=say("delete"))
        informer.add_event_handler()
        assert told == ["add a"]  # what is there already, at once, to those who ask for adds
        live = api.items(CONFIGMAPS)[0]
        await client.update(CONFIGMAPS, {**live, "data": {"n": "1"}})
        await client.create(CONFIGMAPS, {"metadata": {"name": "b"}}, "ns")
        await client.delete(CONFIGMAPS, "a", "ns")
        await asyncio.sleep(1)
        assert told == ["add a", "update 1", "add b", "delete a"]
        informer.remove_event_handler(adds)
        await client.create(CONFIGMAPS, {"metadata": {"name": "c"}}, "ns")
        await client.delete(CONFIGMAPS, "b", "ns")
        await asyncio.sleep(1)
        assert told[4:] == ["delete b"]
        await informer.stop()
        await informer.stop()
        await client.create(CONFIGMAPS, {"metadata": {"name": "d"}}, "ns")
        await asyncio.sleep(1)
        assert [o["metadata"]["name"] for o in informer.indexer] == ["c"]  # kept, and no longer brought level

    run_virtual(main())


def test_a_handlers_failure_is_logged_with_the_name(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        api = FakeAPI()
        client, told = Client(api, "t"), list[str]()
        informer = SharedInformerFactory(client).informer(CONFIGMAPS)

        def fail(*_: Object) -> None:
            raise ValueError

        informer.add_event_handler(fail, fail, fail)
        informer.add_event_handler(
            lambda obj: told.append("add"), lambda old, new: told.append("update"), lambda obj: told.append("delete")
        )
        await informer.wait_for_sync()
        made = await client.create(CONFIGMAPS, {"metadata": {"name": "a"}}, "ns")
        await client.update(CONFIGMAPS, {**made, "data": {"n": "1"}})
        await client.delete(CONFIGMAPS, "a", "ns")
        await asyncio.sleep(1)
        assert told == ["add", "update", "delete"]
        await informer.stop()

    run_virtual(main())
    assert [r.getMessage() for r in caplog.records] == [
        "handler failed for a", "handler failed for a", "handler failed for a",
    ]  # fmt: skip


@pytest.mark.parametrize(("patience", "expected"), [(PATIENCE, [500, 1000, 1100]), (-1.0, list(range(1, 1101)))])
def test_others_have_their_turn_after_five_hundred_changes_or_when_handlers_have_taken_long(
    patience: float, expected: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared_informer, "PATIENCE", patience)

    async def main() -> list[int]:
        api = FakeAPI()
        client = Client(api, "t")
        for number in range(1100):
            await client.create(CONFIGMAPS, {"metadata": {"name": f"c{number}"}}, "ns")
        informer = SharedInformerFactory(client).informer(CONFIGMAPS)
        sizes: list[int] = []
        informer.start()
        while not informer.has_synced:
            await asyncio.sleep(0)
            if len(informer.indexer) != (sizes[-1] if sizes else 0):
                sizes.append(len(informer.indexer))
        await informer.stop()
        return sizes

    assert run_virtual(main()) == expected


def test_one_informer_for_each_resource_and_selection() -> None:
    async def main() -> None:
        factory = SharedInformerFactory(Client(FakeAPI(), "t"))
        asked: list[dict[str, str]] = [{}, {"namespace": "a"}, {"label_selector": "a=b"}, {"field_selector": "a=b"}]
        informers = [factory.informer(res, **options) for res in (CONFIGMAPS, SECRETS) for options in asked]
        assert len(set(map(id, informers))) == 8
        assert informers == [factory.informer(res, **options) for res in (CONFIGMAPS, SECRETS) for options in asked]
        assert not any(informer.has_synced for informer in informers)
        await factory.wait_for_cache_sync()
        assert all(informer.has_synced for informer in informers)
        await factory.stop()

    run_virtual(main())


def test_an_informer_hands_its_selection_on_and_runs_one_reflector() -> None:
    async def main() -> None:
        script = Asked(listed(5, "a"))
        informer = SharedInformer(
            Client(script, "t"), PODS, namespace="ns", label_selector="a=b", field_selector="c=d",
            indexers={"first": lambda obj: [obj["metadata"]["name"][0]]},
        )  # fmt: skip
        informer.start()
        informer.start()
        await asyncio.gather(informer.wait_for_sync(), informer.wait_for_sync())
        informer.add_indexers({"last": lambda obj: [obj["metadata"]["name"][-1]]})
        assert [len(informer.indexer.by_index(name, "a")) for name in ("first", "last")] == [1, 1]
        await informer.wait_for_sync()
        await asyncio.sleep(1)
        assert [request.param("watch") for request in script.requests] == ["", "true"]
        first = script.requests[0]
        assert (first.path, first.param("labelSelector"), first.param("fieldSelector")) == (
            "/api/v1/namespaces/ns/pods", "a=b", "c=d",
        )  # fmt: skip
        names = {task.get_name() for task in asyncio.all_tasks()}
        assert "reflector pods" in names
        await informer.stop()

    run_virtual(main())
