"""Nodes and pods drawn from a seed: everything that the scheduler's plugins look at, in mixtures that nobody thought of."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from lifecycle.api.http.wire import Object

ZONES, DISKS, APPS = ("a", "b", "c"), ("ssd", "hdd"), ("web", "db", "cache")
IMAGES = {"nginx:1.27": 190, "redis:7": 60, "big/model:1": 950}
"""Names and megabytes."""
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
HIGH = "high"
"""The one PriorityClass."""


def priority_class() -> Object:
    """For pods that may push others aside."""
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": HIGH}, "value": 1000}


class Inputs:
    """All of one seed."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)

    def _maybe(self, chance: float) -> bool:
        return self._dice.random() < chance

    def nodes(self, count: int = 9) -> list[Object]:
        """Machines of several sizes in three zones; some with taints, labels, images or a cordon."""
        return [self._node(number) for number in range(count)]

    def _node(self, number: int) -> Object:
        pick, name = self._dice.choice, f"n{number}"
        labels = {HOST: name, ZONE: pick(ZONES), "disk": pick(DISKS), "rank": str(number)}
        resources = {"cpu": pick(("2", "4", "8")), "memory": pick(("4Gi", "8Gi")), "pods": pick(("4", "20"))}
        if self._maybe(0.3):
            resources["example.com/gpu"] = "2"
        taints = []
        if self._maybe(0.3):
            taints.append({"key": "dedicated", "value": pick(APPS), "effect": pick(("NoSchedule", "NoExecute"))})
        if self._maybe(0.3):
            taints.append({"key": "slow", "value": "", "effect": "PreferNoSchedule"})
        images = [{"names": [n], "sizeBytes": mb << 20} for n, mb in IMAGES.items() if self._maybe(0.5)]
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
        spec: Object = {"unschedulable": True} if self._maybe(0.1) else {}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": labels},
            "spec": {**spec, "taints": taints},
            "status": {"capacity": resources, "allocatable": resources, "images": images, "conditions": [ready]},
        }

    def pods(self, count: int = 45) -> Iterator[Object]:
        """Most ask for little; each has a few of the wishes that a pod can have. The last ones push others aside.

        Those ask for no port of the host: the real scheduler looks again at a pod whose victims go when the last of them has gone,
        and if that one did not have the port, only after five minutes.
        """
        for number in range(count):
            yield self._pod(f"p{number}")
        for number in range(5):
            yield self._pod(f"high{number}", cpu="1900m", priorityClassName=HIGH)

    def _pod(self, name: str, cpu: str = "", **spec: Any) -> Object:
        pick, app = self._dice.choice, self._dice.choice(APPS)
        requests = {
            "cpu": cpu or pick(("50m", "100m", "250m", "900m", "1500m")),
            "memory": pick(("64Mi", "256Mi", "1Gi")),
        }
        container: Object = {"name": "c", "image": pick(tuple(IMAGES)), "resources": {"requests": requests}}
        if self._maybe(0.1):
            requests["example.com/gpu"] = pick(("1", "2", "3"))
            container["resources"]["limits"] = {"example.com/gpu": requests["example.com/gpu"]}
        if self._maybe(0.15) and not cpu:
            container["ports"] = [{"containerPort": 80, "hostPort": pick((8080, 8081))}]
        if self._maybe(0.15):
            spec["nodeSelector"] = {"disk": pick((*DISKS, "tape"))}
        if self._maybe(0.3):
            spec["tolerations"] = [self._toleration()]
        affinity = {
            **self._node_affinity(),
            **self._pod_affinity("podAffinity", 0.2),
            **self._pod_affinity("podAntiAffinity", 0.25),
        }
        if affinity:
            spec["affinity"] = affinity
        if self._maybe(0.35):
            spec["topologySpreadConstraints"] = [self._spread(app) for _ in range(pick((1, 2)))][:2]
            if len({(c["topologyKey"], c["whenUnsatisfiable"]) for c in spec["topologySpreadConstraints"]}) == 1:
                del spec["topologySpreadConstraints"][1:]
        if self._maybe(0.1):
            spec["schedulingGates"] = [{"name": "example.com/wait"}]
        body = {"containers": [container], "terminationGracePeriodSeconds": 0, **spec}
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": app}}, "spec": body}

    def _toleration(self) -> Object:
        pick = self._dice.choice
        return pick(
            (
                {"key": "dedicated", "operator": "Exists"},
                {"key": "dedicated", "value": pick(APPS), "effect": "NoSchedule"},
                {"key": "slow", "operator": "Exists", "effect": "PreferNoSchedule"},
                {"key": "node.kubernetes.io/unschedulable", "operator": "Exists"},
                {"operator": "Exists"},
            )
        )

    def _node_affinity(self) -> Object:
        pick, affinity = self._dice.choice, {}
        if self._maybe(0.15):
            expressions = pick(
                (
                    [{"key": ZONE, "operator": "In", "values": [pick(ZONES), pick(ZONES)]}],
                    [{"key": "disk", "operator": "NotIn", "values": [pick(DISKS)]}],
                    [{"key": "rank", "operator": pick(("Gt", "Lt")), "values": [pick(("3", "6"))]}],
                )
            )
            affinity["requiredDuringSchedulingIgnoredDuringExecution"] = {
                "nodeSelectorTerms": [{"matchExpressions": expressions}]
            }
        if self._maybe(0.2):
            preference = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [pick(ZONES)]}]}
            preferred = [{"weight": pick((1, 30, 100)), "preference": preference}]
            affinity["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
        return {"nodeAffinity": affinity} if affinity else {}

    def _pod_affinity(self, name: str, chance: float) -> Object:
        if not self._maybe(chance):
            return {}
        pick = self._dice.choice
        term = {"labelSelector": {"matchLabels": {"app": pick(APPS)}}, "topologyKey": pick((ZONE, HOST))}
        if self._maybe(0.4):
            return {name: {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
        weighted = [{"weight": pick((10, 100)), "podAffinityTerm": term}]
        return {name: {"preferredDuringSchedulingIgnoredDuringExecution": weighted}}

    def _spread(self, app: str) -> Object:
        pick = self._dice.choice
        constraint: Object = {
            "maxSkew": pick((1, 2)),
            "topologyKey": pick((ZONE, HOST)),
            "whenUnsatisfiable": pick(("DoNotSchedule", "ScheduleAnyway")),
            "labelSelector": {"matchLabels": {"app": app}},
        }
        if self._maybe(0.3):
            constraint["nodeTaintsPolicy"] = "Honor"
        if constraint["whenUnsatisfiable"] == "DoNotSchedule" and self._maybe(0.3):
            constraint["minDomains"] = 3
        return constraint
