"""The informer table: full agreement with both versions' recordings; a line taken out shows; and the server that plays recordings again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from lifecycle.agreements.client.informers import contract_violations, informer_agreement
from lifecycle.agreements.client.replayed_server import Recorded, ReplayedServer, recorded_events
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.real_fifo import RealFIFO
from lifecycle.client.reflector import Reflector
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.compare import AgreementTable
from lifecycle.inspector import open_recording

CALM, CUT, FORGOTTEN, TOLD = (
    "each cache at each moment",
    "… with the connection cut after each event",
    "… with the history forgotten at each event",
    "what handlers are told, in order",
)
PATH = "/api/v1/namespaces/ns/configmaps"


def different(table: AgreementTable) -> set[str]:
    return {row.input for row in table.rows if not row.equal}


@pytest.mark.parametrize(("name", "told"), [("kind-1.36.2", 505), ("kind-1.36.2-again", None), ("bare-1.20.2", 295)])
def test_caches_are_what_the_recorded_lists_say(name: str, told: int | None) -> None:
    table = informer_agreement(open_recording(name))
    assert table.equal, table.unexplained[:3]
    assert [row.input for row in table.rows] == [CALM, CUT, FORGOTTEN, TOLD]
    assert told is None or table.rows[-1].cluster == f"{told} events"


def test_a_relist_that_forgets_deletes_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def replace(self: RealFIFO, objects: Iterable[Object]) -> None:
        real(self, [*objects, *(self._known.list())])

    real = RealFIFO.replace
    monkeypatch.setattr(RealFIFO, "replace", replace)
    assert FORGOTTEN in different(informer_agreement(open_recording()))


def test_a_reflector_that_resumes_too_late_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def handle(self: Reflector, frame: Any) -> None:
        real(self, frame)
        self.last_sync_resource_version = str(int(self.last_sync_resource_version) + 3)

    real = Reflector._handle
    monkeypatch.setattr(Reflector, "_handle", handle)
    assert CUT in different(informer_agreement(open_recording()))


def config_map(name: str, revision: int, uid: str = "1") -> Object:
    meta = {"name": name, "namespace": "ns", "uid": uid, "resourceVersion": str(revision)}
    return {"kind": "ConfigMap", "apiVersion": "v1", "metadata": meta}


def two_lives() -> dict[str, list[Recorded]]:
    kinds = (("ADDED", "1"), ("DELETED", "1"), ("ADDED", "2"))
    return {PATH: [Recorded(r, r, kind, config_map("a", r, uid)) for r, (kind, uid) in enumerate(kinds, 1)]}


def test_streams_and_lists_lead_to_the_same_cache() -> None:
    async def main(streams: bool, use_watch_list: bool) -> tuple[list[str], dict[str, int]]:
        server = ReplayedServer(two_lives(), streams_lists=streams)
        server.advance(1)
        factory = SharedInformerFactory(Client(server, "test"), use_watch_list=use_watch_list)
        informer = factory.informer(resource("configmaps"), namespace="ns")
        await informer.wait_for_sync()
        await asyncio.sleep(5)  # a watch that ends at once, with nothing said, would cost a list
        server.cut()
        server.advance(3)
        await asyncio.sleep(60)
        await informer.stop()
        return [obj["metadata"]["uid"] for obj in informer.indexer], {kind: n for (kind, _), n in server.asked.items()}

    assert run_virtual(main(True, True)) == (["2"], {"stream": 1, "watch": 1})  # the stream goes on as the first watch
    assert run_virtual(main(False, True)) == (["2"], {"list": 1, "watch": 2})
    assert run_virtual(main(True, False)) == (["2"], {"list": 1, "watch": 2})


def test_a_forgotten_revision_costs_a_list() -> None:
    async def main() -> tuple[list[str], int]:
        server = ReplayedServer(two_lives())
        server.advance(1)
        informer = SharedInformerFactory(Client(server, "test")).informer(resource("configmaps"), namespace="ns")
        heard: list[str] = []
        informer.add_event_handler(
            add=lambda obj: heard.append("add"),
            update=lambda old, new: heard.append("update"),
            delete=lambda obj: heard.append("delete"),
        )
        await informer.wait_for_sync()
        server.cut()
        server.advance(3)
        server.forget()
        await asyncio.sleep(60)
        await informer.stop()
        return heard, server.asked["list", PATH]

    assert run_virtual(main()) == (["add", "update"], 2)  # the second life looks like an update, with another uid


def test_violations_of_the_contract_are_named() -> None:
    one, two, three = (config_map("a", revision) for revision in (1, 2, 3))
    assert contract_violations([("add", None, one), ("update", one, three), ("delete", three, None)]) == []
    assert contract_violations([("update", one, two)]) != []
    assert contract_violations([("add", None, one), ("add", None, two)]) == ["add of ns/a, which was there"]
    assert contract_violations([("add", None, two), ("update", two, one)]) == ["ns/a went back in time"]
    assert contract_violations([("add", None, one), ("update", two, three)]) == [
        "update of ns/a from something else than the last state"
    ]


def test_bookmarks_and_refused_watches_are_no_events() -> None:
    for name in ("kind-1.36.2", "bare-1.20.2"):
        for events in recorded_events(open_recording(name)).values():
            assert {event.type for event in events} <= {"ADDED", "MODIFIED", "DELETED"}
            assert [event.revision for event in events] == sorted(event.revision for event in events)
