"""The event recorder: what is written, counted, combined and dropped."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object, Response
from lifecycle.api.loop.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError, failure
from lifecycle.client.events import EventRecorder, object_reference
from lifecycle.client.rest import Client
from lifecycle.client.transport_https import NoAnswerError

AUDIT = Path(__file__).parents[2] / "recordings" / "kind-1.36.2" / "audit" / "journey.jsonl"
EVENTS = resource("events")
POD: Object = {
    "kind": "Pod",
    "apiVersion": "v1",
    "metadata": {"name": "p", "namespace": "ns", "uid": "u", "resourceVersion": "7"},
}


def recorded(total: int, message: str, *, distinct: bool) -> tuple[list[Any], list[Object]]:
    """Record an event `total` times; the requests, and the stored events."""

    async def main() -> tuple[list[Any], list[Object]]:
        api = FakeAPI()
        recorder = EventRecorder(Client(api, "kubelet/v1"), "kubelet", clock=Clock(), host="n1")
        for number in range(total):
            recorder.event(POD, "Normal", "Pulled", f"{message} {number}" if distinct else message)
            await asyncio.sleep(1)
        await recorder.flush()
        return api.log, api.items(EVENTS)

    return run_virtual(main())


def test_the_same_event_is_counted() -> None:
    log, [event] = recorded(3, "pulled", distinct=False)
    assert [entry[1] for entry in log] == ["POST", "PATCH", "PATCH"]
    assert event["count"] == 3
    assert event["firstTimestamp"] < event["lastTimestamp"]
    assert log[1][3] == {"count": 2, "lastTimestamp": log[1][3]["lastTimestamp"], "message": "pulled"}


def test_many_similar_events_are_combined() -> None:
    log, events = recorded(12, "pulled", distinct=True)
    assert len(events) == 10
    assert events[-1]["message"] == "(combined from similar events): pulled 11"
    assert events[-1]["count"] == 3
    assert [entry[1] for entry in log] == ["POST"] * 10 + ["PATCH"] * 2


def test_a_source_that_talks_too_much_is_cut_off() -> None:
    log, [event] = recorded(60, "pulled", distinct=False)
    assert len(log) == 25
    assert event["count"] == 25


def test_a_new_event_has_the_recorded_shape() -> None:
    shapes = []
    for line in AUDIT.read_text().splitlines():
        event = json.loads(line)
        body = event.get("requestObject") or {}
        if event["stage"] == "ResponseComplete" and event["verb"] == "create" and body.get("kind") == "Event":
            source = body["source"]
            if not body["message"].startswith("(combined"):
                shapes.append(body)
                about = body["involvedObject"]
                meta = {k: about[k] for k in ("name", "namespace", "uid", "resourceVersion") if k in about}
                obj = {"kind": about["kind"], "apiVersion": about["apiVersion"], "metadata": meta}

                async def main(obj: Object = obj, source: Object = source, body: Object = body) -> Object:
                    api = FakeAPI()
                    recorder = EventRecorder(
                        Client(api, "x/1"), source["component"], clock=Clock(), host=source.get("host", "")
                    )
                    path = body["involvedObject"].get("fieldPath", "")
                    recorder.event(obj, body["type"], body["reason"], body["message"], field_path=path)
                    await recorder.flush()
                    sent: Object = api.log[0][3]
                    return sent

                ours = run_virtual(main())
                volatile = ("firstTimestamp", "lastTimestamp")
                ours = {
                    **ours,
                    **{k: body[k] for k in volatile},
                    "metadata": {**ours["metadata"], "name": body["metadata"]["name"]},
                }
                assert ours == body
    assert len(shapes) > 40


def test_names_never_clash_even_in_one_instant() -> None:
    async def main() -> set[str]:
        api = FakeAPI()
        recorders = [EventRecorder(Client(api, "x/1"), "kubelet", clock=Clock(), host=f"n{n}") for n in range(20)]
        for recorder in recorders:
            for number in range(3):
                recorder.event(POD, "Normal", "R", str(number))
        for recorder in recorders:
            await recorder.flush()
        return {e["metadata"]["name"] for e in api.items(EVENTS)}

    assert len(run_virtual(main())) == 60


def test_references_leave_out_what_is_empty() -> None:
    assert object_reference({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}) == {
        "kind": "Node",
        "name": "n",
        "apiVersion": "v1",
    }


class Away(FakeAPI):
    """Does not answer the first times."""

    async def round_trip(self, request: Any) -> Any:
        times.append(asyncio.get_running_loop().time())
        raise OSError("away")


times: list[float] = []


def test_a_server_that_is_away_is_asked_twelve_times_ten_seconds_apart_the_first_pause_by_chance() -> None:
    async def main() -> None:
        times.clear()
        recorder = EventRecorder(Client(Away(), "x/1"), "x", clock=Clock())
        pod = {"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "p", "namespace": "default"}}
        recorder.event(pod, "Normal", "Tested", "once")
        await recorder.flush()

    run_virtual(main())
    pauses = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert len(times) == 12
    assert 0 <= pauses[0] < 10
    assert pauses[1:] == pytest.approx([10.0] * 10)


class Scripted(FakeAPI):
    """Answers each write with the next of `errors`, and then as it does."""

    def __init__(self, *errors: Exception | None) -> None:
        super().__init__()
        self.errors = list(errors)
        self.sent: list[Any] = []

    async def round_trip(self, request: Any) -> Any:
        self.sent.append((request.method, request.path, request.headers.get("content-type"), request.obj))
        error = self.errors.pop(0) if self.errors else None
        if isinstance(error, StatusError) and not isinstance(error, OSError):
            return Response(error.code, obj=error.status)
        if error is not None:
            raise error
        return await super().round_trip(request)


NOT_FOUND, INVALID = failure(404, "NotFound", "gone"), failure(422, "Invalid", "no")


@pytest.mark.parametrize(
    ("errors", "methods", "count"),
    [
        ([None, None], ["POST", "PATCH"], 2),
        ([INVALID, None], ["POST", "PATCH", "POST"], 2),  # refused: given up; it counts, and there is nothing to patch
        ([None, INVALID], ["POST", "PATCH"], 1),
        ([None, NOT_FOUND, INVALID], ["POST", "PATCH", "POST"], 1),
        ([OSError("away"), None], ["POST", "POST", "PATCH"], 2),
        ([TimeoutError(), ConnectionError("away"), None], ["POST", "POST", "POST", "PATCH"], 2),
        ([None, OSError("away"), None], ["POST", "PATCH", "PATCH"], 2),
        ([NoAnswerError("away"), None], ["POST", "POST", "PATCH"], 2),
    ],
)
def test_a_refusal_is_final_and_silence_is_not(errors: list[Exception | None], methods: list[str], count: int) -> None:
    async def main() -> Scripted:
        api = Scripted(*errors)
        recorder = EventRecorder(Client(api, "x/1"), "x", clock=Clock())
        for _ in range(2):
            recorder.event(POD, "Normal", "Tested", "same")
            await recorder.flush()
        return api

    api = run_virtual(main())
    assert [sent[0] for sent in api.sent] == methods
    assert [event["count"] for event in api.items(EVENTS)] == [count]
    for method, path, content_type, _ in api.sent:
        patched = method == "PATCH"
        assert path.startswith("/api/v1/namespaces/ns/events/p." if patched else "/api/v1/namespaces/ns/events")
        assert content_type == ("application/strategic-merge-patch+json" if patched else "application/json")


def test_an_expired_event_is_written_anew_with_its_count() -> None:
    async def main() -> list[Object]:
        api = FakeAPI()
        recorder = EventRecorder(Client(api, "x/1"), "x", clock=Clock())
        for number in range(3):
            recorder.event(POD, "Normal", "Tested", "same")
            await recorder.flush()
            await asyncio.sleep(1)
            if number == 1:
                [event] = api.items(EVENTS)
                await Client(api, "ttl").delete(EVENTS, event["metadata"]["name"], "ns")
        return api.items(EVENTS)

    [event] = run_virtual(main())
    assert event["count"] == 3
    assert event["firstTimestamp"] < event["lastTimestamp"]


def test_a_thousand_events_wait_and_no_more() -> None:
    async def main() -> int:
        api = FakeAPI()
        recorder = EventRecorder(Client(api, "x/1"), "x", clock=Clock())
        for number in range(1100):
            recorder.event({**POD, "metadata": {"name": f"p{number}"}}, "Normal", "Tested", "once")
        await recorder.flush()
        return len(api.items(EVENTS))

    assert run_virtual(main()) == 1000


def test_an_event_about_what_has_no_namespace_is_kept_in_the_default_one() -> None:
    async def main() -> list[Object]:
        api = FakeAPI()
        recorder = EventRecorder(Client(api, "x/1"), "x", clock=Clock())
        recorder.event({"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}, "Normal", "Tested", "m")
        await recorder.flush()
        recorder.event(POD, "Warning", "Tested", "m", field_path="spec")
        await recorder.flush()
        return api.items(EVENTS)

    node, pod = run_virtual(main())
    assert (node["metadata"]["namespace"], pod["metadata"]["namespace"]) == ("default", "ns")
    assert "namespace" not in node["involvedObject"]
    assert node["source"] == {"component": "x"}
    assert (node["reportingComponent"], node["reportingInstance"], node["eventTime"]) == ("x", "", None)
    assert (node["kind"], node["apiVersion"], node["type"], node["count"]) == ("Event", "v1", "Normal", 1)
    assert (pod["involvedObject"]["fieldPath"], pod["type"]) == ("spec", "Warning")


def test_an_events_name_is_the_objects_and_the_time_in_nanoseconds() -> None:
    async def main() -> list[tuple[str, float]]:
        api, clock = FakeAPI(), Clock()
        recorder = EventRecorder(Client(api, "x/1"), "x", clock=clock)
        out = []
        for number in range(3):
            await asyncio.sleep(0.25 * number)
            recorder.event(POD, "Normal", "Tested", str(number))
            await recorder.flush()
            out.append((api.items(EVENTS)[-1]["metadata"]["name"], clock.now()))
        return out

    for name, now in run_virtual(main()):
        begin, _, nanos = name.partition(".")
        assert begin == "p"
        milliseconds, rest = divmod(int(nanos, 16), 1_000_000)
        assert milliseconds == int(now) * 1000 + int(now % 1 * 1000)
        assert rest < 1_000_000


@pytest.mark.parametrize(
    ("now", "milliseconds"),
    [(5.0, 5000), (5.0004, 5000), (5.25, 5250), (5.9996, 5999), (1_795_226_175.5, 1_795_226_175_500)],
)
def test_of_an_events_time_whole_milliseconds_are_kept(now: float, milliseconds: int) -> None:
    class Stopped(Clock):
        def now(self) -> float:
            return now

    async def main() -> list[int]:
        api = FakeAPI()
        recorder = EventRecorder(Client(api, "x/1"), "x", clock=Stopped())
        for number in range(3):
            recorder.event(POD, "Normal", "Tested", str(number))
        await recorder.flush()
        return [int(event["metadata"]["name"].removeprefix("p."), 16) for event in api.items(EVENTS)]

    first, *later = run_virtual(main())
    assert first // 1_000_000 == milliseconds
    assert later == [first + 1, first + 2]


def test_a_recorder_that_was_stopped_writes_no_more_until_the_next_event() -> None:
    async def main() -> tuple[int, int]:
        api = FakeAPI()
        recorder = EventRecorder(Client(api, "x/1"), "x", clock=Clock())
        await recorder.stop()
        for number in range(3):
            recorder.event(POD, "Normal", "Tested", str(number))
        await recorder.stop()
        await recorder.flush()
        stopped = len(api.log)
        recorder.event(POD, "Normal", "Tested", "later")
        await recorder.flush()
        return stopped, len(api.log)

    assert run_virtual(main()) == (0, 4)
