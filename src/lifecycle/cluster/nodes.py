"""How the machines of an embedded cluster look: the same as kind's.

`lifecycle-control-plane` is tainted, the workers are not; addresses and capacity follow
kind's own pattern, so what the scheduler decides on an embedded cluster can be compared
with what it decided on a real one.

Upstream: kind `pkg/cluster/internal/create` (names), kubeadm `phases/markcontrolplane`
(label and taint), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from ipaddress import IPv4Address, IPv4Network

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.image import Image
from lifecycle.kubelet.nodestatus.machine_info import PAPER_CAPACITY

CONTROL_PLANE_LABELS = {
    "node-role.kubernetes.io/control-plane": "",
    "node.kubernetes.io/exclude-from-external-load-balancers": "",
}
CONTROL_PLANE_TAINT: Object = {
    "key": "node-role.kubernetes.io/control-plane",
    "effect": "NoSchedule",
}
FIRST_ADDRESS = IPv4Address("172.19.0.2")


POD_NETWORK = "10.244.0.0/16"
LARGE_POD_NETWORK = "10.128.0.0/9"


def pod_network(nodes: int) -> str:
    """The range that pod networks are cut from, 256 addresses for each node: kind's
    own, until it has no piece left.
    """
    return POD_NETWORK if nodes <= 256 else LARGE_POD_NETWORK


@dataclass(slots=True)
class NodeShape:
    """One machine before it joins.

    `pod_cidr` is empty where the controllers shall choose it, `images` where the
    runtime has its own idea of them.
    """

    name: str
    address: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[Object, ...] = ()
    capacity: Mapping[str, str] = field(default_factory=lambda: PAPER_CAPACITY)
    pod_cidr: str = ""
    machine_info: Mapping[str, str] = field(default_factory=dict)
    images: tuple[Image, ...] = ()


def with_pod_cidrs(shapes: Sequence[NodeShape]) -> list[NodeShape]:
    """The machines with a range of pod addresses each, as the node IPAM controller
    would choose: the next free one.

    Whoever brings a controller manager later finds them taken, and goes on from there.
    """
    taken = {shape.pod_cidr for shape in shapes}
    free = (
        str(piece)
        for piece in IPv4Network(pod_network(len(shapes))).subnets(new_prefix=24)
    )
    free = (cidr for cidr in free if cidr not in taken)
    return [
        shape if shape.pod_cidr else replace(shape, pod_cidr=next(free))
        for shape in shapes
    ]


def kind_nodes(count: int, cluster_name: str = "lifecycle") -> list[NodeShape]:
    """The machines `kind create cluster` would make: one control plane, `count - 1`
    workers. Raises ValueError below 1.
    """
    if count < 1:
        raise ValueError("a cluster needs at least one node")
    addresses = [str(FIRST_ADDRESS + i) for i in range(count)]
    # a single node is both: kind takes the taint off, or nothing could run
    taints = (CONTROL_PLANE_TAINT,) if count > 1 else ()
    nodes = [
        NodeShape(
            f"{cluster_name}-control-plane", addresses[-1], CONTROL_PLANE_LABELS, taints
        )
    ]
    for i in range(1, count):
        suffix = "" if i == 1 else str(i)
        nodes.append(NodeShape(f"{cluster_name}-worker{suffix}", addresses[i - 1]))
    return nodes
