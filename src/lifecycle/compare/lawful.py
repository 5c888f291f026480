"""What one cluster's answers promise each other, whatever the other cluster says.

A time is free, and so are a revision, an address and the random end of a name. But a
thing does not end before it began, a revision does not go back, an address comes from
its node's range, and the name of an Event is the time that it tells of. Each side is
held to that by itself: what the freedoms let pass has to hang together.

Upstream: `staging/src/k8s.io/client-go/tools/record/event.go` (names of Events),
`pkg/kubelet` and `staging/src/k8s.io/apiserver/pkg/storage/etcd3` (times, revisions).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from ipaddress import ip_address, ip_network
from typing import Any

from lifecycle.compare.entities import objects_in
from lifecycle.compare.in_flight import WRITERS

Object = dict[str, Any]
_MIRRORED = "kubernetes.io/config.mirror"
_NEVER = "1970-01-01T00:00:00Z"
"""When the runtime says that something started which did not start at all."""


@dataclass(slots=True)
class Laws:
    """One cluster's, asked answer by answer in their order. `nodes`: those it has."""

    nodes: Mapping[str, Object] = field(default_factory=dict)
    _revisions: dict[str, int] = field(default_factory=dict)

    def broken_by(self, answer: Any, *, fresh: bool = True) -> list[str]:
        """What is wrong with an answer, in words. `fresh`: it was not asked from a
        cache, which may be behind.
        """
        if not isinstance(answer, dict):
            return []
        complaints: list[str] = []
        newest = _number(answer.get("metadata"))
        for kind, obj in objects_in(answer):
            name = f"{kind} {obj['metadata']['name']}"
            found = [*_order_of_times(kind, obj), *self._of_its_node(kind, obj)]
            if kind == "Event":
                found += _of_an_event(obj)
            revision = _number(obj["metadata"])
            if isinstance(answer.get("items"), list) and revision > newest > 0:
                found.append("is newer than the list that it is in")
            uid = obj["metadata"].get("uid", "")
            if fresh and revision < self._revisions.get(uid, 0) and revision:
                found.append("has gone back to an older revision")
            if uid:
                self._revisions[uid] = max(revision, self._revisions.get(uid, 0))
            complaints += [f"{name} {each}" for each in found]
        return complaints

    def _of_its_node(self, kind: str, obj: Object) -> Iterator[str]:
        if kind == "Pod" and isinstance(obj.get("spec"), dict):
            node = self.nodes.get(obj["spec"].get("nodeName") or "", {})
            ranges = (node.get("spec") or {}).get("podCIDRs") or ()
            ips = (obj.get("status") or {}).get("podIPs") or ()
            if ranges and not obj["spec"].get("hostNetwork"):
                for ip in (each["ip"] for each in ips):
                    if not any(ip_address(ip) in ip_network(each) for each in ranges):
                        yield f"has an address that its node does not give: {ip}"


def _number(metadata: Any) -> int:
    text = metadata.get("resourceVersion", "") if isinstance(metadata, dict) else ""
    return int(text) if isinstance(text, str) and text.isdecimal() else 0


def _order_of_times(kind: str, obj: Object) -> Iterator[str]:
    """Nothing ends before it began, nor begins before it was made."""
    metadata = obj["metadata"]
    created = metadata.get("creationTimestamp") or ""
    if not created:
        return
    told = obj.get("status")
    status: Object = told if isinstance(told, dict) else {}
    later = [("deletionTimestamp", metadata.get("deletionTimestamp"))]
    written = metadata.get("managedFields") or ()
    later += [
        ("managedFields", _a_second_after(entry.get("time")))
        for entry in written
        if entry.get("manager") in WRITERS  # a client may bring times of its own
    ]
    by_kubelet = any(entry.get("manager") == "kubelet" for entry in written)
    mirrored = _MIRRORED in (metadata.get("annotations") or {})
    if kind == "Pod" and by_kubelet and not mirrored:
        later.append(("startTime", status.get("startTime")))
        later += _times_of_containers(status)
    if kind in ("Deployment", "ReplicaSet") or (kind == "Pod" and by_kubelet):
        later += [
            (f"condition {each['type']}", each.get("lastTransitionTime"))
            for each in status.get("conditions") or ()
        ]
    for what, time in later:
        if time and time < created:
            yield f"has a {what} from before it was made"
    for state in _states(status):
        ended = state.get("terminated") or {}
        if ended.get("finishedAt") and ended["finishedAt"] < ended.get("startedAt", ""):
            yield "has a container that ended before it started"


def _a_second_after(time: str | None) -> str | None:
    """An entry is written a moment before the object is stamped, which may be the
    second before.
    """
    if not time:
        return time
    moment = datetime.fromisoformat(time) + timedelta(seconds=1)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _states(status: Object) -> Iterator[Object]:
    for each in status.get("containerStatuses") or ():
        yield each.get("state") or {}
        yield each.get("lastState") or {}


def _times_of_containers(status: Object) -> list[tuple[str, Any]]:
    return [
        (f"container {key}", detail.get(key))
        for state in _states(status)
        for detail in state.values()
        for key in ("startedAt", "finishedAt")
        if detail.get(key) != _NEVER
    ]


def _of_an_event(event: Object) -> Iterator[str]:
    first, last = event.get("firstTimestamp"), event.get("lastTimestamp")
    began = first or event.get("eventTime") or ""
    if first and last:
        if last < first:
            yield "was seen last before it was seen first"
        elif last != first and event.get("count") == 1:
            yield "was seen once, and at two times"
    suffix = event["metadata"]["name"].rpartition(".")[2]
    if began and len(suffix) == 16:
        try:
            named = int(suffix, 16) // 1_000_000_000
        except ValueError:
            return
        if named != int(datetime.fromisoformat(began).timestamp()):
            yield "is named after another time than its own"


def watch_complaints(lines: Iterable[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """What is wrong with a watch: kinds, and words. An object is added once, then
    modified, then deleted; each time at a later revision.
    """
    known: dict[tuple[str, str], int] = {}
    complaints: list[tuple[str, str]] = []
    for line in lines:
        event, path = line["event"], str(line.get("path", "")).partition("?")[0]
        change, obj = event.get("type"), event.get("object") or {}
        kind, meta = str(obj.get("kind", "")), obj.get("metadata") or {}
        if change == "BOOKMARK":
            continue
        if change not in ("ADDED", "MODIFIED", "DELETED"):
            complaints.append((kind, f"{change} at {path}"))
            continue
        key, revision = (path, meta.get("uid", "")), _number(meta)
        before, name = known.get(key), f"{kind} {meta.get('name')}"
        if (before is None) is (change != "ADDED"):
            complaints.append((kind, f"{name}: {change}, out of turn"))
        elif before and revision and revision <= before:
            complaints.append((kind, f"{name}: {change} at no later revision"))
        if change == "DELETED":
            known.pop(key, None)
        else:
            known[key] = revision
    return complaints
