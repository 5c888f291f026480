"""Whole recorded scenarios, put to the embedded server and compared as two recordings are compared.

The server starts out as the recorded cluster did (`lifecycle.cluster.like`), and time is virtual. What does not agree is listed
below, question by question, with its reason; the lists are exact, so a disagreement can neither appear nor vanish unnoticed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.apiserver.server.create_server_chain import create_server_chain
from lifecycle.apiserver.server.generic_api_server import GenericAPIServer
from lifecycle.cluster import like
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.past_events import past_events
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare.agreement import AgreementTable
from lifecycle.compare.replay import compare_cluster
from lifecycle.etcd.memory import MemoryStore
from lifecycle.inspector import Recording
from tests.conftest import RECORDINGS

KIND = RECORDINGS / "kind-1.36.2"

ANSWERS = {"storage": 75, "discovery": 36, "objects": 23, "corpus": 90, "authn": 9, "admission": 47}
"""How many questions of the admin each scenario asks."""


class Paced:
    """A target that is asked as quickly as people ask, so that controllers get a word in between two questions."""

    def __init__(self, server: GenericAPIServer) -> None:
        self._target = HandlerTarget(server)

    async def request(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        await asyncio.sleep(0.25)
        return await self._target.request(method, path, headers, body)


async def on_server(scenario: str) -> AgreementTable:
    """The API server alone."""
    server = create_server_chain(MemoryStore())
    likeness = like.read(KIND)
    past = past_events(Recording(KIND).exchanges(scenario))
    await server.start(lambda store: like.plant(store, replace(likeness, objects=[*likeness.objects, *past])))
    try:
        return await compare_cluster(HandlerTarget(server), Recording(KIND), scenario)
    finally:
        await server.stop()


async def on_cluster(scenario: str) -> AgreementTable:
    """With controllers: a new namespace gets its service account, a quota its status."""
    cluster = Cluster(ClusterConfig(like=KIND, https=False))
    try:
        await cluster.start()
        return await compare_cluster(Paced(cluster.server), Recording(KIND), scenario)
    finally:
        await cluster.stop()


def check(scenario: str, run: Callable[[str], Coroutine[Any, Any, AgreementTable]]) -> None:
    table = run_virtual(run(scenario))
    found: dict[str, list[str]] = {}
    for row in table.rows:
        for difference in row.unexplained:
            found.setdefault(f"{row.stage} {row.input}", []).append(str(difference))
    assert found == {}
    assert len(table.rows) == ANSWERS[scenario]


@pytest.mark.parametrize("scenario", ["storage", "discovery", "objects", "corpus", "authn"])
def test_the_server_answers_as_recorded(scenario: str) -> None:
    check(scenario, on_server)


def test_admission_decides_as_recorded() -> None:
    check("admission", on_cluster)


def test_nothing_of_storage_is_left_to_be_excused() -> None:
    table = run_virtual(on_server("storage"))
    assert [str(difference) for row in table.rows for difference in row.comparison.differences] == []
