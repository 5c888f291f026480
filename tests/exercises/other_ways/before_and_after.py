"""Attempts at what stands around a container, and at what is asked of a whole cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any


def node_cidrs(slip: str) -> Callable[..., Any]:
    """A ring of pieces, and a place in it."""

    class Pieces:
        def __init__(self, cluster: str, mask: int) -> None:
            self.whole = ipaddress.ip_network(cluster)
            self.step = 1 << (32 - (24 if slip == "always 24" else mask))
            self.mask = mask
            self.count = self.whole.num_addresses // self.step
            self.taken: set[int] = set()
            self.place = 0

        def number(self, cidr: str) -> int:
            return (int(ipaddress.ip_network(cidr).network_address) - int(self.whole[0])) // self.step

        def allocate_next(self) -> str | None:
            ring = [(self.place + k) % self.count for k in range(self.count)]
            if slip == "never round":
                ring = list(range(self.place, self.count))
            if slip == "the lowest free one":
                ring = list(range(self.count))
            for number in ring:
                if number not in self.taken:
                    self.taken.add(number)
                    self.place = number + 1
                    address = self.whole[number * self.step]
                    return str(address) if slip == "without the mask" else f"{address}/{self.mask}"
            if slip == "raises when full":
                raise ValueError("full")
            return None

        def occupy(self, cidr: str) -> None:
            if slip != "strangers are an error" and not 0 <= self.number(cidr) < self.count:
                return
            assert 0 <= self.number(cidr) < self.count
            if slip != "the old ones are free":
                self.taken.add(self.number(cidr))
            if slip == "goes on behind the old ones":
                self.place = self.number(cidr) + 1

        def release(self, cidr: str) -> None:
            if slip != "nothing is given back":
                self.taken.discard(self.number(cidr))
            if slip == "goes back to what was freed":
                self.place = self.number(cidr)

    return Pieces


def pod_news(slip: str) -> Callable[..., Any]:
    """Two views of each pod, of what is wanted and of what is reported, are kept and compared."""

    def wanted(pod: dict[str, Any]) -> Any:
        meta = pod["metadata"]
        notes = {k: v for k, v in (meta.get("annotations") or {}).items() if k != "kubernetes.io/config.seen"}
        if slip == "its own notes":
            notes = meta.get("annotations") or {}
        if slip == "no annotations":
            notes = {}
        labels = {} if slip == "no labels" else meta.get("labels")
        grace = None if slip == "no grace" else meta.get("deletionGracePeriodSeconds")
        spec = None if slip == "no spec" else pod["spec"]
        return spec, labels, notes, meta.get("deletionTimestamp"), grace

    class Source:
        def __init__(self) -> None:
            self.known: dict[str, tuple[Any, Any]] = {}

        def merge(self, pods: list[dict[str, Any]]) -> dict[str, list[str]]:
            news: dict[str, list[str]] = {}
            seen = {}
            for pod in pods:
                uid = pod["metadata"]["uid"]
                seen[uid] = wanted(pod), pod.get("status")
                before = self.known.get(uid)
                if before is None:
                    news.setdefault("ADD", []).append(uid)
                elif before[0] != seen[uid][0]:
                    ending = "deletionTimestamp" in pod["metadata"] and slip != "a deletion is an update"
                    news.setdefault("DELETE" if ending else "UPDATE", []).append(uid)
                elif before[1] != seen[uid][1] and slip != "statuses are no news":
                    news.setdefault("RECONCILE", []).append(uid)
            gone = [uid for uid in self.known if uid not in seen]
            if gone and slip != "nobody goes":
                news["REMOVE"] = gone
            self.known = {**self.known, **seen} if slip == "never forgets" else seen
            return news

    return Source
