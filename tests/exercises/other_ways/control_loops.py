"""Attempts at what controllers and the scheduler do."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import Callable
from fractions import Fraction
from typing import Any


def informer_store(slip: str) -> Callable[..., Any]:
    """Indices are kept, not computed; each value has an ordered dict of its objects."""

    def key(obj: Any) -> str:
        meta = obj["metadata"]
        if slip == "names alone":
            return str(meta["name"])
        return "/".join(part for part in (meta.get("namespace"), meta["name"]) if part)

    class Store:
        def __init__(self, indexers: Any) -> None:
            self.indexers, self.objects = indexers, {}
            self.filed: dict[str, dict[str, OrderedDict[str, Any]]] = {name: {} for name in indexers}

        def unfile(self, obj: Any) -> None:
            for name, index in self.indexers.items():
                for value in set(index(obj)):
                    self.filed[name].get(value, {}).pop(key(obj), None)
                    if not self.filed[name].get(value) and slip != "empty values stay":
                        self.filed[name].pop(value, None)

        def add(self, obj: Any) -> None:
            known = self.objects.get(key(obj))
            if known is not None and slip == "the first one stays":
                return
            if known is not None and slip != "the old index stays":
                self.unfile(known)
            self.objects[key(obj)] = dict(obj) if slip == "copies" else obj
            for name, index in self.indexers.items():
                for value in index(obj):
                    self.filed[name].setdefault(value, OrderedDict())[key(obj)] = obj

        def update(self, obj: Any) -> None:
            if slip == "an update changes what is there":
                self.objects.setdefault(key(obj), obj)["metadata"].update(obj["metadata"])
            else:
                self.add(obj)

        def delete(self, obj: Any) -> None:
            known = self.objects[key(obj)] if slip == "a stranger's deletion" else self.objects.get(key(obj))
            if known is not None:
                if slip != "deleted but filed":
                    self.unfile(obj if slip == "unfiled by its last state" else known)
                del self.objects[key(obj)]

        def replace(self, objects: Any) -> None:
            if slip != "a list only adds":
                for known in list(self.objects.values()):
                    self.delete(known)
            for obj in objects:
                self.add(obj)

        def get_by_key(self, name: str) -> Any:
            return self.objects[name] if slip == "no such key" else self.objects.get(name)

        def list(self) -> Any:
            return tuple(self.objects.values())

        def keys(self) -> Any:
            return self.objects.keys()

        def by_index(self, name: str, value: str) -> Any:
            return iter(self.filed[name].get(value, {}).values())

        def index_values(self, name: str) -> Any:
            return set(self.filed[name])

    return Store


def rolling_arithmetic(slip: str) -> Callable[..., Any]:
    """With fractions instead of integer division."""

    def pods(value: Any, total: int, rounded: Callable[[Fraction], int]) -> int:
        if isinstance(value, str):
            return rounded(Fraction(int(value.rstrip("%")), 100) * total)
        return int(value)

    def rolling_update(deployment: Any, new_rs: Any, old_replica_sets: Any) -> Any:
        wanted = deployment["spec"]["replicas"]
        rolling = deployment["spec"]["strategy"]["rollingUpdate"]
        surge = pods(rolling["maxSurge"], wanted, math.floor if slip == "surge is rounded down" else math.ceil)
        missing = pods(
            rolling["maxUnavailable"], wanted, math.ceil if slip == "unavailable is rounded up" else math.floor
        )
        if slip == "both may be nothing":
            pass
        elif surge == 0 and missing == 0:
            missing = 1
        if slip != "more may be missing than there are":
            missing = min(missing, wanted)
        here = new_rs["spec"]["replicas"]
        old = old_replica_sets[:1] if slip == "one old set" else old_replica_sets
        others = sum(rs["spec"]["replicas"] for rs in old)
        room = wanted + surge - here - (0 if slip == "the old do not count" else others)
        size = here + room if slip == "more than wanted" else min(wanted, here + room)
        if room <= 0:
            size = here + room if slip == "no room shrinks" else here
        return {"maxUnavailable": missing, "maxSurge": surge, "newReplicas": size}

    return rolling_update


def slow_start(slip: str) -> Callable[..., Any]:
    """Tasks and `asyncio.wait`."""

    async def slow_start_batch(count: int, initial_batch_size: int, create: Any) -> Any:
        left, done, size = count, 0, initial_batch_size
        if slip == "all at once":
            size = count
        while left > 0:
            batch = size if slip == "whole batches" else min(left, size)
            tasks = [asyncio.ensure_future(create()) for _ in range(batch)]
            if slip == "the first failure ends it":
                try:
                    await asyncio.gather(*tasks)
                except Exception as error:
                    return done + sum(t.done() and not t.exception() for t in tasks), error
            await asyncio.wait(tasks)
            errors = [error for task in tasks if (error := task.exception())]
            done += batch - len(errors)
            left -= batch
            if errors and slip != "goes on after a failure":
                if slip == "raises":
                    raise errors[0]
                return (0 if slip == "counts nothing" else done), errors[-1 if slip == "the last error" else 0]
            if slip != "always the same size":
                size = size + 1 if slip == "one more each time" else size * 2
        return done, None

    return slow_start_batch


UNITS = {"": 1, "k": 1000, "M": 1000**2, "G": 1000**3, "Ki": 1024, "Mi": 1024**2, "Gi": 1024**3, "Ti": 1024**4}


def _amount(text: Any) -> Fraction:
    number = str(text).rstrip("KMGTikm")
    unit = str(text)[len(number) :]
    return Fraction(number) / 1000 if unit == "m" else Fraction(number) * UNITS[unit]


def scheduler_score(slip: str) -> Callable[..., Any]:
    """One resource after the other."""

    def asked(pod: Any, resource: str, default: str) -> Fraction:
        total = Fraction(0)
        for container in pod["spec"]["containers"][: 1 if slip == "the first container" else None]:
            resources = container.get("resources") or {}
            requests = resources.get("limits" if slip == "limits" else "requests") or {}
            nothing = "0" if slip == "no defaults" else default
            total += _amount(requests.get(resource, nothing if slip != "a default for the pod" else "0"))
        return total or (_amount(default) if slip == "a default for the pod" else total)

    def score(pod: Any, node: Any, pods: Any) -> int:
        there = node["status"]["capacity" if slip == "capacity" and "capacity" in node["status"] else "allocatable"]
        shares: list[Any] = []
        for resource, default in (("cpu", "100m"), ("memory", "200Mi")):
            whole = _amount(there.get(resource, "0"))
            if not whole:
                if slip == "a missing resource counts":
                    shares.append(0)
                continue
            everybody = [] if slip == "the others do not count" else list(pods)
            if slip != "without itself":
                everybody.append(pod)
            free = whole - sum(asked(one, resource, default) for one in everybody)
            share = 100 * free / whole
            if slip != "below zero":
                share = max(Fraction(0), share)
            shares.append(share if slip == "rounded at the end" else math.floor(share))
        if slip == "most allocated":
            shares = [100 - share for share in shares]
        if slip == "the smaller one":
            return int(min(shares, default=0))
        return math.floor(Fraction(sum(shares), len(shares) or 1)) if shares else 0

    return score
