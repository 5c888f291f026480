"""The same timeline for a real cluster, from its audit log and what a watcher saw.

A real API server does not tell its stages, but its audit log tells every request of
every component to the microsecond: when it came in, when its answer left, who sent it,
which object it was about. Ownership is followed the same way as in ours. What happens
inside a node shows as the statuses the kubelet reported; the watch tells when all pods
were ready.

Takes the folder of a recording (see `recordings/README.md`), so that this room needs no
other.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from lifecycle.trace.journey import Journey, Step

_CONTROLLERS = (
    "deployment-controller",
    "replicaset-controller",
    "endpointslice-controller",
    "endpoint-controller",
)
_PROGRAMS = {"kube-scheduler": "scheduler"}
_KINDS = {
    "deployments": "Deployment",
    "replicasets": "ReplicaSet",
    "pods": "Pod",
    "events": "Event",
}


def recorded_journey(
    recording: str | Path,
    *,
    scenario: str = "journey",
    name: str = "nginx",
    events: bool = False,
) -> Journey:
    """The journey of the Deployment `name` from its creation until all its pods were
    first Ready.

    `events=True` includes the Events that components wrote. Raises LookupError if the
    audit log does not hold such a creation.
    """
    folder = Path(recording)
    try:
        requests = requests_of(
            _lines(folder / "audit" / f"{scenario}.jsonl"), name, events=events
        )
    except LookupError as error:
        raise LookupError(f"{folder.name}: {error}") from None
    origin = _seconds(requests[0][1]["requestReceivedTimestamp"])
    watch = list(_lines(folder / "watch" / f"{scenario}.jsonl"))
    ready = _when_ready(watch, name)
    end = float("inf")
    if ready is not None:
        end = ready + _watch_offset(watch, [entry for _, entry in requests]) - origin
    steps = [step for step, _ in requests if step.start <= end]
    if ready is not None:
        steps.append(Step("watch", "all pods ready", end, end, name))
    version = requests[0][1]["userAgent"].partition(" ")[0].partition("/")[2]
    return Journey(
        f"deployments/{name}",
        tuple(sorted(steps, key=lambda s: s.start)),
        f"{folder.name} (kubectl {version}, recorded)",
    )


Audited = tuple[Step, dict[str, Any]]
"""A request that changed something, and its line of the audit log."""


def requests_of(
    log: Iterable[dict[str, Any]], name: str = "nginx", *, events: bool = False
) -> list[Audited]:
    """What was written for the Deployment `name`, in the order in which it began; its
    creation comes first, at 0 seconds.

    Raises LookupError if the log does not hold such a creation.
    """
    audit = [entry for entry in log if entry["stage"] == "ResponseComplete"]
    creation = next(
        (e for e in audit if e["verb"] == "create" and _is(e, "deployments", name)),
        None,
    )
    if creation is None:
        raise LookupError(f"no creation of deployment {name} in the audit log")
    origin = _seconds(creation["requestReceivedTimestamp"])
    family = _family(audit, creation)
    requests = [
        (_step(entry, origin), entry)
        for entry in audit
        if entry["verb"] not in ("get", "list", "watch")
        and _belongs(entry, family, name, events)
    ]
    return sorted(
        (audited for audited in requests if audited[0].start >= 0),
        key=lambda audited: audited[0].start,
    )


def component_of(entry: dict[str, Any]) -> str:
    """Which component sent a request: a controller by its account, everything else by
    its user agent, which begins with the program and may end with an account.
    """
    account = entry.get("user", {}).get("username", "").rpartition(":")[2]
    if account in _CONTROLLERS:
        return account
    agent = entry.get("userAgent", "")
    program = agent.partition("/")[0]
    _, colon, name = agent.rpartition(":")
    return _PROGRAMS.get(program) or (name if colon else program)


def _step(entry: dict[str, Any], origin: float) -> Step:
    reference = entry["objectRef"]
    kind = _KINDS.get(reference["resource"], reference["resource"])
    sub = reference.get("subresource")
    if sub == "status" and component_of(entry).endswith("-controller"):
        stage = f"status of {kind}"
    else:
        stage = {"binding": "bind", "status": "status"}.get(
            sub, f"{entry['verb']} {kind}"
        )
    about = f"{reference['resource']}/{_name(entry)}"
    start, end = (
        _seconds(entry[key]) - origin
        for key in ("requestReceivedTimestamp", "stageTimestamp")
    )
    return Step(
        component_of(entry),
        stage,
        start,
        end,
        about,
        0,
        {"code": entry["responseStatus"].get("code")},
    )


def _family(audit: list[dict[str, Any]], creation: dict[str, Any]) -> set[str]:
    """Uids of the Deployment and of everything created under it."""
    uids = {creation["responseObject"]["metadata"]["uid"]}
    for entry in (
        audit
    ):  # the log is in order of completion: owners complete before what they own
        meta = (entry.get("responseObject") or {}).get("metadata") or {}
        if any(owner["uid"] in uids for owner in meta.get("ownerReferences", ())):
            uids.add(meta["uid"])
    return uids


def _belongs(entry: dict[str, Any], family: set[str], name: str, events: bool) -> bool:
    reference = entry.get("objectRef") or {}
    answer = entry.get("responseObject") or {}
    if reference.get("resource") == "events":
        return events and (answer.get("involvedObject") or {}).get("uid") in family
    if (answer.get("metadata") or {}).get("uid") in family:
        return True
    return reference.get("subresource") == "binding" and str(
        reference.get("name", "")
    ).startswith(f"{name}-")


def _is(entry: dict[str, Any], resource: str, name: str) -> bool:
    return (entry.get("objectRef") or {}).get("resource") == resource and _name(
        entry
    ) == name


def _name(entry: dict[str, Any]) -> str:
    answer = (entry.get("responseObject") or {}).get("metadata") or {}
    return str((entry.get("objectRef") or {}).get("name") or answer.get("name", ""))


def _when_ready(watch: list[dict[str, Any]], name: str) -> float | None:
    """Seconds of the watch's clock at which the Deployment first had all replicas
    ready.
    """
    for line in watch:
        obj = line["event"].get("object") or {}
        if obj.get("kind") != "Deployment" or obj["metadata"].get("name") != name:
            continue
        if obj.get("status", {}).get("readyReplicas") == obj["spec"]["replicas"]:
            return float(line["t"])
    return None


def _watch_offset(watch: list[dict[str, Any]], audit: list[dict[str, Any]]) -> float:
    """What to add to the watch's seconds to get the audit log's, from objects that both
    saw at the same resourceVersion.
    """
    answered = {}
    for entry in audit:
        version = (
            (entry.get("responseObject") or {})
            .get("metadata", {})
            .get("resourceVersion")
        )
        answered[entry["objectRef"]["resource"], version] = _seconds(
            entry["stageTimestamp"]
        )
    deltas = []
    for line in watch:
        resource = line["path"].partition("?")[0].rpartition("/")[2]
        version = (
            (line["event"].get("object") or {})
            .get("metadata", {})
            .get("resourceVersion")
        )
        if version and (resource, version) in answered:
            deltas.append(answered[resource, version] - line["t"])
    return statistics.median(deltas) if deltas else 0.0


def _seconds(stamp: str) -> float:
    return datetime.fromisoformat(stamp).timestamp()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open() as stream:
        for line in stream:
            yield json.loads(line)
