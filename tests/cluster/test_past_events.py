"""Events that happened before anybody asked are put together from the rows that show them, and marked as given."""

from __future__ import annotations

from dataclasses import replace

from lifecycle.cluster.given import PAST, mark_given
from lifecycle.cluster.past_events import past_events
from lifecycle.compare import AgreementTable, compare
from lifecycle.inspector import open_recording

RECORDING = open_recording()
STORAGE = RECORDING.exchanges("storage")
SHOWN = next(each for each in STORAGE if each.path == "/api/v1/namespaces/kube-system/events")


def test_an_event_is_what_its_row_says() -> None:
    events = [event for _, event in past_events(STORAGE)]
    assert len(events) == len(SHOWN.response["rows"])
    pulled = next(event for event in events if event["reason"] == "Pulled")
    assert pulled["involvedObject"]["kind"] == "Pod"
    assert pulled["involvedObject"]["fieldPath"] == "spec.containers{coredns}"
    assert pulled["source"] == {"component": "kubelet", "host": "lifecycle-control-plane"}
    assert pulled["firstTimestamp"] == pulled["metadata"]["creationTimestamp"]


def given(exchange: object) -> str:
    table = AgreementTable("t", "ours", "theirs")
    row = table.add("storage", f"GET {SHOWN.path}", "", "", compare(1, 1))
    exchanges = [exchange if each is SHOWN else each for each in STORAGE]
    mark_given(table, RECORDING, exchanges)
    return row.given


def test_only_an_answer_of_nothing_but_the_past_is_given() -> None:
    assert given(SHOWN) == PAST
    row = SHOWN.response["rows"][0]
    metadata = {**row["object"]["metadata"], "uid": "new", "creationTimestamp": "2030-01-01T00:00:00Z"}
    later = {**row, "object": {**row["object"], "metadata": metadata}}
    answer = {**SHOWN.response, "rows": [*SHOWN.response["rows"], later]}
    assert given(replace(SHOWN, response=answer)) == ""


def test_where_nothing_was_made_nothing_is_of_the_past() -> None:
    assert past_events([SHOWN]) == []
