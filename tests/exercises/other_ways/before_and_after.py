"""Attempts at what stands around a container, and at what is asked of a whole cluster."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from datetime import datetime
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


def container_actions(slip: str) -> Callable[..., Any]:
    """For each container one question: may it begin (again)?"""

    def actions(spec: dict[str, Any], sandbox: str, containers: dict[str, dict[str, Any]]) -> dict[str, Any]:
        policy = spec["restartPolicy"]
        done: dict[str, Any] = {"sandbox": False, "start": [], "kill": [], "over": False}
        if sandbox != "ready":
            if policy == "Never" and containers and slip != "never is another sandbox":
                return {**done, "over": True}
            succeeded = [n for n, known in containers.items() if known.get("exit_code") == 0 and policy == "OnFailure"]
            if slip == "all begin again":
                succeeded = []
            start = [c["name"] for c in spec["containers"] if c["name"] not in succeeded]
            if not start:
                return {**done, "over": True}
            return {**done, "sandbox": sandbox == "none" if slip == "the dead one will do" else True, "start": start}
        stays = False
        for container in spec["containers"]:
            name, known = container["name"], containers.get(container["name"])
            if known is None:
                again = True
            elif known["state"] == "created":
                again = policy != "Never" if slip == "made is started" else True
            elif known["state"] == "exited":
                again = policy == "Always" or (policy == "OnFailure" and known["exit_code"] != 0)
                if slip == "on failure is always":
                    again = policy != "Never"
            else:
                other = known["image"] != container["image"] and slip != "images stay"
                if not other and not known["unhealthy"]:
                    stays = True
                    continue
                again = other or policy != "Never" or slip == "the sick come back"
                if slip == "never is for images, too":
                    again = policy != "Never"
                if slip != "nobody is killed":
                    done["kill"].append(name)
            if again:
                done["start"].append(name)
        done["over"] = not stays and not done["start"] and slip != "never over"
        return done

    return actions


def container_namespaces(slip: str) -> Callable[..., Any]:
    """Pause has all of them; what is not asked of pause is taken out."""

    def namespaces(spec: dict[str, Any], sandbox_pid: int, target_pid: int) -> dict[str, str]:
        words = {"network": "net", "ipc": "ipc", "uts": "uts", "pid": "pid"}
        if slip == "the word is network":
            words["network"] = "network"
        found = {kind: f"/proc/{sandbox_pid}/ns/{word}" for kind, word in words.items()}
        found["mount"] = f"/proc/{sandbox_pid}/ns/mnt" if slip == "mounts are shared" else ""
        if slip == "the machine's network is left out" and spec.get("hostNetwork"):
            del found["network"]
        if slip == "the machine's ipc is left out" and spec.get("hostIPC"):
            del found["ipc"]
        if target_pid and slip != "no target":
            found["pid"] = f"/proc/{target_pid}/ns/pid"
            if slip != "the target comes last":
                return found
        if spec.get("hostPID") and slip != "pause's processes":
            del found["pid"]
        elif not spec.get("shareProcessNamespace") and slip != "all is shared":
            found["pid"] = ""
        return found

    return namespaces


def milestones(slip: str) -> Callable[..., Any]:
    """All writes of all objects first, then a look at each kind."""

    def found(steps: list[dict[str, Any]]) -> dict[str, float | None]:
        def ends(component: str, stage: str) -> list[float]:
            key = "start" if slip == "beginnings" else "end"
            return [s[key] for s in steps if (s["component"], s["stage"]) == (component, stage)]

        def stored(plural: str, kind: str) -> list[float]:
            writes: dict[str, list[float]] = {}
            for step in sorted(steps, key=lambda s: s["start"]):
                if step["stage"] == "txn" and step["about"].split("/")[0] == plural:
                    writes.setdefault(step["about"], []).append(step["end"])
            if writes:
                return [each[-1] if slip == "the last write" else each[0] for each in writes.values()]
            return [] if slip == "no audit log" else [s["end"] for s in steps if s["stage"] == f"create {kind}"]

        first_or_last = min if slip == "the first pod" else max
        answers = {
            "the Deployment is stored": min(stored("deployments", "Deployment"), default=None),
            "the ReplicaSet is stored": min(stored("replicasets", "ReplicaSet"), default=None),
            "the last pod is stored": first_or_last(stored("pods", "Pod"), default=None),
            "the last pod is bound to a node": first_or_last(ends("scheduler", "bind"), default=None),
            "the first word from a kubelet": min(ends("kubelet", "status"), default=None),
            "all pods are ready": (max if slip == "the last news" else min)(
                ends("watch", "all pods ready"), default=None
            ),
        }
        if slip == "zero for never":
            return {name: moment or 0.0 for name, moment in answers.items()}
        return answers

    return found


def pod_start_sli(slip: str) -> Callable[..., Any]:
    """Quarters of seconds in which an image was on its way are counted one by one."""
    stateless = {"secret", "configMap", "downwardAPI", "emptyDir", "projected"}

    def moment(text: str) -> float:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def start_seconds(
        pod: dict[str, Any], status: dict[str, Any], pulls: list[list[float]], now: float
    ) -> float | None:
        states = [each["state"] for each in status["containerStatuses"]]
        run = ["running" in state for state in states]
        if not (any(run) if slip == "one is enough" else all(run)):
            return None
        kinds = {key for volume in pod["spec"].get("volumes") or () for key in volume} - {"name"}
        if kinds - stateless and slip != "any volume":
            return None
        if kinds and slip == "no volume at all":
            return None
        quarters = {round(begin * 4) + k for begin, end in pulls for k in range(round((end - begin) * 4))}
        apart = sum(end - begin for begin, end in pulls) if slip == "pulls one by one" else len(quarters) / 4
        if slip == "pulls count":
            apart = 0
        for each in status.get("initContainerStatuses") or ():
            ended = each["state"].get("terminated")
            if ended and slip != "init containers count":
                apart += moment(ended["finishedAt"]) - moment(ended["startedAt"])
        seconds = now - moment(pod["metadata"]["creationTimestamp"]) - apart
        return seconds if slip == "less than nothing" else max(seconds, 0)

    return start_seconds


def renaming(slip: str) -> Callable[..., Any]:
    """A list of couples."""

    class Partners:
        def __init__(self) -> None:
            self.couples: list[tuple[list[str], list[str]]] = []

        def meet(self, ours: list[str], theirs: list[str]) -> bool:
            if ours[0] != theirs[0] and slip != "kinds do not matter":
                return False
            for mine, yours in self.couples:
                if slip == "one way" and mine != ours:
                    continue
                if slip == "the other way" and yours != theirs:
                    continue
                if mine == ours or yours == theirs:
                    same = (mine, yours) == (ours, theirs)
                    if not same and slip == "the last one counts":
                        self.couples.remove((mine, yours))
                        break
                    return same
            self.couples.append((ours, theirs))
            return slip != "nobody knows them yet"

        def partner(self, ours: list[str]) -> list[str] | None:
            found = [yours for mine, yours in self.couples if mine == ours]
            if not found and slip == "a name of its own":
                return ours
            return found[0] if found else None

    return Partners
