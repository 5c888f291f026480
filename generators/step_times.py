"""`cri/hollow/step_times.tsv`: how long each step of a container's life took on
recorded nodes, one line a step, all times that were seen.

From two recordings of the same kind of cluster. A watch says when a pod got its node,
its sandbox, its end and its disappearance; events say to the nanosecond, in their
names, when an image was asked for, a container created and started, a probe answered.

- `sandbox`: from getting a node until the sandbox is ready (volumes included);
- `pull`: from `Pulling` to the answer. Every image of a start was there already, so
  these are the pulls that failed;
- `create`, `start`: from `Pulled` to `Created`, from `Created` to `Started`;
- `probe`: from `Started` to the answer of the first probe;
- `listen`: until a web server takes connections: halfway between the last probe that
  was refused and the first that was answered;
- `stop`: from the deletion until every container has ended;
- `release`: from then until the pod is gone.

Pods whose start failed and was tried again are left out. *journey* is read for what
pods of one shape do, *kubelet* for what only its pods have.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from generators.first_line import first_line

FILE = "cri/hollow/step_times.tsv"
STEPS = ("sandbox", "pull", "create", "start", "probe", "listen", "stop", "release")
_REFUSED = "connect: connection refused"

Times = dict[str, list[float]]


def generate(recordings: Sequence[Path]) -> bytes:
    """The table."""
    times: Times = defaultdict(list)
    for recording in recordings:
        _watched(_lines(recording / "watch" / "journey.jsonl"), times)
        for scenario in ("journey", "kubelet"):
            for events in _events(recording / "http" / f"{scenario}.jsonl").values():
                _told(events, times, starts=scenario == "journey")
    sources = " and ".join(f"recordings/{recording.name}" for recording in recordings)
    what = "Seconds that each step of a container's life took"
    table = first_line(what, f"{sources} (watch, events)", "step-times")
    for step in STEPS:
        seconds = "\t".join(f"{value:.3f}" for value in sorted(times[step]))
        table += f"{step}\t{seconds}\n"
    return table.encode()


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open("rb") as lines:
        for line in lines:
            yield json.loads(line)


def _watched(lines: Iterable[dict[str, Any]], times: Times) -> None:
    moments: dict[str, dict[str, float]] = defaultdict(dict)
    for line in lines:
        pod, kind = line["event"].get("object") or {}, line["event"]["type"]
        if pod.get("kind") != "Pod" or kind == "BOOKMARK":
            continue
        of_pod = moments[pod["metadata"]["uid"]]
        status = pod.get("status") or {}
        statuses = status.get("containerStatuses") or ()
        ended = all("terminated" in each["state"] for each in statuses)
        seen = {
            "bound": bool(pod["spec"].get("nodeName")),
            "sandbox": any(
                c["type"] == "PodReadyToStartContainers" and c["status"] == "True"
                for c in status.get("conditions") or ()
            ),
            "retried": any(each.get("restartCount") for each in statuses),
            "deleted": "deletionTimestamp" in pod["metadata"],
            "ended": bool(statuses) and ended,
            "gone": kind == "DELETED",
        }
        for moment, is_so in seen.items():
            if is_so:
                of_pod.setdefault(moment, line["t"])
    for of_pod in moments.values():
        if "retried" in of_pod:
            continue
        for step, begin, end in (
            ("sandbox", "bound", "sandbox"),
            ("stop", "deleted", "ended"),
            ("release", "ended", "gone"),
        ):
            if begin in of_pod and end in of_pod:
                times[step].append(of_pod[end] - of_pod[begin])


def _events(path: Path) -> dict[str, list[dict[str, Any]]]:
    """The first of each kubelet's events, by the container they are about, in order."""
    first: dict[str, dict[str, Any]] = {}
    for line in _lines(path):
        answer = line["response"]
        if isinstance(answer, dict) and answer.get("kind") == "EventList":
            for event in answer["items"]:
                if event["source"].get("component") == "kubelet":
                    first.setdefault(event["metadata"]["uid"], event)
    by_container: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for event in sorted(first.values(), key=_when):
        about = event["involvedObject"]
        by_container[f"{about['uid']} {about.get('fieldPath', '')}"].append(event)
    return by_container


def _when(event: dict[str, Any]) -> float:
    return int(event["metadata"]["name"].rpartition(".")[2], 16) / 1e9


def _told(events: list[dict[str, Any]], times: Times, *, starts: bool) -> None:
    at = {event["reason"]: _when(event) for event in reversed(events)}
    failed = "Failed" in at
    if starts and not failed and {"Pulled", "Created", "Started"} <= set(at):
        times["create"].append(at["Created"] - at["Pulled"])
        times["start"].append(at["Started"] - at["Created"])
    if failed and "Pulling" in at:
        times["pull"].append(at["Failed"] - at["Pulling"])
    refused = [_when(e) for e in events if e["message"].endswith(_REFUSED)]
    answered = [_when(e) for e in events if "failed with statuscode" in e["message"]]
    if refused and answered and "Started" in at:
        times["probe"].append(refused[0] - at["Started"])
        listening = (refused[-1] + answered[0]) / 2
        times["listen"].append(listening - at["Started"])
