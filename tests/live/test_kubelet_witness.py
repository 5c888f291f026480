"""The judge of kubelets can say no: what is excused is excused as it is and not a word more, and every other difference is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lifecycle.api.http.wire import Object
from tests.live.kubelet_known import KNOWN, Known, excused
from tests.live.kubelet_witness import strayed, ways

HASHES = ("3d39c3b70fb3a2bd07d4a80e6c59957a", "68ce0b81732610b6629334fd9c0ef2d8")
MANAGED = "metadata/managedFields/kubelet Update v1 status/fieldsV1/f:status"
READY = '/f:conditions/k:{"type":"Ready"}/f:lastTransitionTime'
SEEN = (
    (
        "static-pod object",
        f"pods/items/static-pod static-lifecycle-worker/metadata/annotations/kubernetes.io/config.hash: {HASHES[0]} ≠ {HASHES[1]}",
    ),
    ("node object", f"nodes/items/lifecycle-worker/{MANAGED}{READY}: (absent) ≠ {{}}"),
    (
        "environment object",
        "pods/items/environment told/status/resources/limits: {'cpu': '500m', 'memory': '64Mi'} ≠ (absent)",
    ),
    ("environment object", "pods/items/environment told/status/resources/requests/cpu: 500m ≠ (absent)"),
    ("environment object", f"pods/items/environment told/{MANAGED}/f:resources/f:requests/f:cpu: {{}} ≠ (absent)"),
    (
        "environment object",
        f"pods/items/environment told/{MANAGED}/f:resources/f:limits: {{'.': {{}}, 'f:cpu': {{}}, 'f:memory': {{}}}} ≠ (absent)",
    ),
)
"""Each known difference of objects as it was once seen."""
WAYS = (
    ("Ready", "False ContainersNotReady", "True", "False ContainersNotReady"),
    ("containerStatuses/c/ready", "False", "True", "False"),
    ("containerStatuses/c/state", "waiting ContainerCreating", "running", "terminated Completed 0"),
)
"""And of ways: how it went; the real kubelet did not tell the last."""
TOLD = (
    (
        "node event",
        "theirs only: ('kubelet kubelet', 'Node', 'lifecycle-worker', 'Warning InvalidDiskCapacity', "
        "'invalid capacity 0 on image filesystem')",
    ),
)
LAST = tuple(
    (
        "static-pod-taken-away way",
        f"fleeting-lifecycle-worker {name}: ours {' → '.join(way)}, theirs {' → '.join(way[:-1])}",
    )
    for name, *way in WAYS
)


def test_every_known_difference_has_a_reason_and_was_seen() -> None:
    for known in KNOWN:
        assert known.reason
        assert any(excused(where, [line], (known,)) == [] for where, line in SEEN + LAST + TOLD), known.line


@pytest.mark.parametrize(("where", "line"), SEEN)
def test_what_is_known_is_not_excused_elsewhere_or_when_it_is_something_else(where: str, line: str) -> None:
    assert excused(where, [line]) == []
    assert excused("plain object", [line]) == [line]
    path, _, values = line.rpartition(": ")
    ours, _, theirs = values.partition(" ≠ ")
    tampered = [
        f"{path}: {ours} ≠ tampered",
        f"{path}: tampered ≠ {theirs}",
        f"{path}/more: {values}",
        f"{path}: {ours} ≠ {ours}" if "hash" not in path else f"{path}: {ours} ≠ (absent)",
        line.replace("told", "other")
        .replace("lifecycle-worker", "other/x")
        .replace("f:status/f:cond", "f:spec/f:cond"),
    ]
    assert excused(where, tampered) == tampered


def test_of_events_only_the_one_that_is_known_may_be_missing_in_ours() -> None:
    [(where, line)] = TOLD
    assert excused(where, [line]) == []
    tampered = [
        line.replace("theirs", "ours"),
        line.replace("Warning", "Normal"),
        line.replace("capacity 0", "capacity 1"),
        line.replace("'Node'", "'Pod'"),
    ]
    assert excused(where, tampered) == tampered
    assert excused("plain event", [line]) == [line]


@pytest.mark.parametrize(("name", "opening", "runs", "ended"), WAYS)
def test_only_the_last_word_of_a_pod_whose_manifest_is_gone_may_be_missing(
    name: str, opening: str, runs: str, ended: str
) -> None:
    where = "static-pod-taken-away way"

    def line(ours: list[str], theirs: list[str]) -> str:
        return f"fleeting-lifecycle-worker {name}: ours {' → '.join(ours)}, theirs {' → '.join(theirs)}"

    assert excused(where, [line([opening, runs, ended], [opening, runs]), line([opening, runs, ended], [runs])]) == []
    tampered = [
        line([opening, runs], [opening, runs, ended]),
        line([opening, runs, ended], [opening]),
        line([opening, runs, ended], [opening, "tampered"]),
        line([opening, runs, "tampered"], [opening, runs]),
        line([opening, runs, ended], [opening, runs]).replace("fleeting", "lasting"),
        line([opening, runs, ended], [opening, runs]).replace(name, "phase"),
    ]
    assert excused(where, tampered) == tampered
    assert excused("static-pod way", [line([opening, runs, ended], [opening, runs])]) != []


def test_a_difference_that_nobody_knows_of_is_told() -> None:
    known = (Known("plain object", "a: 1 ≠ 2", "because"),)
    assert excused("plain object", ["a: 1 ≠ 2", "a: 1 ≠ 3", "a: 1 ≠ 2 and more"], known) == [
        "a: 1 ≠ 3",
        "a: 1 ≠ 2 and more",
    ]


@pytest.mark.parametrize(
    ("ours", "theirs", "tells"),
    [
        (["Pending", "Running"], ["Pending", "Running"], False),
        (["Pending", "Running"], ["Running"], False),
        (["Running"], ["Pending", "Running"], False),
        (["waiting ContainerCreating", "running"], ["running"], False),
        (["Pending", "Running", "Succeeded"], ["Pending", "Succeeded"], True),
        (["Pending", "Running"], ["Pending"], True),
        (["Running", "Failed"], ["Failed"], True),
        (["waiting CrashLoopBackOff", "running"], ["running"], True),
        (["False PodFailed", "True"], ["True"], True),
        (["Pending", "Running"], [], True),
        (["Pending"], [], True),
        (["True", "False"], ["False", "True"], True),
    ],
)
def test_only_what_a_status_begins_with_may_be_passed_over(ours: list[str], theirs: list[str], tells: bool) -> None:
    assert bool(strayed({"web": {"phase": ours}}, {"web": {"phase": theirs}})) is tells


def test_a_pod_or_a_field_that_only_one_side_has_is_told() -> None:
    way = {"phase": ["Pending", "Running"]}
    assert strayed({"web": way}, {}) == ["web phase: ours Pending → Running, theirs "]
    assert strayed({"web": way | {"reason": [""]}}, {"web": way}) == ["web reason: ours , theirs "]


def status(phase: str, **container: Any) -> Object:
    conditions = [{"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "not yet"}]
    entry = {"name": "c", "ready": False, "started": False, "restartCount": 0, **container}
    return {"phase": phase, "conditions": conditions, "containerStatuses": [entry]}


def test_ways_are_read_from_the_answers_to_a_nodes_writes(tmp_path: Path) -> None:
    def event(verb: str, said: Object, namespace: str = "scene", subresource: str = "status") -> str:
        about = {"resource": "pods", "namespace": namespace, "name": "web", "subresource": subresource}
        answer = {"kind": "Pod", "metadata": {"name": "web"}, "status": said}
        return json.dumps({"verb": verb, "objectRef": about, "responseObject": answer})

    waiting, running = {"waiting": {"reason": "ContainerCreating"}}, {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
    ended = {"terminated": {"exitCode": 3, "reason": "Error"}}
    log = tmp_path / "audit.log"
    lines = [
        event("patch", status("Pending", state=waiting)),
        event("patch", status("Running", state=running, started=True)),
        event("patch", status("Running", state=running, started=True)),
        event("patch", status("Failed", state=ended, restartCount=1)),
        event("delete", status("Failed", state=ended, restartCount=1), subresource=""),
        event("patch", status("Pending", state=waiting), namespace="elsewhere"),
    ]
    log.write_text("\n".join(lines))
    way = ways(log, "scene")["web"]
    assert way["phase"] == ["Pending", "Running", "Failed"]
    assert way["write"] == ["patch status", "delete"]
    assert way["Ready"] == ["False ContainersNotReady"]
    assert way["containerStatuses/c/state"] == ["waiting ContainerCreating", "running", "terminated Error 3"]
    assert way["containerStatuses/c/restartCount"] == ["0", "1"]
