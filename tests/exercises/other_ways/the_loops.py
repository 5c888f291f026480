"""Attempts at leader election and at the scheduling queue."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def leader_election(slip: str) -> Callable[..., Any]:
    """First who holds it, then what is written."""

    def attempt(lease: Any, me: str, unchanged: float, now: str) -> Any:
        spec = {"holderIdentity": me, "leaseDurationSeconds": 15, "acquireTime": now, "renewTime": now}
        if lease is None:
            return {**spec, "leaseTransitions": 1 if slip == "the first is a transition" else 0}
        holder = lease["holderIdentity"]
        seconds = 15 if slip == "one's own duration" else lease.get("leaseDurationSeconds", 0)
        over = unchanged > seconds if slip == "a moment too long" else unchanged >= seconds
        if slip == "dates are compared":
            over = lease.get("renewTime", "") < "2026-01-01"
        if slip == "nobody holds it, too":
            holder = holder or "nobody"
        if holder and holder != me and not over:
            return None
        if holder == me and over and slip == "one's own runs out":
            return None
        spec["leaseTransitions"] = lease.get("leaseTransitions", 0)
        if holder != me:
            if slip != "no transitions":
                spec["leaseTransitions"] += 1
        elif slip != "always acquired":
            spec["acquireTime"] = lease["acquireTime"]
        if holder == me and slip == "a renewal is a transition":
            spec["leaseTransitions"] += 1
        if slip == "the holder's duration stays":
            spec["leaseDurationSeconds"] = lease.get("leaseDurationSeconds", 15)
        return spec

    return attempt


def scheduling_queue(slip: str) -> Callable[..., Any]:
    """One dict of pods, and a place in each."""

    class Queue:
        def __init__(self) -> None:
            self.pods: dict[str, dict[str, Any]] = {}

        def until(self, pod: Any) -> float:
            count = pod["errors"] or pod["refusals"]
            if slip == "errors count as refusals":
                count = pod["errors"] + pod["refusals"]
            if slip == "always a second":
                count = min(count, 1)
            most = 1e9 if slip == "without an end" else 10
            return float(pod["since"] + (min(2 ** (count - 1), most) if count else 0))

        def look(self, now: float) -> None:
            for pod in self.pods.values():
                if pod["place"] == "backoff" and self.until(pod) <= now:
                    pod["place"] = "active"

        def add(self, now: float, name: str, priority: int) -> None:
            self.look(now)
            self.pods[name] = {"place": "active", "since": now, "priority": priority, "refusals": 0, "errors": 0}

        def pop(self, now: float) -> Any:
            self.look(now)

            def rank(name: str) -> Any:
                pod = self.pods[name]
                return (pod["since"],) if slip == "no priorities" else (-pod["priority"], pod["since"])

            active = [name for name in self.pods if self.pods[name]["place"] == "active"]
            bench = [name for name in self.pods if self.pods[name]["place"] == "backoff"]
            if slip != "errors are taken early":
                bench = [name for name in bench if not self.pods[name]["errors"]]
            if slip == "nobody is taken early":
                bench = []
            if not active and not bench:
                return None
            if active:
                name = min(active, key=rank)
            else:
                name = min(bench, key=rank if slip == "early by priority" else lambda one: self.until(self.pods[one]))
            self.pods[name]["place"] = "taken"
            return name

        def refused(self, now: float, name: str, plugins: Any) -> None:
            self.look(now)
            pod = self.pods[name]
            pod.update(place="unschedulable", since=now, errors=0, refusals=pod["refusals"] + 1)
            before = pod.get("plugins", set()) if slip == "all attempts count" else set()
            pod["plugins"] = before | set(plugins)

        def failed(self, now: float, name: str) -> None:
            self.look(now)
            pod = self.pods[name]
            pod.update(place="unschedulable" if slip == "errors wait for news" else "backoff", since=now)
            pod.update(errors=pod["errors"] + 1, plugins=set())

        def event(self, now: float, answers: Any) -> None:
            self.look(now)
            for pod in self.pods.values():
                if pod["place"] != "unschedulable":
                    continue
                said = [answers.get(plugin, slip == "silence is yes") for plugin in pod["plugins"]]
                if slip == "any plugin":
                    said = list(answers.values())
                if (all if slip == "all have to say yes" else any)(said):
                    pod["place"] = "active" if slip == "no bench" else "backoff"
            self.look(now)

        def places(self, now: float) -> Any:
            self.look(now)
            return {
                place: sorted(name for name, pod in self.pods.items() if pod["place"] == place)
                for place in ("active", "backoff", "unschedulable")
            }

    return Queue
