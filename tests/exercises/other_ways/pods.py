"""Attempts at what becomes of pods: who goes first, who is behind a Service, where a cgroup lies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from functools import cmp_to_key
from typing import Any


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def _condition(pod: Any, kind: str) -> Any:
    return next((c for c in pod["status"].get("conditions", []) if c["type"] == kind), {})


def pods_to_delete(slip: str) -> Callable[..., Any]:
    """Rule by rule for two pods, and Python's sorting for the rest."""

    def choose(pods: Any, count: int, now: float) -> Any:
        crowd = Counter(pod["spec"].get("nodeName", "") for pod in pods)

        def magnitude(stamp: str) -> float:
            age = now - _seconds(stamp)
            return age if slip == "times as they are" else math.floor(math.log2(age * 1e9))

        def plain(pod: Any) -> dict[str, Any]:
            node = pod["spec"].get("nodeName", "")
            notes = pod["metadata"].get("annotations") or {}
            rules = {
                "node": bool(node),
                "phase": pod["status"]["phase"] != "Pending",
                "ready": _condition(pod, "Ready").get("status") == "True",
                "cost": int(notes.get("controller.kubernetes.io/pod-deletion-cost", 0)),
                "crowd": -crowd[node],
            }
            if slip == "the cost first":
                rules = {"cost": rules["cost"], **rules}
            return {name: value for name, value in rules.items() if slip != f"no {name}"}

        def by_time(one: str, other: str, uids: tuple[str, str]) -> int:
            first, second = magnitude(one), magnitude(other)
            if first == second:
                return -1 if uids[0] < uids[1] else 1
            return -1 if (first < second) != (slip == "the older goes") else 1

        def order(one: Any, other: Any) -> int:
            mine, theirs = tuple(plain(one).values()), tuple(plain(other).values())
            if mine != theirs:
                return -1 if mine < theirs else 1
            uids = one["metadata"]["uid"], other["metadata"]["uid"]
            ready = [_condition(pod, "Ready") for pod in (one, other)]
            since = [each["lastTransitionTime"] for each in ready]
            both = all(each["status"] == "True" for each in ready)
            if both and since[0] != since[1] and slip != "no since":
                return by_time(since[0], since[1], uids)
            restarts = [max(c["restartCount"] for c in pod["status"]["containerStatuses"]) for pod in (one, other)]
            if restarts[0] != restarts[1] and slip != "no restarts":
                return restarts[1] - restarts[0]
            created = [pod["metadata"]["creationTimestamp"] for pod in (one, other)]
            if created[0] != created[1] and slip != "no age":
                return by_time(created[0], created[1], uids)
            return 0

        return [pod["metadata"]["name"] for pod in sorted(pods, key=cmp_to_key(order))[:count]]

    return choose


def endpoint_conditions(slip: str) -> Callable[..., Any]:
    """First who has none, then three sentences."""

    def endpoint(pod: Any, publish_not_ready: bool) -> Any:
        over = pod["status"].get("phase") in ("Failed", "Succeeded")
        if slip == "the phase does not matter":
            over = False
        if over or (not pod["status"].get("podIP") and slip != "no address needed"):
            return None
        leaving = bool(pod["metadata"].get("deletionTimestamp"))
        if slip == "who leaves is gone" and leaving:
            return None
        serving = _condition(pod, "Ready").get("status") == "True"
        ready = serving and (not leaving or slip == "ready while it leaves")
        if slip != "nothing is published":
            ready = ready or publish_not_ready
        if slip == "published is serving":
            serving = serving or publish_not_ready
        return {"ready": ready, "serving": serving, "terminating": leaving}

    return endpoint


UNITS = {"": 1, "m": Decimal("0.001"), "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3}


def pod_cgroups(slip: str) -> Callable[..., Any]:
    """Amounts become numbers, and the class follows from the sums of the containers."""

    def amounts(container: Any, key: str) -> dict[str, Decimal]:
        said = (container.get("resources") or {}).get(key) or {}
        found = {}
        for name in ("cpu", "memory"):
            text = str(said.get(name, "0"))
            number = text.rstrip("KMGim")
            found[name] = Decimal(number) * UNITS[text[len(number) :]]
        return {name: amount for name, amount in found.items() if amount or (slip == "zero counts" and name in said)}

    def same(one: Any, other: Any, container: Any) -> bool:
        if slip == "as it is written":
            resources = container.get("resources") or {}
            return bool(resources.get("requests") == resources.get("limits"))
        return bool(one == other)

    def pod_cgroup(pod: Any, driver: str) -> Any:
        spec, meta = pod["spec"], pod["metadata"]
        containers = [*spec["containers"], *(spec.get("initContainers") or [])]
        if slip == "no init containers":
            containers = spec["containers"]
        asked = [(amounts(c, "requests"), amounts(c, "limits"), c) for c in containers]
        whole = [len(limits) == 2 and same(requests, limits, c) for requests, limits, c in asked]
        if all(whole) if slip != "one is enough" else any(whole):
            qos = "Guaranteed"
        else:
            qos = "Burstable" if any(requests or limits for requests, limits, _ in asked) else "BestEffort"
        steps = ["kubepods", *([qos.lower()] if qos != "Guaranteed" or slip == "a folder for each" else [])]
        uid = (meta.get("annotations") or {}).get("kubernetes.io/config.hash") or meta["uid"]
        steps.append(f"pod{uid}")
        if driver == "cgroupfs" or slip == "one driver":
            return {"qos": qos, "path": "/" + "/".join(steps)}
        if slip != "dashes stay":
            steps = [step.replace("-", "_") for step in steps]
        names = ["-".join(steps[: number + 1]) + ".slice" for number in range(len(steps))]
        return {"qos": qos, "path": "/" + "/".join(names)}

    return pod_cgroup
