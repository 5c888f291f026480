"""The event recorder: what is written, counted, combined and dropped."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fake_api import FakeAPI

from lifecycle.api.clock import Clock, run_virtual
from lifecycle.api.resources import resource
from lifecycle.api.wire import Object
from lifecycle.client.events import EventRecorder, object_reference
from lifecycle.client.rest import Client

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
