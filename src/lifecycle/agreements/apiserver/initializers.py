"""Initializers and what does their job now, held against recorded clusters.

No recorded cluster has initializers; what can be compared is that nobody offers them,
and that their successors answer alike: the resources that configure admission, a policy
that refuses, a webhook that cannot be reached. The initializers themselves are a model,
and `with_initializers` is its stage: an API server of ours to which they were added.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lifecycle.agreements.asked_again import OURS, Asker, Tamper, asked_again
from lifecycle.api.http.wire import MASTERS, Object, UserInfo
from lifecycle.api.resources import Resource, resource
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.client.rest import Client
from lifecycle.cluster.given import PUBLISHED
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.scenarios import compare_exchanges
from lifecycle.etcd.memory import MemoryStore
from lifecycle.historical.apiserver.server_with_initializers import (
    create_server_with_initializers,
)
from lifecycle.historical.controllers.initializer_controller import (
    IncludeUninitialized,
    InitializerController,
    Work,
)
from lifecycle.historical.controllers.initializer_examples import (
    initializer_configuration,
)
from lifecycle.inspector import Recording

GROUP = "admissionregistration.k8s.io"
CONFIGURATIONS = f"/apis/{GROUP}/v1alpha1/initializerconfigurations"
SUCCESSORS = ("ValidatingAdmissionPolicy", "webhook")
ADMIN = UserInfo("root", (MASTERS, "system:authenticated"))
ACCOUNT: Object = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "default"},
}


@dataclass(slots=True)
class Stage:
    """`client` sees what everybody sees, `all_seeing` asks for what is hidden."""

    server: GenericAPIServer
    client: Client
    all_seeing: Client


def with_initializers(
    scene: Callable[[Stage], Awaitable[Any]],
    initializers: Mapping[str, tuple[str, Work | None]],
    *,
    gate: bool = True,
) -> Any:
    """Play a scene on an API server that knows initializers, on virtual time. Works in
    a notebook, too.

    `initializers` maps names to the resource they care about and what they do (None:
    configured, and nobody comes).
    """

    async def main() -> Any:
        create = create_server_with_initializers if gate else create_server_chain
        server = create(MemoryStore())
        await server.start()
        transport = server.in_process_transport(ADMIN)
        stage = Stage(
            server,
            Client(transport, "reader"),
            Client(IncludeUninitialized(transport), "reader"),
        )
        await stage.client.create(resource("serviceaccounts"), ACCOUNT, "default")
        tasks = []
        for name, (plural, work) in initializers.items():
            await stage.client.request(
                "POST",
                CONFIGURATIONS,
                obj=initializer_configuration(name, name, plural),
            )
            if work is not None:
                tasks.append(
                    asyncio.create_task(
                        _controller(stage.client, name, resource(plural), work)
                    )
                )
        await asyncio.sleep(0.1)
        try:
            return await scene(stage)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await server.stop()

    return on_virtual_time(main())


async def _controller(client: Client, name: str, row: Resource, work: Work) -> None:
    await InitializerController(client, name, row, work).run()


def initializers_agreement(
    recording: Recording, tamper: Tamper | None = None
) -> AgreementTable:
    """A row for each resource list of the group, and for each recorded answer of a
    policy or a webhook.
    """
    theirs = [
        exchange
        for exchange in recording.exchanges("discovery")
        if GROUP in exchange.path
    ]

    async def main() -> list[Any]:
        server = create_server_chain(MemoryStore())
        await server.start()
        if tamper is not None:
            tamper(server)
        try:
            return [await Asker(server).ask(exchange) for exchange in theirs]
        finally:
            await server.stop()

    against = f"recording {recording.provenance}"
    table = compare_exchanges(
        "discovery", on_virtual_time(main()), theirs, OURS, against
    )
    table.title, table.opening = "What does the job now", _opening
    for row in table.rows:
        row.given = PUBLISHED
    answers = asked_again(recording, "admission", table.title, tamper)
    answers.rows = [
        row
        for row in answers.rows
        if any(f" {name}" in f" {row.stage}" for name in SUCCESSORS)
    ]
    table.extend(answers)
    return table


def _opening(table: AgreementTable) -> str:
    return (
        "No cluster has initializers any more. Policies and webhooks do their job, and"
        " under them a real API server and ours were sent the same objects:"
        f" {table.outcome('answers')}."
    )


def resources_of(recording: Recording) -> set[str]:
    """The resources that configure admission on a recorded cluster, of all versions of
    the group.
    """
    names: set[str] = set()
    for exchange in recording.exchanges("discovery"):
        if GROUP in exchange.path and isinstance(exchange.response, dict):
            names |= {row["name"] for row in exchange.response.get("resources") or ()}
    return names
