"""What a node may see is looked up in what is kept of its pods, and nothing is kept of what is not there."""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.apiserver.authz.node_graph import NodeGraph
from lifecycle.apiserver.storage.object_reader import StaticReader


def pod(name: str, secret: str, node: str = "n1") -> Object:
    volumes = [{"name": "v", "secret": {"secretName": secret}}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "uid": name},
        "spec": {"nodeName": node, "volumes": volumes, "containers": []},
    }


class Emptied(StaticReader):
    """A namespace whose pods go."""

    gone = False

    def list(self, resource, namespace=""):  # type: ignore[no-untyped-def]
        return [] if self.gone else super().list(resource, namespace)

    def get(self, resource, namespace, name):  # type: ignore[no-untyped-def]
        return None if self.gone else super().get(resource, namespace, name)


def kept(graph: NodeGraph) -> int:
    return len(graph._witnesses) + len(graph._scanned) + len(graph._seen) + len(graph._lost)


def test_namespaces_that_a_node_makes_up_are_not_kept() -> None:
    graph = NodeGraph(StaticReader())
    for number in range(50):
        assert not graph.has_path("n1", "secret", f"made-up-{number}", "s")
    assert kept(graph) == 0


def test_a_namespace_whose_pods_have_gone_is_forgotten() -> None:
    reader = Emptied([pod("p", "s")])
    graph = NodeGraph(reader)
    assert graph.has_path("n1", "secret", "shop", "s")
    assert not graph.has_path("n2", "secret", "shop", "s")
    assert kept(graph) > 0
    reader.gone = True
    assert not graph.has_path("n1", "secret", "shop", "s")
    assert kept(graph) == 0


def test_a_missing_witness_is_looked_for_once_for_each_state_of_the_pods() -> None:
    reader = StaticReader([pod("p", "s")])
    graph = NodeGraph(reader)
    asked = []
    scan = graph._scan
    graph._scan = lambda namespace: (asked.append(namespace), scan(namespace))  # type: ignore[method-assign, assignment, return-value, func-returns-value]
    for _ in range(3):
        assert not graph.has_path("n1", "secret", "shop", "other")
    assert asked == ["shop"]
