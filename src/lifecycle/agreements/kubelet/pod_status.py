"""The kubelet's statuses held against the recorded *kubelet* scenario: 32 pods of
different shapes, watched until they settled.

Two kinds of questions. *Asked again*: each recorded status names its container
statuses; given those, what phase and which conditions do our functions make of them?
*Played*: the same pods are created at the recorded pace in our own cluster, on virtual
time, with containers that last and end as the recorded programs did; what does our
kubelet say of them, in the end and on the way, and what do their logs say?

Granted freedoms: times, addresses, ids and generated names. A container that is
restarted again and again is somewhere in its cycle at any moment; of such a one, the
states that it is ever seen in are compared.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from lifecycle.agreements.kubelet.pod_sync import OPTIONS
from lifecycle.api.http.wire import Object
from lifecycle.api.loop.clock import parse_time
from lifecycle.api.pods.pod_util import FAILED, is_pod_phase_terminal
from lifecycle.api.resources import resource
from lifecycle.api.status import StatusError
from lifecycle.cluster.cluster import Cluster
from lifecycle.cluster.cluster_config import ClusterConfig
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import Comparison, compare
from lifecycle.compare.field_rules import EventCount
from lifecycle.inspector import Recording
from lifecycle.kubelet.active_deadline import ActiveDeadlineHandler
from lifecycle.kubelet.kubelet_pods.phase import get_phase
from lifecycle.kubelet.status.generate import (
    containers_ready,
    initialized,
    ready,
)
from lifecycle.kubelet.status.status_manager import (
    merge_pod_status,
)

SCENARIO, NAMESPACE = "kubelet", "kubelet"
STEP = 0.15
"""Seconds that the recorded nodes took for a sandbox or a start, about."""

PHASES = "phases on the way, in order"
STATES = "state of each container in the end"
EVENTS = "what events say of them"
OF_THE_MOMENT = ("containerID", "startedAt", "finishedAt", "imageID")
"""What differs each time, and what only an image's registry knows."""
TOKEN_VOLUME = re.compile(r"kube-api-access-\w+")
NOT_RUN = re.compile(r"^lifecycle: .*: not run: hollow", re.MULTILINE)
"""What a hollow container prints instead of what it cannot play."""
LOGS = "what their logs say, or why there are none"


@dataclass(slots=True)
class Played:
    """What became of the pods: settled objects by name, every status in order, events,
    and what `logs` answered.
    """

    pods: dict[str, Object] = field(default_factory=dict)
    statuses: dict[str, list[Object]] = field(default_factory=dict)
    events: list[Object] = field(default_factory=list)
    logs: dict[tuple[str, str], str] = field(default_factory=dict)


def recorded(recording: Recording) -> Played:
    """The recorded story."""
    played = Played()
    for exchange in recording.exchanges(SCENARIO):
        if exchange.moment == "settled" and exchange.path.endswith("/pods"):
            played.pods = {
                pod["metadata"]["name"]: pod for pod in exchange.response["items"]
            }
        elif exchange.moment == "settled":
            played.events = exchange.response["items"]
        elif exchange.moment == "log":
            path, _, query = exchange.path.partition("?")
            container = dict(part.split("=") for part in query.split("&"))["container"]
            answer = exchange.response
            played.logs[path.split("/")[-2], container] = (
                answer if isinstance(answer, str) else _refusal(answer)
            )
    for name, pod in watched(recording):
        played.statuses.setdefault(name, []).append(pod)
    return played


def _refusal(answer: Any) -> str:
    return (
        f"refused: {answer['message']}"
        if isinstance(answer, dict) and "message" in answer
        else str(answer or "")
    )


def watched(recording: Recording) -> Iterator[tuple[str, Object]]:
    """Every version of every pod until it was asked to be deleted."""
    for line in recording.watch(SCENARIO):
        obj = line["event"]["object"]
        of_a_pod = line["path"].endswith("/pods") and line["event"]["type"] in (
            "ADDED",
            "MODIFIED",
        )
        if of_a_pod and not obj["metadata"].get("deletionTimestamp"):
            yield obj["metadata"]["name"], obj


@lru_cache(maxsize=4)
def play(recording_path: Path) -> Played:
    """The same pods in our own cluster, until the moment when the recording took
    stock.
    """
    recording = Recording(recording_path)
    posts = [e for e in recording.exchanges(SCENARIO) if e.method == "POST"]
    settled = next(e.t for e in recording.exchanges(SCENARIO) if e.moment == "settled")
    containers = list(recorded(recording).logs)
    return on_virtual_time(_play(posts, settled, containers))


