"""Answers to labs/replica-sets-and-ownership.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_way_up = ["Pod", "ReplicaSet", "Deployment"]
your_batches = {"batches": 7, "in the last": 37, "sent if the 20th fails": 31}
your_victims = ["precious-but-not-ready", "cheap"]
your_requests = ["kubectl DELETE", "replicaset-controller POST", "kubelet DELETE"]
your_left = {
    "nothing deleted": {"chicken", "egg"},
    "Background": set(),
    "Orphan": {"egg"},
    "Foreground": set(),
}

MISTAKES = [
    Mistake(
        "way_up",
        ["Pod", "Deployment"],
        "A Deployment makes no pods itself: somebody stands between them.",
        seen=lambda kinds: kinds == ["Pod", "Deployment"],
    ),
    Mistake(
        "batches",
        {"in the last": 64},
        "Sixty-three have been sent before it. How many are left?",
    ),
    Mistake(
        "batches",
        {"sent if the 20th fails": 20},
        "The 20th is in a batch of sixteen, and the whole batch is sent at once.",
    ),
    Mistake(
        "victims",
        {0: "cheap", 1: "precious-but-not-ready"},
        "Both have to go, but not being ready comes before any cost.",
    ),
    Mistake(
        "victims",
        {0: "precious-but-not-ready", 1: "old-but-crashing"},
        "The cost is looked at before the restarts.",
    ),
    Mistake(
        "victims",
        {0: "cheap", 1: "fresh"},
        "A cost of a thousand does not help a pod that is not ready.",
    ),
    Mistake(
        "requests",
        {1: "kubelet DELETE", 2: "replicaset-controller POST"},
        "The controller does not wait for the kubelet: the pod counts no longer.",
    ),
    Mistake(
        "left",
        {"nothing deleted": set()},
        "Each has an owner that exists, so each may stay.",
    ),
    Mistake(
        "left",
        {"Orphan": {"chicken", "egg"}},
        "`chicken` was deleted. Only its dependent is spared.",
    ),
    Mistake(
        "left",
        {"Foreground": {"chicken", "egg"}},
        "That would be so if the collector did not look for circles.",
    ),
]
