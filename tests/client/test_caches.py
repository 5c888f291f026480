"""Store, indexer, queue and lister: what is kept, and how it is found."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.api.labels import parse_selector
from lifecycle.client.indexer import NAMESPACE_INDEX, Indexer
from lifecycle.client.listers import Lister
from lifecycle.client.real_fifo import ADDED, DELETED, REPLACED, UPDATED, RealFIFO
from lifecycle.client.store import Store, meta_namespace_key, split_meta_namespace_key


def obj(name: str, namespace: str = "ns", *, node: str = "", version: int = 1, **labels: str) -> Object:
    meta = {"name": name, "namespace": namespace, "resourceVersion": str(version), "labels": labels}
    return {"metadata": meta, "spec": {"nodeName": node}}


def by_node(pod: Object) -> tuple[str, ...]:
    return (pod["spec"]["nodeName"],) if pod["spec"]["nodeName"] else ()


def test_keys() -> None:
    assert meta_namespace_key(obj("a")) == "ns/a"
    assert meta_namespace_key({"metadata": {"name": "node"}}) == "node"
    assert split_meta_namespace_key("ns/a") == ("ns", "a")
    assert split_meta_namespace_key("node") == ("", "node")


def test_objects_are_shared_not_copied() -> None:
    store = Store()
    a = obj("a")
    store.set("ns/a", a)
    assert store.get_by_key("ns/a") is a
    store.replace([obj("b")])
    assert store.keys() == ["ns/b"]


def test_a_store_is_asked_for_a_key_with_in() -> None:
    store = Store()
    store.set("ns/a", obj("a"))
    assert "ns/a" in store
    assert "a" not in store
    store.remove("ns/a")
    assert "ns/a" not in store


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.sampled_from(["", "n1", "n2"]), st.booleans()), max_size=50))
def test_an_index_always_agrees_with_a_scan(changes: list[tuple[str, str, bool]]) -> None:
    indexer = Indexer({"node": by_node})
    for name, node, delete in changes:
        if delete:
            indexer.remove(f"ns/{name}")
        else:
            indexer.set(f"ns/{name}", obj(name, node=node))
        for value in ("n1", "n2"):
            scan = [o["metadata"]["name"] for o in indexer if by_node(o) == (value,)]
            assert sorted(o["metadata"]["name"] for o in indexer.by_index("node", value)) == sorted(scan)
    assert sorted(indexer.index_values("node")) == sorted({o["spec"]["nodeName"] for o in indexer} - {""})


def test_an_index_added_late_files_what_is_there() -> None:
    indexer = Indexer()
    indexer.set("ns/a", obj("a", node="n1"))
    indexer.add_indexers({"node": by_node})
    assert indexer.index_keys("node", "n1") == ["ns/a"]
    assert indexer.by_index(NAMESPACE_INDEX, "other") == []


def test_lister() -> None:
    indexer = Indexer()
    for name, namespace, app in (("a", "x", "web"), ("b", "x", "db"), ("c", "y", "web")):
        indexer.set(f"{namespace}/{name}", obj(name, namespace, app=app))
    lister = Lister(indexer)
    assert lister.get("a", "x") is indexer.get_by_key("x/a")
    assert lister.get("a", "y") is None
    assert [o["metadata"]["name"] for o in lister.list("x")] == ["a", "b"]
    assert [o["metadata"]["name"] for o in lister.list(selector=parse_selector("app=web"))] == ["a", "c"]


def test_a_relist_is_the_difference_it_makes() -> None:
    known = Store()
    pending: list[None] = []
    fifo = RealFIFO(known, lambda: pending.append(None))
    fifo.replace([obj("a"), obj("b")])
    assert not fifo.has_synced
    while len(fifo):
        assert not fifo.has_synced
        delta = fifo.pop()
        known.set(delta.key, delta.object)
    assert fifo.has_synced
    fifo.update(obj("a", version=2))
    fifo.add(obj("c"))
    fifo.delete(obj("b"))
    fifo.replace([obj("a", version=3)])  # c was never seen by the store, but it is queued: its end must be too
    kinds = [(delta.type, delta.key) for delta in (fifo.pop() for _ in range(len(fifo)))]
    assert kinds == [(UPDATED, "ns/a"), (ADDED, "ns/c"), (DELETED, "ns/b"), (DELETED, "ns/c"), (REPLACED, "ns/a")]
    assert len(pending) == 2


def test_an_empty_first_list_is_synced_at_once() -> None:
    fifo = RealFIFO(Store(), lambda: None)
    assert not fifo.has_synced
    fifo.replace([])
    assert fifo.has_synced