async def _play(
    posts: list[Any], settled: float, containers: list[tuple[str, str]]
) -> Played:
    cluster, played = (
        Cluster(ClusterConfig(nodes=3, seed=1, https=False, latency=STEP)),
        Played(),
    )
    await cluster.start()
    try:
        client = cluster.client("recorder")
        await client.create(resource("namespaces"), {"metadata": {"name": NAMESPACE}})
        await asyncio.sleep(2)
        frames = await client.watch(resource("pods"), NAMESPACE, bookmarks=False)

        async def follow() -> None:
            async for frame in frames:
                if frame.type in ("ADDED", "MODIFIED"):
                    played.statuses.setdefault(
                        frame.object["metadata"]["name"], []
                    ).append(frame.object)

        following = asyncio.create_task(follow())
        begin = asyncio.get_running_loop().time()
        for exchange in posts:
            await asyncio.sleep(
                max(0.0, exchange.t - (asyncio.get_running_loop().time() - begin))
            )
            plural = exchange.path.rsplit("/", 1)[1]
            if plural != "namespaces":
                await client.create(
                    resource(plural), json.loads(json.dumps(exchange.body)), NAMESPACE
                )
        await asyncio.sleep(
            max(0.0, settled - (asyncio.get_running_loop().time() - begin))
        )
        pods = (await client.list(resource("pods"), NAMESPACE))["items"]
        played.pods = {pod["metadata"]["name"]: pod for pod in pods}
        played.events = list(
            (await client.list(resource("events"), NAMESPACE))["items"]
        )
        for pod, container in containers:
            played.logs[pod, container] = await _log(client, pod, container)
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
    finally:
        await cluster.stop()
    return played


async def _log(client: Any, pod: str, container: str) -> str:
    query = {"container": container, "tailLines": "60"}
    try:
        response = await client.request(
            "GET", resource("pods").path(NAMESPACE, pod, "log"), query=query
        )
    except StatusError as error:
        return f"refused: {error.message}"
    if response.stream is None:
        return (response.body or b"").decode()
    return b"".join([piece async for piece in response.stream]).decode()


def container_facts(status: Object) -> dict[str, Object]:
    """All that is said of each container, but for times, ids and addresses."""
    return {
        container["name"]: _lasting(container)
        for key in ("initContainerStatuses", "containerStatuses")
        for container in status.get(key) or ()
    }


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _lasting(v) for k, v in value.items() if k not in OF_THE_MOMENT}
    if isinstance(value, list):
        return [_lasting(each) for each in value]
    if isinstance(value, str):
        return TOKEN_VOLUME.sub("kube-api-access-*", value)
    return value


def container_states(status: Object) -> dict[str, Object]:
    """Each container's state: which of the three, why, and with which exit code."""
    states = {}
    for key in ("initContainerStatuses", "containerStatuses"):
        for container in status.get(key) or ():
            [(kind, details)] = container["state"].items() or [("none", {})]
            states[container["name"]] = {"state": kind} | {
                k: details[k] for k in ("reason", "exitCode") if k in details
            }
    return states


def condition_facts(status: Object) -> Object:
    """Conditions without times."""
    keys = ("status", "reason", "message", "observedGeneration")
    return {
        c["type"]: {key: c[key] for key in keys if key in c}
        for c in status.get("conditions") or ()
    }


def distinct(values: list[Any]) -> list[Any]:
    """In order, repetitions left out."""
    return [value for i, value in enumerate(values) if i == 0 or value != values[i - 1]]


def restarts(pod: Object) -> bool:
    """Whether any container was run more than once, or is tried again and again."""
    statuses = [
        s
        for key in ("initContainerStatuses", "containerStatuses")
        for s in pod["status"].get(key) or ()
    ]
    waits = (
        "ImagePullBackOff",
        "ErrImagePull",
        "CrashLoopBackOff",
        "RunContainerError",
        "PostStartHookError",
    )
    return any(
        s["restartCount"] or (s["state"].get("waiting") or {}).get("reason") in waits
        for s in statuses
    )


