"""What a definition was before it changed is gone when nobody reads it any more, at once: a server's own garbage collector hardly ever
looks (`lifecycle.cluster.background.favour_throughput`), so nothing may wait for it.
"""

from __future__ import annotations

import asyncio
import gc
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from lifecycle.agreements.apiserver.resource_handling import definition
from lifecycle.api.custom_resources import resource_of
from lifecycle.api.resources import Resource, resource
from lifecycle.api.schema.nodes import Schema
from lifecycle.apiserver.apiextensions.strategy import CustomResourceRules
from lifecycle.apiserver.managedfields.typed import Type
from lifecycle.apiserver.storage.cacher.cache_watcher import CacheWatcher
from lifecycle.apiserver.storage.cacher.cached_object import Cached
from lifecycle.apiserver.storage.cacher.cacher import Cacher
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformer
from lifecycle.cluster.rehearsal import RehearsedCluster, rehearse

DEFINITIONS = resource("customresourcedefinitions.apiextensions.k8s.io")
KINDS = (Cacher, CacheWatcher, CustomResourceRules, Schema, SharedInformer, Type)


@pytest.fixture(autouse=True)
def without_a_garbage_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def _held() -> list[Any]:
    """All that a changed definition could leave behind, with what other tests of this process hold."""
    return [
        each
        for each in gc.get_objects()
        if type(each) in KINDS or (type(each) is Cached and "/book.example.com/" in each.key)
    ]


def counted(held_by_others: list[Any]) -> Counter[str]:
    others = set(map(id, held_by_others))
    return Counter(type(each).__name__ for each in _held() if id(each) not in others)


async def _change(client: Client, row: Resource, short_name: str) -> None:
    change = {"spec": {"names": {"shortNames": [short_name]}}}
    await client.patch(DEFINITIONS, f"{row.plural}.{row.group}", "", change)
    await asyncio.sleep(90)  # who watches comes back after a pause
    assert len((await client.list(row))["items"]) == 5


async def scene(cluster: RehearsedCluster, by_others: list[Any]) -> list[Counter[str]]:
    client = cluster.client("kubectl")
    made = definition("book.example.com", "Bell", {"type": "object"})
    row = resource_of(made, made["spec"]["versions"][0])
    await client.create(DEFINITIONS, made)
    await asyncio.sleep(5)
    for number in range(5):
        bell = {"apiVersion": row.api_version, "kind": "Bell", "metadata": {"name": f"b{number}"}}
        await client.create(row, bell, "default")
    await _change(client, row, "first")
    before = counted(by_others)
    for number in range(10):
        await _change(client, row, f"s{number}")
    return [before, counted(by_others)]


def test_of_ten_changes_only_the_last_is_there() -> None:
    by_others = _held()
    before, after = rehearse(lambda cluster: scene(cluster, by_others), nodes=1)
    assert before["CustomResourceRules"] == 1
    assert before["Cached"] == 5
    assert after == before
