"""The last word on a pod: the kubelet may still refuse what the scheduler placed here.

Two schedulers can give away the same room, and pods may name their node themselves. The kubelet checks again, against
the pods that it has admitted.

Upstream: `pkg/kubelet/lifecycle/predicate.go` (`predicateAdmitHandler.Admit`, `AdmissionCheck`), v1.36. Left out:
sysctls, AppArmor, topology and device managers; preemption in favour of critical pods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from lifecycle.api.quantity import parse_quantity
from lifecycle.api.wire import Object


def _requests(spec: Object) -> dict[str, int]:
    total: dict[str, int] = {}
    for container in spec["containers"]:
        for name, text in ((container.get("resources") or {}).get("requests") or {}).items():
            total[name] = total.get(name, 0) + parse_quantity(str(text)).milli()
    return total


def _ports(spec: Object) -> set[tuple[str, int]]:
    return {
        (port.get("protocol") or "TCP", port["hostPort"])
        for container in spec["containers"]
        for port in container.get("ports") or ()
        if port.get("hostPort")
    }


def admit(pod: Object, others: Iterable[Object], node: Object, allocatable: Mapping[str, str]) -> tuple[str, str]:
    """Reason and message of a refusal; both empty if the pod may run. `others`: the admitted pods."""
    spec = pod["spec"]
    others = list(others)
    limit = int(allocatable.get("pods", 110))
    if len(others) + 1 > limit:
        return (
            "OutOfpods",
            f"Node didn't have enough resource: pods, requested: 1, used: {len(others)}, capacity: {limit}",
        )
    wanted = _requests(spec)
    if wanted:
        used: dict[str, int] = {}
        for other in others:
            for name, value in _requests(other["spec"]).items():
                used[name] = used.get(name, 0) + value
        for name, value in wanted.items():
            capacity = parse_quantity(str(allocatable.get(name, "0"))).milli()
            if value and used.get(name, 0) + value > capacity:
                unit = 1 if name == "cpu" else 1000
                numbers = f"requested: {value // unit}, used: {used.get(name, 0) // unit}, capacity: {capacity // unit}"
                return f"OutOf{name}", f"Node didn't have enough resource: {name}, {numbers}"
    selector = spec.get("nodeSelector") or {}
    labels = node["metadata"].get("labels") or {}
    if any(labels.get(key) != value for key, value in selector.items()):
        return "NodeAffinity", "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
    ports = _ports(spec)
    if ports and any(ports & _ports(other["spec"]) for other in others):
        return "NodePorts", "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
    return "", ""
