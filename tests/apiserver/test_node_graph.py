"""What a node may see is looked up among its own pods, however many others there are."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource
from lifecycle.apiserver.authz.node_graph import MIRROR_POD, NodeGraph
from lifecycle.apiserver.storage.object_reader import StaticReader


def pod(name: str, secret: str, node: str = "n1", namespace: str = "shop") -> Object:
    volumes = [{"name": "v", "secret": {"secretName": secret}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace, "uid": name},
        "spec": {"nodeName": node, "volumes": volumes, "containers": []},
    }


class Watched(StaticReader):
    """Notes what is looked at."""

    def __init__(self, objects: Iterable[Object] = ()) -> None:
        super().__init__(objects)
        self.listed: list[str] = []
        self.nodes: list[str] = []

    def list(self, resource: Resource, namespace: str = "") -> list[Object]:
        self.listed.append(resource.plural)
        return [*super().list(resource, namespace)]

    def pods_on(self, node: str) -> Iterable[Object]:
        self.nodes.append(node)
        return super().pods_on(node)


def test_a_node_sees_what_its_own_pods_need_and_nothing_else() -> None:
    graph = NodeGraph(StaticReader([pod("p", "s"), pod("q", "t", "n2"), pod("r", "s", "n3", "bank")]))
    assert graph.has_path("n1", "secret", "shop", "s")
    assert not graph.has_path("n1", "secret", "shop", "t")
    assert not graph.has_path("n1", "secret", "bank", "s")
    assert not graph.has_path("n1", "configmap", "shop", "s")
    assert not graph.has_path("n2", "secret", "shop", "s")


def test_what_a_pod_needed_is_not_seen_once_it_has_gone_or_needs_something_else() -> None:
    reader = StaticReader([pod("p", "s")])
    graph = NodeGraph(reader)
    assert graph.has_path("n1", "secret", "shop", "s")
    reader.put(pod("p", "t"))
    assert not graph.has_path("n1", "secret", "shop", "s")
    assert graph.has_path("n1", "secret", "shop", "t")
    reader.put(pod("p", "t", "n2"))
    assert not graph.has_path("n1", "secret", "shop", "t")


def test_a_mirror_pod_which_its_node_wrote_itself_grants_nothing() -> None:
    mirror = pod("p", "s")
    mirror["metadata"]["annotations"] = {MIRROR_POD: "1"}
    assert not NodeGraph(StaticReader([mirror])).has_path("n1", "secret", "shop", "s")


@pytest.mark.parametrize("wanted", ["s", "made-up"])
def test_the_pods_of_other_nodes_are_not_looked_at(wanted: str) -> None:
    reader = Watched([pod("p", "s")] + [pod(f"p{n}", "s", f"m{n}") for n in range(20)])
    graph = NodeGraph(reader)
    assert graph.has_path("n1", "secret", "shop", wanted) is (wanted == "s")
    assert set(reader.nodes) == {"n1"}
    assert resource("pods").plural not in reader.listed