def pod_status_agreement(recording: Recording) -> AgreementTable:
    """Phases, container states, conditions, events and logs."""
    theirs = recorded(recording)
    table = AgreementTable(
        "Pod status",
        "lifecycle",
        f"recording {recording.provenance}",
        lambda table: (
            f"{len(theirs.pods)} pods of different shapes – some finish, some crash,"
            " some never start – created again in our cluster: of"
            f" {table.total:,} phases, conditions, container states, event texts and"
            f" lines of logs, {table.fields_equal:,} are the recorded ones."
        ),
        telling=PHASES,
    )
    of_recorded_statuses(table, theirs)
    if recording.path.is_dir():
        add_played(table, play(recording.path), theirs)
    return table


def of_recorded_statuses(table: AgreementTable, theirs: Played) -> None:
    """Each recorded status, put to our functions."""
    phases, conditions, count = Comparison(), Comparison(), 0
    for name, versions in theirs.statuses.items():
        before: Object = {}
        for pod in versions:
            status, spec = pod["status"], pod["spec"]
            if status.get("containerStatuses"):
                count += 1
                computed = phase_of(pod)
                public = merge_pod_status(
                    before,
                    {"phase": computed, "conditions": []},
                    not is_pod_phase_terminal(status["phase"]),
                )
                phases += compare(public["phase"], status["phase"], path=f"/{name}")
                conditions += compare(
                    conditions_of(spec, status, computed),
                    _ours_only(status),
                    path=f"/{name}",
                )
            before = status
    statuses = f"{count} statuses"
    table.add(
        "kubelet",
        "the phase that each recorded status calls for",
        statuses,
        statuses,
        phases,
    )
    table.add(
        "kubelet",
        "its conditions Initialized, ContainersReady, Ready",
        statuses,
        statuses,
        conditions,
    )


def phase_of(pod: Object) -> str:
    """Our phase for recorded container statuses. The deadline has its say."""
    spec, status = pod["spec"], pod["status"]
    statuses = [
        *(status.get("initContainerStatuses") or ()),
        *status["containerStatuses"],
    ]
    newest = max(c.get("lastTransitionTime") or "" for c in status["conditions"])
    if (
        ActiveDeadlineHandler(lambda uid: status, lambda: parse_time(newest))
        .should_evict(pod)
        .evict
    ):
        return FAILED
    return get_phase(spec, statuses, is_pod_phase_terminal(status["phase"]))


def conditions_of(spec: Object, status: Object, phase: str) -> Object:
    """Our three conditions for recorded container statuses. `phase`: as computed, which
    may not be public yet.
    """
    init, own = status.get("initContainerStatuses") or [], status["containerStatuses"]
    ran = any("waiting" not in s["state"] or s.get("lastState") for s in own)
    of_containers = containers_ready(spec, own, init, phase)
    conditions = [
        initialized(spec, init, ran, phase),
        of_containers,
        ready(spec, status["conditions"], of_containers),
    ]
    return {
        c["type"]: {key: c[key] for key in ("status", "reason", "message") if key in c}
        for c in conditions
    }


def _ours_only(status: Object) -> Object:
    facts = condition_facts(status)
    kinds = ("Initialized", "ContainersReady", "Ready")
    return {
        kind: {k: v for k, v in facts[kind].items() if k != "observedGeneration"}
        for kind in kinds
    }


def add_played(table: AgreementTable, ours: Played, theirs: Played) -> None:
    """The rows of the story that was played again."""
    questions: dict[str, Comparison] = {}
    names = sorted({*ours.pods, *theirs.pods})
    for name in names:
        mine, other = ours.pods.get(name, {}), theirs.pods.get(name, {})
        answers: dict[str, tuple[Any, Any]] = {
            "phase of each pod in the end": (_phase(mine), _phase(other)),
            PHASES: (_phases(ours, name), _phases(theirs, name)),
            STATES: _in_the_end(ours, theirs, name),
        }
        if other and not restarts(other):
            answers["conditions in the end"] = (
                condition_facts(mine.get("status", {})),
                condition_facts(other["status"]),
            )
        for question, (a, b) in answers.items():
            comparison = questions.setdefault(question, Comparison())
            comparison += compare(a, b, path=f"/{name}")
    for question, comparison in questions.items():
        here, there = f"{len(ours.pods)} pods", f"{len(theirs.pods)} pods"
        table.add("kubelet", question, here, there, comparison)
    our_texts, their_texts = event_texts(ours), event_texts(theirs)
    here, there = f"{len(our_texts)} texts", f"{len(their_texts)} texts"
    events = compare(_counted(our_texts), _counted(their_texts), path="")
    table.add("kubelet", EVENTS, here, there, events)
    logs = Comparison()
    for name, container in sorted({*ours.logs, *theirs.logs}):
        cut = name in theirs.pods and restarts(theirs.pods[name])
        left, right = (_lines(side, name, container, cut) for side in (ours, theirs))
        where = f"{name}/{container}"
        if granted := _match_options(left, right):
            logs.freedoms[OPTIONS] += granted
        if not left or not right:
            logs.field(where, _first(left), _first(right))
        for line in sorted({*left, *right} if left and right else ()):
            logs.field(f"{where}/{line}", left[line], right[line])
    here, there = f"{len(ours.logs)} logs", f"{len(theirs.logs)} logs"
    table.add("kubelet", LOGS, here, there, logs)


