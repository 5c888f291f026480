"""Answers to labs/the-whole-journey.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_order = [
    "kubectl",
    "apiserver",
    "etcd",
    "deployment-controller",
    "replicaset-controller",
    "scheduler",
    "kubelet",
    "watch",
]
your_stages = [
    "authentication",
    "flow control",
    "authorization",
    "decode",
    "mutating admission",
    "validation",
    "validating admission",
    "storage",
]
your_numbers = {"pods": 3, "bind": 3, "run_pod_sandbox": 3, "start": 3}
your_missing = {"deployment-controller", "replicaset-controller"}
your_standstill = {"phase": "Pending", "pods that a kubelet knows": 0}

MISTAKES = [
    Mistake(
        "order",
        {3: "scheduler", 4: "deployment-controller", 5: "replicaset-controller"},
        "When the scheduler begins there must be pods. Who makes them?",
    ),
    Mistake(
        "order",
        {1: "etcd", 2: "apiserver"},
        "Nobody but the API server talks to etcd.",
    ),
    Mistake(
        "stages",
        {4: "validation", 5: "mutating admission"},
        "A mutation may spoil something: validation comes afterwards.",
    ),
    Mistake(
        "stages",
        {1: "authorization", 2: "flow control"},
        "Flow control needs to know who asks, and spares authorization the work.",
    ),
    Mistake(
        "stages",
        {2: "decode", 3: "authorization"},
        "Authorization does not read the body.",
    ),
    Mistake(
        "numbers",
        {"start": 6},
        "The pause container belongs to the sandbox: the kubelet does not start it.",
    ),
    Mistake(
        "missing",
        {"deployment-controller"},
        "Without a Deployment there is no ReplicaSet either.",
    ),
    Mistake(
        "missing",
        {"deployment-controller", "replicaset-controller", "scheduler"},
        "A pod has to be placed, wherever it comes from.",
    ),
    Mistake(
        "standstill",
        {"phase": "Running"},
        "Without a node, none of its containers can run.",
    ),
    Mistake(
        "standstill",
        {"pods that a kubelet knows": 3},
        "No pod bears the name of a node, so no kubelet hears of one.",
    ),
]
