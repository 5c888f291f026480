"""Answers to labs/what-still-holds.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_verdicts = {
    "run --replicas": ("removed", "removed"),
    "create deployment": ("holds", "holds"),
    "--generator": ("removed", "removed"),
    "--expose": ("holds", "holds"),
    "fail fast": ("holds", "holds"),
    "bad image": ("partly", "partly"),
}
your_witnesses = {"bad image": "both seen", "run --replicas": "seen not to hold"}


def your_check(pods):
    if not pods:
        return None
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or []
        sets = [o for o in owners if o.get("controller") and o["kind"] == "ReplicaSet"]
        if not sets or not pod["metadata"]["name"].startswith(sets[0]["name"] + "-"):
            return False
    return True


def the_deployment_is_enough(pods):
    if not pods:
        return None
    return all(pod["metadata"]["name"].startswith("nginx-") for pod in pods)


def nothing_is_true_of_nobody(pods):
    for pod in pods:
        owners = pod["metadata"].get("ownerReferences") or []
        sets = [o for o in owners if o.get("controller") and o["kind"] == "ReplicaSet"]
        if not sets or not pod["metadata"]["name"].startswith(sets[0]["name"] + "-"):
            return False
    return True


your_right_worlds = 2

MISTAKES = [
    Mistake(
        "verdicts",
        {"run --replicas": ("holds", "removed")},
        "`run` makes one pod since 1.18. What 1.20 still takes has no effect.",
    ),
    Mistake(
        "verdicts",
        {"bad image": ("holds", "holds")},
        "Look at the command: `run` reads the image, `create deployment` does not.",
    ),
    Mistake(
        "verdicts",
        {"--generator": ("holds", "removed")},
        "It has had no effect since 1.18, when `run` lost all kinds but one.",
    ),
    Mistake(
        "witnesses",
        {"bad image": "seen"},
        "It was seen with one command, and the opposite with another.",
    ),
    Mistake(
        "witnesses",
        {"run --replicas": "seen"},
        "The flag was shown to it, and it made no three copies.",
    ),
    Mistake(
        "check",
        the_deployment_is_enough,
        "A pod with the Deployment's name need not be named after its ReplicaSet.",
        seen=lambda said: said["one is called nginx-1"] is True,
    ),
    Mistake(
        "check",
        nothing_is_true_of_nobody,
        "Where there are no pods nothing was seen: `None`.",
        seen=lambda said: said["no pods"] is not None,
    ),
    Mistake(
        "right_worlds",
        6,
        "It says True in all of them. In how many is it true?",
    ),
]
