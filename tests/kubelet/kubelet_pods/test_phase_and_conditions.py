"""Phase and conditions computed from the recorded container statuses, against those the real kubelet wrote beside them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from lifecycle.api.pods.pod_util import is_pod_phase_terminal
from lifecycle.api.pods.qos import compute_pod_qos
from lifecycle.kubelet.kubelet_pods.phase import get_phase
from lifecycle.kubelet.status.generate import containers_ready, initialized, ready
from tests.conftest import RECORDINGS

CLUSTERS = ("kind-1.36.2", "kind-1.36.2-again")
SCENARIOS = ("journey", "kubelet", "scheduling", "services", "objects")


def recorded_pods(cluster: str) -> Iterator[dict[str, Any]]:
    """Every pod object of the recording, each state once."""
    seen = set()
    for scenario in SCENARIOS:
        for folder in ("watch", "http"):
            path = RECORDINGS / cluster / folder / f"{scenario}.jsonl"
            if not path.exists():
                continue
            with path.open() as lines:
                for line in lines:
                    if '"containerStatuses"' not in line:
                        continue
                    entry = json.loads(line)
                    top = entry["event"]["object"] if folder == "watch" else entry["response"]
                    if not isinstance(top, dict):
                        continue
                    for pod in top.get("items") or [top]:
                        if "containerStatuses" not in (pod.get("status") or {}):
                            continue
                        key = (pod["metadata"]["uid"], pod["metadata"]["resourceVersion"])
                        if key not in seen:
                            seen.add(key)
                            yield pod


def ran(status: dict[str, Any]) -> bool:
    return "containerID" in status


def spec_as_seen(pod: dict[str, Any]) -> dict[str, Any]:
    return dict(pod["spec"])


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_phase_and_conditions_are_the_recorded_ones(cluster: str) -> None:
    outcomes: Counter[str] = Counter()
    for pod in recorded_pods(cluster):
        status, spec = pod["status"], pod["spec"]
        statuses, init = status["containerStatuses"], status.get("initContainerStatuses") or []
        recorded = {c["type"]: c for c in status["conditions"]}
        if status.get("reason") == "DeadlineExceeded" or spec.get("activeDeadlineSeconds"):
            outcomes["ended by the kubelet"] += 1  # not to be seen in the containers
            continue
        phase = get_phase(spec, [*init, *statuses], is_pod_phase_terminal(status["phase"]))
        if is_pod_phase_terminal(phase) and not is_pod_phase_terminal(status["phase"]):
            outcomes["terminal phase held back"] += 1  # merge_pod_status: containers may still be running
        else:
            assert phase == status["phase"], pod["metadata"]["name"]
            outcomes["phase"] += 1
        made = containers_ready(spec, statuses, init, phase)
        computed = {
            "Initialized": initialized(spec, init, any(ran(s) for s in statuses), phase),
            "ContainersReady": made,
            "Ready": ready(spec, status["conditions"], made),
        }
        for kind, condition in computed.items():
            for field in ("status", "reason", "message"):
                assert condition.get(field) == recorded[kind].get(field), (pod["metadata"]["name"], kind)
            outcomes["conditions"] += 1
    assert outcomes["phase"] > 100
    assert outcomes["conditions"] > 300


@pytest.mark.parametrize("cluster", CLUSTERS)
def test_qos_class_is_the_recorded_one(cluster: str) -> None:
    classes = Counter()
    for pod in recorded_pods(cluster):
        assert compute_pod_qos(pod) == pod["status"]["qosClass"], pod["metadata"]["name"]
        classes[pod["status"]["qosClass"]] += 1
    assert set(classes) == {"BestEffort", "Burstable", "Guaranteed"}


def waiting(name: str, last_exit: int | None = None) -> dict[str, Any]:
    last = {} if last_exit is None else {"terminated": {"exitCode": last_exit}}
    return {"name": name, "state": {"waiting": {"reason": "x"}}, "lastState": last}


def running(name: str) -> dict[str, Any]:
    return {"name": name, "state": {"running": {}}, "lastState": {}, "started": True}


def ended(name: str, code: int) -> dict[str, Any]:
    return {"name": name, "state": {"terminated": {"exitCode": code}}, "lastState": {}}


TABLE = [
    # restart policy, statuses of containers a and b, terminal, phase
    ("Always", [waiting("a"), waiting("b")], False, "Pending"),
    ("Always", [running("a"), waiting("b")], False, "Pending"),
    ("Always", [running("a"), waiting("b", 1)], False, "Running"),
    ("Always", [running("a"), running("b")], False, "Running"),
    ("Always", [ended("a", 0), ended("b", 1)], False, "Running"),
    ("OnFailure", [ended("a", 0), ended("b", 0)], False, "Succeeded"),
    ("OnFailure", [ended("a", 0), ended("b", 1)], False, "Running"),
    ("Never", [ended("a", 0), ended("b", 1)], False, "Failed"),
    ("Never", [running("a"), ended("b", 1)], False, "Running"),
    ("Always", [ended("a", 0), ended("b", 0)], True, "Succeeded"),
    ("Always", [ended("a", 0), ended("b", 137)], True, "Failed"),
    ("Always", [running("a")], False, "Pending"),
]


@pytest.mark.parametrize(("policy", "statuses", "terminal", "phase"), TABLE)
def test_phase(policy: str, statuses: list[dict[str, Any]], terminal: bool, phase: str) -> None:
    spec = {"restartPolicy": policy, "containers": [{"name": "a"}, {"name": "b"}]}
    assert get_phase(spec, statuses, terminal) == phase
