"""Informers held against the recorded journey: led through its watches, on good days
and bad, they must hold what the real lists say.

While the real cluster was watched it was also listed, at seven moments. Our informer
hears the recorded watches up to the revision of such a list; then its cache is compared
with the list, object by object. It has to come out the same with a connection that
breaks after every event, and with a server that also forgets its history each time, so
that every step costs a new list.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from lifecycle.agreements.client.replayed_server import ReplayedServer, recorded_events
from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, find_resource
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer, SharedInformerFactory
from lifecycle.client.store import meta_namespace_key
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import Comparison, compare
from lifecycle.inspector import Recording

SCENARIO = "journey"
CALM = 0.5
LONG = 120.0
"""Virtual seconds: until the news has arrived; and until a reflector has got over its
failure.
"""

WEATHER = {
    "each cache at each moment": "calm",
    "… with the connection cut after each event": "cut",
    "… with the history forgotten at each event": "forget",
}


def watched_resource(path: str) -> tuple[Resource, str]:
    """The resource and the namespace of a watch's path."""
    parts = path.strip("/").split("/")
    group, version = ("", parts[1]) if parts[0] == "api" else (parts[1], parts[2])
    resource = find_resource(group, version, parts[-1])
    assert resource is not None, path
    return resource, parts[-2] if parts[-3] == "namespaces" else ""


def recorded_lists(
    recording: Recording, path: str
) -> list[tuple[str, int, list[Object]]]:
    """`(moment, revision, items)` of each list of a watched path, in order."""
    return [
        (
            exchange.moment,
            int(exchange.response["metadata"]["resourceVersion"]),
            exchange.response["items"] or [],
        )
        for exchange in recording.exchanges(SCENARIO)
        if exchange.method == "GET"
        and exchange.path.partition("?")[0] == path
        and exchange.status == 200
    ]


def informer_agreement(recording: Recording) -> AgreementTable:
    """The caches of all watched resources in each weather, and what handlers are
    told.
    """
    table = AgreementTable(
        "Informers",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"Our informers were led through {sum(map(len, events.values())):,}"
            " recorded watch events, also with a connection that breaks after each of"
            " them; their caches were held against what the real cluster listed at"
            f" that moment: {table.outcome('rows')}."
        ),
        telling=next(iter(WEATHER)),
    )
    events = recorded_events(recording, SCENARIO)
    for question, weather in WEATHER.items():
        total, lists, objects = Comparison(), 0, 0
        for path in sorted(events):
            listed = recorded_lists(recording, path)
            lists, objects = (
                lists + len(listed),
                objects + sum(len(items) for *_, items in listed),
            )
            total += on_virtual_time(
                _caches(ReplayedServer(events), path, weather, listed)
            )
        count = f"{lists} lists, {objects} objects"
        table.add(SCENARIO, question, count, count, total)
    notified, recorded = Comparison(), sum(map(len, events.values()))
    for path in sorted(events):
        notified += on_virtual_time(_notified(ReplayedServer(events), path))
    table.add(
        SCENARIO,
        "what handlers are told, in order",
        f"{recorded} calls",
        f"{recorded} events",
        notified,
    )
    return table


async def _caches(
    server: ReplayedServer,
    path: str,
    weather: str,
    lists: list[tuple[str, int, list[Object]]],
) -> Comparison:
    informer = _informer(server, path)
    await informer.wait_for_sync()
    total, revisions = Comparison(), [event.revision for event in server.events[path]]
    for moment, revision, items in lists:
        for step in (
            []
            if weather == "calm"
            else [r for r in revisions if server.revision < r < revision]
        ):
            await _step(server, step, weather)
        await _step(server, revision, weather)
        theirs = {
            meta_namespace_key(obj): {**_type(informer.resource), **obj}
            for obj in items
        }
        ours = {meta_namespace_key(obj): obj for obj in informer.indexer}
        total += compare(ours, theirs, path=f"/{path.rpartition('/')[2]} {moment}")
    await informer.stop()
    return total


async def _step(server: ReplayedServer, revision: int, weather: str) -> None:
    if (
        weather == "forget"
    ):  # the watch ends first: the event happens while nobody listens
        server.cut()
    server.advance(revision)
    if weather == "forget":
        server.forget()
    await asyncio.sleep(CALM if weather == "calm" else LONG)
    if weather == "cut":
        server.cut()


async def _notified(server: ReplayedServer, path: str) -> Comparison:
    """Everything a handler hears of an undisturbed watch, beside the recorded
    events.
    """
    informer = _informer(server, path)
    heard: list[Object] = []
    informer.add_event_handler(
        add=lambda obj: heard.append(_note("ADDED", obj)),
        update=lambda old, new: heard.append(_note("MODIFIED", new)),
        delete=lambda obj: heard.append(_note("DELETED", obj)),
    )
    await informer.wait_for_sync()
    for event in server.events[path]:
        server.advance(event.revision)
        await asyncio.sleep(CALM)
    await informer.stop()
    return compare(
        heard, [_note(event.type, event.object) for event in server.events[path]]
    )


def _note(kind: str, obj: Object) -> Object:
    return {
        "type": kind,
        "key": meta_namespace_key(obj),
        "resourceVersion": obj["metadata"]["resourceVersion"],
    }


def _type(row: Resource) -> Object:
    return {"kind": row.kind, "apiVersion": row.api_version}


def _informer(server: ReplayedServer, path: str) -> SharedInformer:
    row, namespace = watched_resource(path)
    return SharedInformerFactory(Client(server, "informer")).informer(
        row, namespace=namespace
    )


def contract_violations(
    calls: Iterable[tuple[str, Object | None, Object | None]],
) -> list[str]:
    """What is wrong with the calls that a handler got, in order, each `(add | update |
    delete, old, new)`.

    Between add and delete there are only updates, each starts from the object the last
    call ended with, and no revision ever goes back.
    """
    wrong, present = [], dict[str, Object]()
    for what, old, new in calls:
        obj = new if new is not None else old
        assert obj is not None
        key = meta_namespace_key(obj)
        known = present.get(key)
        if (what == "add") == (known is not None):
            wrong.append(
                f"{what} of {key}, which was {'there' if known else 'not there'}"
            )
        if what == "update" and old is not known:
            wrong.append(f"update of {key} from something else than the last state")
        if (
            known
            and new
            and int(new["metadata"]["resourceVersion"])
            < int(known["metadata"]["resourceVersion"])
        ):
            wrong.append(f"{key} went back in time")
        if new is None:
            present.pop(key, None)
        else:
            present[key] = new
    return wrong
