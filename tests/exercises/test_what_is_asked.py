"""What a reader is promised: names, contracts that fit their starters, and how many questions of each kind there are."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from lifecycle.exercises.catalogue import EXERCISES, find_exercise
from lifecycle.exercises.exercise import Exercise

ASKED: dict[str, tuple[str, tuple[str, ...], dict[str, int]]] = {
    "kubeconfig-merge": (
        "Merging kubeconfig files", ("kubeconfig",), {"2 files": 57, "1 file": 48, "3 files": 15, "paths": 2, "preferences": 2},
    ),
    "rbac": (
        "Role-based access control", ("authz",),
        {
            **dict.fromkeys(
                (
                    "system:serviceaccount:default:default", "system:serviceaccount:kube-system:deployment-controller",
                    "system:serviceaccount:kube-system:replicaset-controller", "system:kube-scheduler",
                    "system:kube-controller-manager", "system:kube-proxy", "jane", "kubernetes-admin", "system:anonymous",
                    "rec-editor", "rec-viewer",
                ),
                224,
            ),
            "a small policy": 168,
        },
    ),
    "request-info": (
        "What a request means", ("handler-chain",),
        {
            "recorded: create": 25, "recorded: get": 22, "recorded: watch": 9, "recorded: list": 45, "recorded: update": 9,
            "recorded: patch": 19, "recorded: delete": 22, "recorded: deletecollection": 30, "made up": 176, "no resource": 18,
        },
    ),
    "merge-patch": ("A merge patch", ("resource-handling",), {"one rule": 16, "generated": 300}),
    "etcd-keys": ("Keys in etcd", ("keys",), {"recorded": 417, "each resource": 100, "custom resources": 8}),
    "informer-store": (
        "The store under an informer", ("informer", "indexer"),
        {
            "events only": 23, "a list in between": 5, "what was never there is deleted": 1,
            "an object moves from one value to another": 4, "several objects under a value, several values of an object": 4,
            "one name in two namespaces, and in none": 4,
        },
    ),
    "rolling-arithmetic": (
        "The arithmetic of a rolling update", ("rolling-update", "rolling"),
        {"the recorded rollouts": 20, "sizes and percentages": 448, "several old sets": 24},
    ),
    "slow-start": (
        "Slow start", (),
        {"every create succeeds": 30, "one create fails": 72, "every create fails": 30, "some creates take longer": 27},
    ),
    "pods-to-delete": ("Which pods go first", ("victims", "scale-down"), {"one rule": 54, "a crowd": 120}),
    "scheduler-score": (
        "A score of the scheduler", ("score", "least-allocated"),
        {"the recorded scores": 26, "a grid of requests": 48, "corners": 9},
    ),
    "pod-cgroups": (
        "A pod's class and its cgroup", ("pod-sync", "qos"),
        {"made up, containers": 162, "made up, init": 162, "recorded pods": 64},
    ),
    "pod-phase": (
        "The phase of a pod", ("phase", "phase-computation"),
        {"the recorded pods": 180, "containers in all states": 900, "a sidecar": 60, "nobody speaks of a container": 18},
    ),
    "host-local": (
        "Addresses for pods", ("ipam", "host-local-ipam"),
        dict.fromkeys(("a small subnet", "a pod subnet", "part of a subnet", "another gateway", "two ranges", "IPv6"), 7),
    ),
    "endpoint-conditions": (
        "A pod behind a Service", ("services", "endpoints"), {"made up": 160, "recorded pods": 8},
    ),
    "iptables-chains": (
        "The names of kube-proxy's chains", ("iptables",),
        {"KUBE-SVC": 21, "KUBE-SEP": 48, "KUBE-EXT": 10, "KUBE-SVL": 7, "KUBE-FW": 6},
    ),
    "dns-records": (
        "Cluster DNS", ("dns",), {"A": 22, "AAAA": 14, "SRV": 16, "TXT": 1, "PTR": 2, "a small cluster": 34},
    ),
}  # fmt: skip


def test_the_exercises_come_in_the_order_of_the_book() -> None:
    assert [exercise.stage for exercise in EXERCISES] == list(ASKED)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.stage)
def test_so_many_questions_of_each_kind(exercise: Exercise) -> None:
    title, aliases, groups = ASKED[exercise.stage]
    assert (exercise.title, exercise.aliases) == (title, aliases)
    cases = list(exercise.cases())
    assert Counter(case.group for case in cases) == groups
    assert list(dict.fromkeys(case.group for case in cases)) == list(groups)
    assert [(case.label, case.expected) for case in exercise.cases()] == [(case.label, case.expected) for case in cases]
    for name in (exercise.stage, *aliases):
        assert find_exercise(name.upper().replace("-", "_")) is exercise


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.stage)
def test_the_starter_defines_what_the_contract_calls(exercise: Exercise) -> None:
    """Name and parameters of the contract's first line are those of the starter's last definition."""
    call = re.match(r"(async )?(\w+)\(([^)]*)\)", exercise.contract)
    assert call is not None
    defined = ast.parse(exercise.starter).body[-1]
    assert isinstance(defined, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    made = (
        next(one for one in defined.body if isinstance(one, ast.FunctionDef) and one.name == "__init__")
        if isinstance(defined, ast.ClassDef)
        else defined
    )
    parameters = [argument.arg for argument in made.args.args if argument.arg != "self"]
    assert (defined.name, parameters) == (call[2], call[3].split(", "))
    assert isinstance(defined, ast.AsyncFunctionDef) == (call[1] is not None)
    assert all(len(line) <= 88 for line in exercise.contract.splitlines())
