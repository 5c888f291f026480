"""What a reader is promised: names, contracts that fit their starters, and how many questions of each kind there are."""

from __future__ import annotations

import ast
import re
from collections import Counter

import pytest

from lifecycle.exercises.catalogue import EXERCISES, find_exercise
from lifecycle.exercises.exercise import Exercise

ASKED: dict[str, tuple[str, tuple[str, ...], dict[str, int]]] = {
    "create-deployment": (
        "The form of create deployment", ("generators", "validation-and-generators"),
        {"images": 52, "names": 6},
    ),
    "resource-words": (
        "What a word means", ("discovery", "groups-versions-and-discovery", "rest-mapper"),
        {"the recorded list": 260, "with rivals": 113},
    ),
    "three-way-merge": (
        "The patch of an apply", ("openapi", "apply"),
        {"one rule": 14, "generated": 200},
    ),
    "kubeconfig-merge": (
        "Merging kubeconfig files", ("kubeconfig",), {"1 file": 45, "2 files": 54, "3 files": 21, "paths": 2, "preferences": 2},
    ),
    "token-bucket": (
        "The client's allowance", ("the-request-on-the-wire", "throttling"),
        {"one rule": 12, "at random": 60},
    ),
    "request-info": (
        "What a request means", ("handler-chain",),
        {
            "recorded: create": 25, "recorded: get": 22, "recorded: watch": 9, "recorded: list": 45, "recorded: update": 9,
            "recorded: patch": 19, "recorded: delete": 22, "recorded: deletecollection": 30, "made up": 176, "no resource": 18,
        },
    ),
    "service-account-token": (
        "Whose token it is", ("authentication", "token"),
        {
            "times": 11, "audiences": 10, "no object": 25, "a pod": 25, "a pod and its node": 25, "a node": 25,
            "a secret": 25,
        },
    ),
    "audit-policy": (
        "An audit policy", ("auditing", "audit"),
        {"who": 48, "what": 48, "where": 48, "no rule": 48, "everything": 48, "recorded requests": 130},
    ),
    "flow-schemas": (
        "In which queue a request waits", ("priority-and-fairness", "flow-control"),
        {"the recorded schemas": 135, "schemas of our own": 135, "the recorded requests": 132},
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
    "front-proxy-headers": (
        "What an added server gets to know", ("aggregation", "front-proxy"),
        {
            "nothing": 4, "an honest client": 4, "a connection's headers": 4, "a forged name": 4, "forged groups": 4,
            "a forged extra": 4, "several values": 4, "audit": 4,
        },
    ),
    "webhook-rules": (
        "Is the webhook asked?", ("admission", "webhooks"),
        {
            "pods": 25, "pods, created or changed": 25, "pods and all that they have": 25, "status and logs": 25,
            "the scale of everything": 25, "all without subresources": 25, "everything": 25, "the core": 25,
            "apps": 25, "apps, another version": 25, "what lies in a namespace": 25, "what lies in none": 25,
            "any scope": 25, "two rules": 25, "no rules": 25, "rules that do not add up": 25,
        },
    ),
    "merge-patch": ("A merge patch", ("resource-handling",), {"one rule": 16, "generated": 300}),
    "field-owners": (
        "Whose field it is", ("field-ownership", "server-side-apply"),
        {"one rule": 12, "a crowd": 150},
    ),
    "event-versions": (
        "An Event in two versions", ("versions-and-conversion", "conversion"),
        {"recorded as v1": 44, "made up as v1": 60, "made up as events.k8s.io∕v1": 62},
    ),
    "etcd-keys": ("Keys in etcd", ("keys",), {"recorded": 417, "each resource": 100, "custom resources": 8}),
    "watch-events": (
        "What a watch tells", ("the-watch-cache", "watch-cache"),
        {"one life": 14, "a short memory": 3, "a crowd": 300},
    ),
    "initializers": (
        "Who has to look first", ("initializers-then-and-now",),
        {"one rule": 48, "at random": 40},
    ),
    "informer-store": (
        "The store under an informer", ("informer", "indexer"),
        {
            "events only": 23, "a list in between": 5, "what was never there is deleted": 1,
            "an object moves from one value to another": 4, "several objects under a value, several values of an object": 4,
            "one name in two namespaces, and in none": 4,
        },
    ),
    "leader-election": (
        "May I lead?", ("the-controller-manager", "lease"),
        {
            "nobody yet": 1, "held by one": 9, "held by two": 9, "held by nobody": 9, "another duration": 27,
            "something missing, dates wrong": 30,
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
    "scheduling-queue": (
        "The scheduling queue", ("queue",),
        {"one rule": 14, "lives": 8},
    ),
    "binding": (
        "A binding", ("bind",),
        {
            "waiting": 35, "taken": 35, "taken by the same": 35, "gated": 35, "gated no more": 35,
            "taken and gated": 35,
        },
    ),
    "pod-news": (
        "What of a list of pods is news", ("pod-sync", "pod-sources"),
        {"statuses": 8, "wishes": 8, "ends": 8, "anything": 8},
    ),
    "pleg-relist": (
        "What has changed since the last look", ("pleg",),
        {"a quiet node": 5, "a busy node": 5, "nothing stays": 5, "containers come": 5, "containers go": 5},
    ),
    "probe-results": (
        "When a probe's answer counts", ("probes",),
        {"readiness": 15, "liveness": 12, "startup": 12},
    ),
    "pod-cgroups": (
        "A pod's class and its cgroup", ("admission-and-cgroups", "qos"),
        {"made up, containers": 162, "made up, init": 162, "recorded pods": 64},
    ),
    "atomic-volume": (
        "Files replaced under a reader's eyes", ("volumes", "atomic-writer"),
        {"all at once": 2, "nothing new": 2, "names": 4, "anything": 2},
    ),
    "pull-credentials": (
        "Passwords for an image", ("image-pull-secrets", "keyring"),
        {"one entry": 238, "all of them": 14, "some of them": 84},
    ),
    "pod-phase": (
        "The phase of a pod", ("phase", "phase-computation"),
        {"the recorded pods": 180, "containers in all states": 900, "a sidecar": 60, "nobody speaks of a container": 18},
    ),
    "container-namespaces": (
        "Who shares what in a pod", ("cri-and-pause", "namespaces"),
        {"a container of its own": 72, "with a target": 72},
    ),
    "host-local": (
        "Addresses for pods", ("ipam", "host-local-ipam"),
        dict.fromkeys(("a small subnet", "a pod subnet", "part of a subnet", "another gateway", "two ranges", "IPv6"), 7),
    ),
    "node-cidrs": (
        "A piece of the addresses for every node", ("inter-host-networking", "node-ipam"),
        {"kind's range": 6, "a small cluster": 6, "four pieces": 6, "one piece": 6, "wide pieces": 6},
    ),
    "container-actions": (
        "What to do with a pod's containers", ("container-startup", "pod-actions"),
        {"no sandbox": 6, "one container": 33, "two, sandbox ready": 147, "two, sandbox dead": 48},
    ),
    "container-end": (
        "The end of a container", ("hooks-and-the-end-of-a-container", "grace-period"),
        {"just deleted": 88, "condemned by liveness": 88, "condemned by startup": 88},
    ),
    "cpu-assignment": (
        "Whole sockets, whole cores, single CPUs", ("cpu-manager",),
        {
            "one socket, empty": 10, "one socket, one whole": 6, "one socket, in use": 12, "two sockets, empty": 18,
            "two sockets, one whole": 6, "two sockets, in use": 12, "no threads, empty": 8,
            "no threads, one whole": 6, "no threads, in use": 12,
        },
    ),
    "resize-counting": (
        "A pod that is being resized", ("in-place-resize",),
        {"one container": 81, "two containers": 27, "little is told": 15, "another condition": 3},
    ),
    "image-gc": (
        "Which images go", ("garbage-collection",),
        {"room enough": 12, "near the mark": 12, "filling": 12, "nearly full": 12, "on the mark": 9},
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
    "journey-thread": (
        "The thread of a journey", ("the-whole-journey", "journey"),
        {"one rule": 12, "clusters": 60},
    ),
    "milestones": (
        "Six moments of a journey", ("moments",),
        {"our spans": 18, "an audit log": 18},
    ),
    "claim-verdicts": (
        "Does the witness contradict?", ("what-still-holds", "claims"),
        {"holds": 42, "changed": 42, "removed": 42, "wrong-from-the-start": 42, "partly": 42},
    ),
    "feasible-nodes": (
        "How many nodes are enough", ("at-scale",),
        {"no percentage": 23, "a percentage": 105, "at random": 60},
    ),
    "pod-start-sli": (
        "The clock behind the promise", ("startup-latency",),
        {"nginx alone": 10, "with init containers": 10, "with volumes": 10, "not yet": 10, "anything": 10},
    ),
    "renaming": (
        "The same story with other names", ("against-your-own-cluster", "bijection"),
        {"the same story": 8, "nearly": 8, "another story": 8},
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
    assert (defined.name, ", ".join(parameters)) == (call[2], call[3])
    assert isinstance(defined, ast.AsyncFunctionDef) == (call[1] is not None)
    assert all(len(line) <= 88 for line in exercise.contract.splitlines())