def _phase(pod: Object) -> str:
    return str(pod["status"]["phase"]) if pod else "no such pod"


def _lines(played: Played, name: str, container: str, cut: bool) -> Counter[str]:
    """The lines of a log, and how often each stands there; the pod's own address
    masked.
    """
    text = played.logs.get((name, container), "no such log")
    address = played.pods.get(name, {}).get("status", {}).get("podIP")
    if NOT_RUN.search(text):
        return Counter()
    plain = _plain(text, cut)
    return Counter((plain.replace(address, "IP") if address else plain).splitlines())


def _match_options(ours: Counter[str], theirs: Counter[str]) -> int:
    """A pod that prints its resolv.conf: give their line of options the order of ours,
    if it is the same otherwise. How many there were.
    """
    granted = 0
    for line in ours - theirs:
        for other in theirs - ours:
            same = sorted(line.split()) == sorted(other.split())
            if same and line.startswith("options "):
                theirs[line] = theirs.pop(other)
                granted += 1
    return granted


def _first(lines: Counter[str]) -> str:
    return next(iter(lines), "(empty)")


def _plain(text: str, cut: bool) -> str:
    """Without nginx' own chatter, which is full of times and process numbers. `cut`:
    what is being waited for changes by the second.
    """
    if cut and text.startswith("refused"):
        return text.partition(" to start: ")[0]
    lines = [
        line
        for line in text.splitlines()
        if not re.match(
            r"\d{4}/\d\d/\d\d |/docker-entrypoint|10-listen|\d+\.\d+\.\d+\.\d+ ", line
        )
    ]
    return "\n".join(re.sub(r"[0-9a-f]{64}", "ID", line) for line in lines)


def _phases(played: Played, name: str) -> list[str]:
    return distinct([pod["status"]["phase"] for pod in played.statuses.get(name, ())])


def _in_the_end(ours: Played, theirs: Played, name: str) -> tuple[Any, Any]:
    mine, other = ours.pods.get(name), theirs.pods.get(name)
    if other is not None and not restarts(other):
        status = mine["status"] if mine else {}
        return container_facts(status), container_facts(other["status"])
    return _ever(ours, name), _ever(theirs, name)


def _ever(played: Played, name: str) -> dict[str, bool]:
    """The states that a pod's containers were ever seen in."""
    states = [container_states(pod["status"]) for pod in played.statuses.get(name, ())]
    return {_in_words(state): True for state in states if state}


def _in_words(states: dict[str, Object]) -> str:
    return ", ".join(
        " ".join((name, *map(str, facts.values()))) for name, facts in states.items()
    )


def event_texts(played: Played) -> Counter[str]:
    """What the kubelet's events say, each beginning with the pod's name, and how often
    they were told.
    """
    uids = {name: pod["metadata"]["uid"] for name, pod in played.pods.items()}
    texts: Counter[str] = Counter()
    for event in played.events:
        name = event["involvedObject"]["name"]
        if event["source"].get("component") == "kubelet" and name in uids:
            text = event["message"].replace(uids[name], "UID")
            text = TOKEN_VOLUME.sub("kube-api-access-*", text)
            text = re.sub(r"\d+\.\d+\.\d+\.\d+", "IP", text)
            texts[f"{name}: {event['type']} {event['reason']} {text}"] += event["count"]
    return texts


def _counted(texts: Counter[str]) -> Object:
    """With counts that may differ as they do between recordings."""
    return {
        text: EventCount().told(count, text.split()[2]) for text, count in texts.items()
    }
