"""The graph of owners: what is learnt from an object, and that it costs what the object has."""

from __future__ import annotations

from typing import Any
from unittest.mock import Mock

import pytest
from tests.fake_api import FakeAPI

from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import run_virtual
from lifecycle.client.rest import Client
from lifecycle.client.shared_informer import SharedInformerFactory
from lifecycle.controllers.garbagecollector.graph_builder import GraphBuilder


class Counted(dict[str, Any]):
    """A reference that counts how often it is looked at."""

    looks = 0

    def __getitem__(self, key: str) -> Any:
        Counted.looks += 1
        return super().__getitem__(key)


def reference(uid: str, name: str = "o") -> Object:
    return Counted(apiVersion="v1", kind="ConfigMap", name=name, uid=uid)


def dependent(name: str, *owners: Object) -> Object:
    meta = {"name": name, "namespace": "ns", "uid": name, "ownerReferences": list(owners)}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta}


def builder() -> GraphBuilder:
    return GraphBuilder(SharedInformerFactory(Client(FakeAPI(), "test/1")), Mock())


@pytest.mark.parametrize("count", [50, 500])
def test_of_many_owners_each_is_looked_at_a_few_times(count: int) -> None:
    async def main() -> None:
        graph = builder()
        owners = [reference(str(number)) for number in range(count)]
        Counted.looks = 0
        for name in ("a", "b"):
            graph._added(dependent(name, *owners))
        assert Counted.looks < 20 * 2 * count
        assert {len(node.dependents) for uid, node in graph.nodes.items() if uid not in "ab"} == {2}

    run_virtual(main())


def test_whoever_names_an_owner_wrongly_even_once_is_looked_at_again() -> None:
    async def main() -> None:
        graph = builder()
        graph._added(dependent("owner"))
        queued: list[str] = []
        graph.attempt_to_delete.add = lambda node: queued.append(node.identity.name)  # type: ignore[method-assign]
        graph._added(dependent("right", reference("owner", "owner")))
        assert queued == []
        graph._added(dependent("wrong", reference("owner", "owner"), reference("owner", "other")))
        assert set(queued) == {"wrong"}

    run_virtual(main())


@pytest.mark.parametrize(
    ("before", "after", "looked_at"),
    [
        (True, None, True),  # it was the one that was waited for, and names the owner no more
        (True, False, True),
        (True, True, False),
        (False, None, False),
        (False, False, False),
        (False, True, False),
    ],
)
def test_an_owner_is_looked_at_again_when_somebody_blocks_it_no_more(
    before: bool, after: bool | None, looked_at: bool
) -> None:
    def blocking(value: bool) -> Object:
        return {**reference("owner", "owner"), "blockOwnerDeletion": value}

    async def main() -> None:
        graph = builder()
        graph._added(dependent("owner"))
        graph._added(dependent("child", blocking(before)))
        node, queued = graph.nodes["child"], []
        graph.attempt_to_delete.add = lambda node: queued.append(node.identity.name)  # type: ignore[method-assign]
        graph._change_owners(node, [] if after is None else [blocking(after)])
        assert queued == ["owner"] * looked_at
        assert (node in graph.nodes["owner"].dependents) == (after is not None)

    run_virtual(main())
