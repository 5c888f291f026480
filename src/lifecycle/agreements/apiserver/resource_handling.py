"""Resource handling held against a recorded cluster: the *storage* scenario, request by
request.

Creates, updates, every kind of patch, deletes, pages, selectors, tables, watches, and
the refusals of each, put to an API server of ours. `stage_of_create` is one create
taken apart: which stage of ours ran when.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any, TypeVar

from lifecycle.agreements.asked_again import Tamper
from lifecycle.api.http.wire import MASTERS, Object, UserInfo
from lifecycle.api.tracing import Span, listening
from lifecycle.api.version import user_agent
from lifecycle.apiserver.admission.options import AdmissionOptions
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.cluster import like
from lifecycle.cluster.given import mark_given
from lifecycle.cluster.past_events import past_events
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable, compare_cluster
from lifecycle.etcd.memory import MemoryStore
from lifecycle.etcd.store import Store
from lifecycle.inspector import Recording

ADMIN = UserInfo("root", (MASTERS, "system:authenticated"))
T = TypeVar("T")


def resource_handling_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each recorded request of the scenario."""

    async def main() -> AgreementTable:
        server, likeness = create_server_chain(MemoryStore()), like.read(recording.path)
        past = past_events(recording.exchanges("storage"))
        await server.start(
            lambda store: like.plant(
                store, replace(likeness, objects=[*likeness.objects, *past])
            )
        )
        try:
            if tamper is not None:
                tamper(server)
            return await compare_cluster(HandlerTarget(server), recording, "storage")
        finally:
            await server.stop()

    table = on_virtual_time(main())
    mark_given(table, recording, recording.exchanges("storage"))
    table.title, table.opening = "Resource handling", _opening
    return table


def _opening(table: AgreementTable) -> str:
    refused = sum(row.cluster[:1] in ("4", "5") for row in table.computed)
    return (
        f"{len(table.computed)} requests – creates, patches, pages, watches – sent one"
        f" after the other to a real API server and to ours; the real one refused"
        f" {refused}: {table.outcome('answers')}."
    )


def on_a_server(
    scene: Callable[[GenericAPIServer, Client], Awaitable[T]],
    store: Store | None = None,
    **options: Any,
) -> T:
    """Play a scene with a fresh API server and an administrator's client, on virtual
    time. Works in a notebook, too.
    """

    async def main() -> T:
        server = create_server_chain(
            store or MemoryStore(), admission=AdmissionOptions(), **options
        )
        await server.start()
        try:
            return await scene(
                server,
                Client(server.in_process_transport(ADMIN), user_agent("kubectl")),
            )
        finally:
            await server.stop()

    return on_virtual_time(main())


def stages_of(
    scene: Callable[[GenericAPIServer, Client], Awaitable[Any]],
    store: Store | None = None,
) -> list[Span]:
    """The spans of the server's work while a scene plays, by when they began."""
    spans: list[Span] = []

    async def heard(server: GenericAPIServer, client: Client) -> None:
        with listening(spans.append):
            await scene(server, client)

    on_a_server(heard, store)
    return sorted(spans, key=lambda each: each.start)


def definition(group: str, kind: str, schema: Object, **version: Any) -> Object:
    """A CustomResourceDefinition with one version, `v1`, whose `spec` follows a
    schema.
    """
    plural = f"{kind.lower()}s"
    root = {"type": "object", "properties": {"spec": schema}}
    one = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": root},
        **version,
    }
    names = {"plural": plural, "singular": kind.lower(), "kind": kind}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": names,
            "versions": [one],
        },
    }
