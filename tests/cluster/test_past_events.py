"""Events that happened before anybody asked are put together from the rows that show them, and marked as given."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.cluster.given import PAST, mark_given
from lifecycle.cluster.past_events import past_events
from lifecycle.compare import AgreementTable, compare
from lifecycle.inspector import Exchange, open_recording

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


ROW = {
    "cells": ["3m", "Normal", "Pulled", "pod/web", "spec.containers{c}", "kubelet, n1", "it is here", "3m", 4, "web.1"],
    "object": {"metadata": {"name": "web.1", "namespace": "shop", "creationTimestamp": "2026-01-01T00:00:00Z"}},
}
COLUMNS = ["Last Seen", "Type", "Reason", "Object", "Subobject", "Source", "Message", "First Seen", "Count", "Name"]


def exchange(method: str = "GET", status: int = 200, **response: Any) -> Exchange:
    return replace(SHOWN, method=method, status=status, response=response)


def table(*rows: Any, columns: list[str] = COLUMNS) -> Exchange:
    return exchange(kind="Table", columnDefinitions=[{"name": name} for name in columns], rows=list(rows))


def created(at: str, method: str = "POST", status: int = 201) -> Exchange:
    return exchange(method, status, metadata={"creationTimestamp": at})


BEGAN = created("2026-01-01T00:00:01Z")


def test_every_cell_of_a_row_becomes_a_field_of_its_event() -> None:
    ((row, event),) = past_events([table(ROW), BEGAN])
    assert row.plural == "events"
    assert event == {
        "kind": "Event",
        "apiVersion": "v1",
        "metadata": ROW["object"]["metadata"],  # type: ignore[index]
        "involvedObject": {
            "kind": "Pod",
            "apiVersion": "v1",
            "namespace": "shop",
            "name": "web",
            "fieldPath": "spec.containers{c}",
        },
        "reason": "Pulled",
        "message": "it is here",
        "source": {"component": "kubelet", "host": "n1"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-01T00:00:00Z",
        "count": 4,
        "type": "Normal",
        "eventTime": None,
        "reportingComponent": "kubelet",
        "reportingInstance": "n1",
    }


def test_an_event_of_a_whole_object_from_no_machine_says_so() -> None:
    cells = [*ROW["cells"]]  # type: ignore[misc]
    cells[3:6] = ["deployment/web", "", "deployment-controller"]
    ((_, event),) = past_events([table({**ROW, "cells": cells}), BEGAN])
    assert event["involvedObject"] == {
        "kind": "Deployment",
        "apiVersion": "apps/v1",
        "namespace": "shop",
        "name": "web",
    }
    assert (event["source"], event["reportingInstance"]) == ({"component": "deployment-controller"}, "")


@pytest.mark.parametrize(
    ("others", "count"),
    [
        ([BEGAN], 1),
        ([created("2026-01-01T00:00:09Z"), BEGAN], 1),
        ([created("2026-01-01T00:00:00Z")], 0),
        ([created("2025-01-01T00:00:00Z"), BEGAN], 0),
        ([created("2026-01-01T00:00:01Z", method="PUT")], 0),
        ([created("2026-01-01T00:00:01Z", status=200)], 0),
        ([exchange("POST", 201, metadata={})], 0),
        ([exchange("POST", 201)], 0),
    ],
)
def test_the_past_ends_with_the_first_object_that_was_made(others: list[Exchange], count: int) -> None:
    assert len(past_events([*others, table(ROW)])) == count


def test_only_tables_of_events_are_read() -> None:
    text = replace(SHOWN, response="some text")
    pods = table(ROW, columns=["Name", "Reason", "Object", "Source", *"abcdef"])
    listed = exchange(kind="EventList", items=[])
    timeless = {**ROW, "object": {"metadata": {"name": "web.1"}}}
    assert past_events([text, pods, listed, table(timeless), BEGAN]) == []


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
