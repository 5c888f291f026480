"""How the machines of a cluster look before they join, and when they have joined."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.loop.clock import run_virtual
from lifecycle.api.resources import resource
from lifecycle.client.rest import Client
from lifecycle.cluster.node_readiness import NodesReady, is_ready
from lifecycle.cluster.nodes import NodeShape, kind_nodes, pod_network, with_pod_cidrs
from lifecycle.kubelet.nodestatus.machine_info import PAPER_CAPACITY
from tests.fake_api import FakeAPI

CONTROL_PLANE = {
    "node-role.kubernetes.io/control-plane": "",
    "node.kubernetes.io/exclude-from-external-load-balancers": "",
}


def test_the_control_plane_has_the_last_address_and_the_workers_those_before() -> None:
    assert [(node.name, node.address) for node in kind_nodes(4, "blue")] == [
        ("blue-control-plane", "172.19.0.5"),
        ("blue-worker", "172.19.0.2"),
        ("blue-worker2", "172.19.0.3"),
        ("blue-worker3", "172.19.0.4"),
    ]


def test_only_the_control_plane_is_labelled_and_tainted() -> None:
    control_plane, *workers = kind_nodes(3)
    assert dict(control_plane.labels) == CONTROL_PLANE
    assert control_plane.taints == ({"key": "node-role.kubernetes.io/control-plane", "effect": "NoSchedule"},)
    assert [(dict(worker.labels), worker.taints) for worker in workers] == [({}, ()), ({}, ())]


def test_a_single_machine_is_a_control_plane_without_a_taint() -> None:
    (only,) = kind_nodes(1)
    assert (only.name, only.address, dict(only.labels), only.taints) == (
        "lifecycle-control-plane",
        "172.19.0.2",
        CONTROL_PLANE,
        (),
    )


@pytest.mark.parametrize("count", [0, -1])
def test_there_is_one_machine_at_least(count: int) -> None:
    with pytest.raises(ValueError, match=r"^a cluster needs at least one node$"):
        kind_nodes(count)


@pytest.mark.parametrize(
    ("nodes", "network"), [(1, "10.244.0.0/16"), (256, "10.244.0.0/16"), (257, "10.128.0.0/9"), (32768, "10.128.0.0/9")]
)
def test_the_pod_network_has_a_piece_for_each_machine(nodes: int, network: str) -> None:
    assert pod_network(nodes) == network


def test_pieces_are_handed_out_in_order_around_those_that_are_taken() -> None:
    shapes = [NodeShape("a", "", pod_cidr="10.244.1.0/24"), *(NodeShape(name, "") for name in "bcd")]
    given = with_pod_cidrs(shapes)
    assert [shape.pod_cidr for shape in given] == ["10.244.1.0/24", "10.244.0.0/24", "10.244.2.0/24", "10.244.3.0/24"]
    assert [shape.name for shape in given] == ["a", "b", "c", "d"]
    assert shapes[1].pod_cidr == "", "the shapes that were given are left as they are"


def test_a_machine_is_made_of_paper_unless_it_says_otherwise() -> None:
    shape = NodeShape("a", "10.0.0.1")
    assert shape.capacity == PAPER_CAPACITY
    assert (dict(shape.labels), shape.taints, shape.pod_cidr, dict(shape.machine_info), shape.images) == (
        {},
        (),
        "",
        {},
        (),
    )


NOT_READY = {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}
OTHER = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}


def node(name: str = "n", status: str | None = "True", *taints: Any, kind: str = "Ready") -> dict[str, Any]:
    conditions = [
        {"type": "MemoryPressure", "status": "False"},
        *([{"type": kind, "status": status}] if status else []),
    ]
    return {"metadata": {"name": name}, "spec": {"taints": list(taints)}, "status": {"conditions": conditions}}


@pytest.mark.parametrize(
    ("seen", "managed", "ready"),
    [
        (node(), True, True),
        (node("n", "True", OTHER), True, True),
        (node("n", "True", OTHER, NOT_READY), True, False),
        (node("n", "True", NOT_READY), False, True),
        (node("n", "False"), True, False),
        (node("n", "Unknown"), False, False),
        (node("n", None), True, False),
        (node(kind="DiskPressure"), True, False),
        ({"metadata": {"name": "n"}}, True, False),
        ({"metadata": {"name": "n"}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}, True, True),
    ],
)
def test_a_node_is_ready_when_it_says_so_and_whoever_manages_it_agrees(seen: Any, managed: bool, ready: bool) -> None:
    assert is_ready(seen, managed=managed) is ready


def test_a_controller_is_thought_to_manage_it() -> None:
    assert not is_ready(node("n", "True", NOT_READY))


def waited(*frames: dict[str, Any], shapes: list[NodeShape], managed: bool = True) -> tuple[NodesReady, FakeAPI]:
    """After these nodes have been written, in this order."""

    async def main() -> tuple[NodesReady, FakeAPI]:
        api, nodes = FakeAPI(), NodesReady(shapes, managed=managed)
        for frame in frames:
            metadata = {**frame["metadata"], "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"}
            api.write("ADDED", resource("nodes"), {**frame, "metadata": metadata})
        await nodes.wait(Client(api, "watcher"), Client(api, "kubeadm"))
        return nodes, api

    return run_virtual(main())


def test_all_are_waited_for_and_the_control_plane_is_marked_once() -> None:
    shapes = kind_nodes(2)
    frames = [
        node(shapes[1].name, "False"),
        node(shapes[0].name, "False"),
        node("somebody-else"),
        node(shapes[1].name),
        node(shapes[0].name, "True", NOT_READY),
        node(shapes[0].name),
    ]
    nodes, api = waited(*frames, shapes=shapes)
    assert nodes.waiting == set()
    assert [(agent, method, path, body["metadata"]["labels"]) for agent, method, path, body in api.log] == [
        ("kubeadm", "PATCH", f"/api/v1/nodes/{shapes[0].name}", CONTROL_PLANE)
    ]


def test_a_control_plane_without_machines_is_not_waited_for() -> None:
    nodes, api = waited(shapes=[])
    assert (nodes.waiting, api.watches) == (set(), 0)


def test_where_nobody_manages_nodes_their_taint_stays() -> None:
    shape = NodeShape("n", "10.0.0.1")
    nodes, api = waited(node("n", "True", NOT_READY), shapes=[shape], managed=False)
    assert (nodes.waiting, api.log) == (set(), [])
