"""What the scheduler keeps, against a simple model: the heap, the nodes by zone, the cache and its pictures."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifecycle.api.http.wire import Object
from lifecycle.scheduler.backend.cache.cache import Cache
from lifecycle.scheduler.backend.cache.node_tree import NodeTree, zone_key
from lifecycle.scheduler.backend.cache.snapshot import Snapshot
from lifecycle.scheduler.backend.heap import Heap
from lifecycle.scheduler.backend.queue.nominator import Nominator
from lifecycle.scheduler.framework.node_info import NodeInfo, PodInfo
from lifecycle.scheduler.framework.runtime.options import Options
from lifecycle.scheduler.framework.types import QueuedPodInfo
from tests.scheduler.cluster_model import make_node, make_pod

ANTI = {
    "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": "h", "labelSelector": {}}]}
}
SOFT = {
    "podAffinity": {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 1, "podAffinityTerm": {"topologyKey": "h", "labelSelector": {}}}
        ]
    }
}


def queued(name: str, priority: int) -> QueuedPodInfo:
    return QueuedPodInfo(PodInfo(make_pod(name, priority=priority)), 0.0)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["push", "push", "remove", "pop", "peek"]), st.sampled_from("abcde"), st.integers(0, 2)
        )
    )
)
def test_a_heap_gives_the_first_and_among_equals_who_came_first(steps: list[tuple[str, str, int]]) -> None:
    heap = Heap(lambda one, other: one.info.priority > other.info.priority)
    model: dict[str, tuple[int, int]] = {}
    for turn, (what, name, priority) in enumerate(steps):
        key = f"default/{name}"
        first = min(model, key=model.__getitem__, default=None)
        if what == "push":
            heap.push(queued(name, priority))
            model[key] = (-priority, turn)
        elif what == "remove":
            removed = heap.remove(key)
            assert (removed and removed.key) == (key if model.pop(key, None) else None)
        else:
            found = heap.pop() if what == "pop" else heap.peek()
            assert (found and found.key) == first
            if what == "pop" and first:
                del model[first]
        assert (len(heap), {pod.key for pod in heap}) == (len(model), set(model))
        for other in "abcde":
            kept = heap.get(f"default/{other}")
            assert (f"default/{other}" in heap) == (kept is not None) == (f"default/{other}" in model)
            assert kept is None or -kept.info.priority == model[kept.key][0]


@pytest.mark.parametrize(
    ("labels", "key"),
    [
        ({}, ""), ({"topology.kubernetes.io/zone": "z"}, ":\x00:z"), ({"topology.kubernetes.io/region": "r"}, "r:\x00:"),
        ({"topology.kubernetes.io/region": "r", "topology.kubernetes.io/zone": "z"}, "r:\x00:z"),
    ],
)  # fmt: skip
def test_a_zone_lies_in_its_region(labels: dict[str, str], key: str) -> None:
    assert zone_key(labels) == key


@pytest.mark.parametrize(
    ("nodes", "listed"),
    [
        ([], []), (["a1"], ["a1"]), (["a1", "a2", "a3"], ["a1", "a2", "a3"]), (["a1", "a2", "b1"], ["a1", "b1", "a2"]),
        (["a1", "a2", "a3", "b1", "c1", "c2"], ["a1", "b1", "c1", "a2", "c2", "a3"]), (["b1", "a1", "a1"], ["b1", "a1"]),
    ],
)  # fmt: skip
def test_nodes_come_one_from_each_zone_in_turn(nodes: list[str], listed: list[str]) -> None:
    tree = NodeTree()
    for name in nodes:
        tree.add_node(name, name[0])
    assert tree.list() == listed
    tree.add_node("z1", "z")
    for zone in ("z", "z", "y"):
        tree.remove_node("z1", zone)
    assert tree.list() == listed
    for name in nodes:
        tree.remove_node(name, name[0])
    assert (tree.list(), tree._zones) == ([], {})


step = st.one_of(
    st.tuples(st.sampled_from(["add node", "change node", "remove node"]), st.sampled_from("xyz"), st.sampled_from(["", "1", "2"])),
    st.tuples(
        st.sampled_from(["assume", "add", "add", "label", "forget", "remove", "picture"]), st.sampled_from("abcd"),
        st.sampled_from("xyz"),
    ),
)  # fmt: skip


class Model:
    """What nodes and pods there are, and nothing else."""

    def __init__(self) -> None:
        self.nodes: dict[str, Object] = {}
        self.pods: dict[str, tuple[str, Object]] = {}
        self.assumed: set[str] = set()

    def seen(self) -> dict[str, Any]:
        return {
            name: (
                node["metadata"]["labels"].get("topology.kubernetes.io/zone", ""),
                {key: pod["metadata"]["labels"] for key, (where, pod) in self.pods.items() if where == name},
            )
            for name, node in self.nodes.items()
        }


def made(name: str, node: str, **labels: str) -> Object:
    affinity = {"c": ANTI, "d": SOFT}.get(name)
    more = {"affinity": affinity} if affinity else {}
    return make_pod(name, labels=labels, requests={"cpu": "100m"}, nodeName=node, **more)


@given(st.lists(step, max_size=40))
@settings(max_examples=150)
def test_a_picture_is_what_the_cluster_is_believed_to_be(steps: list[tuple[str, str, str]]) -> None:
    cache, snapshot, model = Cache(), Snapshot(), Model()
    for turn, (what, name, more) in enumerate(steps):
        key = f"default/{name}"
        match what:
            case "add node" | "change node":
                node = make_node(name, labels={"topology.kubernetes.io/zone": more} if more else {})
                node["status"]["images"] = [{"names": [f"i{more}:1"], "sizeBytes": 1}]
                cache.add_node(node)
                model.nodes[name] = node
            case "remove node":
                cache.remove_node(make_node(name))
                model.nodes.pop(name, None)
            case "assume":
                pod = made(name, more)
                if key in model.pods:
                    with pytest.raises(KeyError, match=key):
                        cache.assume_pod(PodInfo(pod))
                else:
                    cache.assume_pod(PodInfo(pod))
                    model.pods[key] = (more, pod)
                    model.assumed.add(key)
            case "add" | "label":
                pod = made(name, more, **({"turn": str(turn)} if what == "label" else {}))
                (cache.add_pod if what == "add" else cache.update_pod)(pod)
                model.pods[key] = (more, pod)
                model.assumed.discard(key)
            case "forget":
                cache.forget_pod(key)
                if key in model.assumed:
                    del model.pods[key]
                    model.assumed.discard(key)
            case "remove":
                cache.remove_pod(made(name, more))
                model.pods.pop(key, None)
                model.assumed.discard(key)
            case _:
                cache.update_snapshot(snapshot)
                _compare(snapshot, model)
        assert all((f"default/{pod}" in cache) == (f"default/{pod}" in model.pods) for pod in "abcd")
    cache.update_snapshot(snapshot)
    _compare(snapshot, model)
    before = copy.copy(snapshot.node_info_list)
    cache.update_snapshot(snapshot)  # nothing happened since: nothing is copied
    assert all(one is other for one, other in zip(before, snapshot.node_info_list, strict=True))


def _compare(snapshot: Snapshot, model: Model) -> None:
    assert len(snapshot) == len(model.nodes)
    assert set(snapshot.node_info_map) == set(model.nodes)
    found = {
        info.name: (
            info.labels.get("topology.kubernetes.io/zone", ""),
            {key: pod.pod["metadata"]["labels"] for key, pod in info.pods.items()},
        )
        for info in snapshot.node_info_list
    }
    assert found == model.seen()
    for place, info in enumerate(snapshot.node_info_list):
        assert snapshot.position[info.name] == place
        assert snapshot.get(info.name) is info
        assert info.requested.milli_cpu == 100 * len(info.pods)
    assert snapshot.get("nowhere") is None
    with_anti = {where for key, (where, _) in model.pods.items() if key == "default/c" and where in model.nodes}
    with_any = with_anti | {
        where for key, (where, _) in model.pods.items() if key == "default/d" and where in model.nodes
    }
    assert set(snapshot.have_pods_with_required_anti_affinity) == with_anti
    assert set(snapshot.have_pods_with_affinity) == with_any
    images: dict[str, int] = {}
    for node in model.nodes.values():
        for image in node["status"]["images"]:
            images[image["names"][0]] = images.get(image["names"][0], 0) + 1
    assert snapshot.image_nodes == images


def test_an_image_that_arrives_changes_the_spread_and_not_the_layout() -> None:
    cache, snapshot = Cache(), Snapshot()
    node = make_node("a")
    cache.add_node(node)
    cache.update_snapshot(snapshot)
    layout = snapshot.layout
    held = snapshot.image_nodes
    cache.add_node({**node, "status": {**node["status"], "images": [{"names": ["nginx:1"], "sizeBytes": 5}]}})
    assert snapshot.image_nodes == {}, "a cycle that is under way sees what it saw"
    cache.update_snapshot(snapshot)
    assert (held, snapshot.image_nodes, snapshot.layout) == ({}, {"nginx:1": 1}, layout)
    cache.add_pod({**make_pod("p"), "spec": {**make_pod("p")["spec"], "nodeName": "a"}})
    cache.remove_node(node)
    cache.update_snapshot(snapshot)
    assert snapshot.image_nodes == {}
    cache.add_node({**node, "status": {**node["status"], "images": [{"names": ["nginx:1"], "sizeBytes": 5}]}})
    cache.update_snapshot(snapshot)
    assert snapshot.image_nodes == {"nginx:1": 1}, "a node whose pods outlived it counts again"


def test_only_what_changed_is_copied_and_the_log_says_where() -> None:
    cache, snapshot = Cache(), Snapshot()
    assert (snapshot.generation, snapshot.layout, snapshot.changes.since(0)) == (0, 0, [])
    for name in "xyz":
        cache.add_node(make_node(name))
    cache.update_snapshot(snapshot)
    assert (snapshot.layout, snapshot.changes.since(0)) == (1, [])
    first = list(snapshot.node_info_list)
    cache.add_pod(made("a", "y"))
    assert first[1].pods == {}  # a picture does not change under one's hands
    cache.update_snapshot(snapshot)
    assert (snapshot.layout, snapshot.changes.since(0)) == (1, [1])
    assert [one is other for one, other in zip(first, snapshot.node_info_list, strict=True)] == [True, False, True]
    pod = {**made("a", "y"), "status": {"phase": "Running"}}
    cache.update_pod(pod)  # nothing that the scheduler looks at
    cache.update_snapshot(snapshot)
    assert snapshot.changes.since(0) == [1]
    cache.add_node(make_node("y", cpu="8"))
    cache.update_snapshot(snapshot)
    assert (snapshot.layout, snapshot.changes.since(0)) == (1, [1])
    layout = snapshot.layout
    cache.add_node(make_node("y", labels={"topology.kubernetes.io/zone": "a"}))
    cache.update_snapshot(snapshot)
    assert (snapshot.layout, snapshot.changes.since(0)) == (layout + 1, [])
    cache.remove_node(make_node("x"))
    cache.remove_node(make_node("x"))
    cache.update_snapshot(snapshot)
    assert [info.name for info in snapshot.node_info_list] == ["z", "y"]


def test_a_node_that_stays_in_its_zone_stays_in_its_place() -> None:
    cache, snapshot = Cache(), Snapshot()
    zoned = make_node("n", labels={"topology.kubernetes.io/zone": "a", "topology.kubernetes.io/region": "r"})
    cache.add_node(zoned)
    cache.update_snapshot(snapshot)
    before = snapshot.layout
    cache.add_node({**zoned, "spec": {"taints": []}})
    cache.update_snapshot(snapshot)
    assert snapshot.layout == before
    cache.add_node(make_node("n", labels={"topology.kubernetes.io/zone": "b"}))
    cache.update_snapshot(snapshot)
    assert snapshot.layout == before + 1


def test_a_pod_may_be_seen_before_its_node_and_stay_after_it() -> None:
    cache, snapshot = Cache(), Snapshot()
    cache.add_pod(made("a", "late"))
    cache.update_snapshot(snapshot)
    assert len(snapshot) == 0
    cache.add_node(make_node("late"))
    cache.update_snapshot(snapshot)
    assert list(snapshot.node_info_list[0].pods) == ["default/a"]
    cache.remove_node(make_node("late"))
    assert "late" in cache.nodes
    cache.remove_pod(made("a", "late"))
    assert cache.nodes == {}
    cache.update_snapshot(snapshot)
    assert len(snapshot) == 0


def test_who_keeps_which_node_is_known_from_both_sides() -> None:
    nominator = Nominator()
    assert not nominator
    one, other = PodInfo(make_pod("a")), PodInfo(make_pod("b"))
    nominator.add_nominated_pod(one, "x")
    nominator.add_nominated_pod(other, "x")
    assert nominator
    assert nominator.nominated_pods_for_node("x") == [one, other]
    nominator.add_nominated_pod(one, "y")
    assert (nominator.nominated_node_of(one.key), nominator.nominated_node_of("default/c")) == ("y", "")
    assert [nominator.nominated_pods_for_node(node) for node in "xyz"] == [[other], [one], []]
    for _ in range(2):
        nominator.delete_nominated_pod_if_exists(one.key)
        nominator.delete_nominated_pod_if_exists(other.key)
    assert not nominator
    assert nominator._by_node == {}


def test_a_node_of_which_nothing_is_known_has_a_name() -> None:
    info = NodeInfo(name="n")
    assert (info.name, info.node, info.labels, dict(info.pods)) == ("n", None, {}, {})


@pytest.mark.parametrize("affinity", [ANTI, SOFT, {}])
def test_terms_are_read_again_only_if_they_have_changed(affinity: Object) -> None:
    old, other = make_pod("a", affinity=affinity), make_pod("a", affinity={**ANTI, **SOFT, "nodeAffinity": {}})
    before = PodInfo(old)
    same, changed = PodInfo({**copy.deepcopy(old), "status": {"phase": "Running"}}, before), PodInfo(other, before)
    for kind in ("required_affinity", "preferred_affinity", "required_anti_affinity", "preferred_anti_affinity"):
        assert getattr(same, f"{kind}_terms") is getattr(before, f"{kind}_terms")
    assert (len(changed.preferred_affinity_terms), len(changed.required_anti_affinity_terms)) == (1, 1)
    assert same.has_affinity == (affinity != {})


def test_where_there_is_no_cluster_no_node_is_kept_for_anybody() -> None:
    nominator = Options().nominator
    assert nominator.nominated_node_of("default/p") == ""
    assert nominator.nominated_pods_for_node("n") == []
    assert list(nominator.nodes) == []
    assert not nominator
