"""An Event is one object in two groups. What a real 1.36.2 showed of two of them, each made in one group."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import on_a_server
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import resource
from lifecycle.apiserver.apis.event_versions import from_core, to_core
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client

POD: Object = {"kind": "Pod", "namespace": "default", "name": "p"}
THEN = "2026-11-30T10:00:00.000000Z"
REPORTED = {"reportingInstance": "i", "action": "a", "reason": "r", "type": "Normal"}
NEW: Object = {"eventTime": THEN, "reportingController": "c.example.com", "regarding": POD, "note": "n", **REPORTED}
OLD: Object = {
    "involvedObject": POD,
    "reason": "r",
    "message": "m",
    "type": "Normal",
    "count": 3,
    "source": {"component": "s"},
}
CORE, EVENTS = resource("events"), resource("events.events.k8s.io")
SHOWN: list[tuple[Any, Object, Any, Object]] = [
    (
        EVENTS,
        NEW,
        EVENTS,
        {**NEW, "deprecatedSource": {}, "deprecatedFirstTimestamp": None, "deprecatedLastTimestamp": None},
    ),
    (
        EVENTS,
        NEW,
        CORE,
        {
            **REPORTED,
            "involvedObject": POD,
            "message": "n",
            "source": {},
            "firstTimestamp": None,
            "lastTimestamp": None,
            "eventTime": THEN,
            "reportingComponent": "c.example.com",
        },
    ),
    (
        CORE,
        OLD,
        CORE,
        {
            **OLD,
            "firstTimestamp": None,
            "lastTimestamp": None,
            "eventTime": None,
            "reportingComponent": "",
            "reportingInstance": "",
        },
    ),
    (
        CORE,
        OLD,
        EVENTS,
        {
            "eventTime": None,
            "reason": "r",
            "regarding": POD,
            "note": "m",
            "type": "Normal",
            "deprecatedSource": {"component": "s"},
            "deprecatedFirstTimestamp": None,
            "deprecatedLastTimestamp": None,
            "deprecatedCount": 3,
        },
    ),
]


@pytest.mark.parametrize(("made_in", "sent", "read_in", "shown"), SHOWN, ids=["new", "new as old", "old", "old as new"])
def test_it_says_in_each_all_that_the_group_has_words_for(
    made_in: Any, sent: Object, read_in: Any, shown: Object
) -> None:
    async def scene(server: GenericAPIServer, client: Client) -> tuple[Object, Object]:
        body = {"kind": "Event", "apiVersion": made_in.api_version, "metadata": {"name": "e"}, **sent}
        await client.create(made_in, body, "default")
        listed = (await client.list(read_in, "default"))["items"]
        return await client.get(read_in, "e", "default"), next(e for e in listed if e["metadata"]["name"] == "e")

    for event in on_a_server(scene):
        assert {key: value for key, value in event.items() if key not in ("kind", "apiVersion", "metadata")} == shown


@pytest.mark.parametrize(("made_in", "sent", "read_in", "shown"), SHOWN[1::2], ids=["new as old", "old as new"])
def test_so_it_says_where_nobody_fills_in_what_is_not_there(
    made_in: Any, sent: Object, read_in: Any, shown: Object
) -> None:
    event = {"kind": "Event", "apiVersion": made_in.api_version, **sent}
    converted = to_core(event) if read_in is CORE else from_core(event)
    assert converted == {"kind": "Event", "apiVersion": read_in.api_version, **shown}
