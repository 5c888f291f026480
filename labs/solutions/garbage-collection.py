"""Answers to labs/garbage-collection.ipynb, and words for common mistakes. Look here
last.
"""

from lifecycle.exercises.lab import Mistake

your_dead = {"nginx": 0, "crashing": 1, "job": 1, "after the deletion": 0}
your_amounts = {
    "100 GiB taken": 0,
    "168 GiB taken": 0,
    "169 GiB taken": 9,
    "180 GiB taken": 20,
    "200 GiB taken": 40,
}
your_marks = {"high 70": False, "high 95": True, "low 70": True, "low 90": False}
your_order = ["busybox", "nginx:1.25", "nginx:1.26"]


def your_leftovers(dead, each, gone):
    leftovers = []
    for (pod, _), runs in dead.items():
        keep = 0 if pod in gone else each
        if keep >= 0:
            leftovers += runs[keep:]
    return leftovers


def of_gone_pods_as_well(dead, each, gone):
    if each < 0:
        return []
    return [run for runs in dead.values() for run in runs[each:]]


def minus_one_is_a_place(dead, each, gone):
    leftovers = []
    for (pod, _), runs in dead.items():
        leftovers += runs[0 if pod in gone else each :]
    return leftovers


def keeps_the_oldest(dead, each, gone):
    leftovers = []
    for (pod, _), runs in dead.items():
        keep = 0 if pod in gone else each
        if keep >= 0:
            leftovers += runs[: max(len(runs) - keep, 0)]
    return leftovers


MISTAKES = [
    Mistake(
        "dead",
        {"crashing": 5},
        "Around each restart its older remains go: only the last one is kept.",
        seen=lambda said: said["crashing"] > 1,
    ),
    Mistake(
        "dead",
        {"job": 0},
        "Its pod is still there, and somebody may want to read its log.",
    ),
    Mistake(
        "dead",
        {"after the deletion": 3},
        "With the pod everything goes, logs included.",
        seen=lambda said: said["after the deletion"] > 0,
    ),
    Mistake(
        "amounts",
        {"169 GiB taken": 0},
        "31 of 200 are 15.5 percent, which count as 15: so 85 are taken.",
    ),
    Mistake(
        "amounts",
        {"180 GiB taken": 10, "200 GiB taken": 30},
        "The high mark says when. It goes on down to the low one.",
    ),
    Mistake(
        "marks",
        {"high 70": True},
        "The low one is still at 80, which would be above it.",
    ),
    Mistake(
        "marks",
        {"low 90": True},
        "The high one is still at 85: it would begin below where it stops.",
    ),
    Mistake(
        "order",
        ["nginx:1.25", "nginx:1.26", "busybox"],
        "An image that was never seen in use goes before all others.",
    ),
    Mistake(
        "order",
        {2: "nginx:1.28"},
        "It came a minute ago. A pod may be just about to use it.",
    ),
    Mistake(
        "order",
        {2: "nginx:1.27"},
        "A dead container is made of it, and will be started from it again.",
    ),
    Mistake(
        "leftovers",
        keeps_the_oldest,
        "The newest is worth most: it has the log that people ask for.",
        seen=lambda said: "nginx 3" in said["1 of each, 4 dead, nobody gone"],
    ),
    Mistake(
        "leftovers",
        minus_one_is_a_place,
        "-1 is no place in the list: it means that all stay.",
        seen=lambda said: said["-1 of each, 4 dead, nobody gone"] != [],
    ),
    Mistake(
        "leftovers",
        of_gone_pods_as_well,
        "Nothing is kept of a pod that is gone.",
        seen=lambda said: "job 1" not in said["3 of each, 1 dead, job gone"],
    ),
]
