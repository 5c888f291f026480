"""Answers to labs/deployments.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake


def your_template(template):
    labels = {
        key: value
        for key, value in template["metadata"]["labels"].items()
        if key != "pod-template-hash"
    }
    return {**template, "metadata": {**template["metadata"], "labels": labels}}


def the_whole_template(template):
    return template


your_new_sets = {
    "five replicas": False,
    "another strategy": False,
    "an annotation on the pods": True,
    "an empty list of commands": False,
    "the image by its full name": True,
}
your_limits = {
    ("25%", "25%", 3): (3, 4),
    ("25%", "25%", 10): (8, 13),
    (0, "10%", 5): (4, 5),
    (1, 0, 1): (1, 2),
    ("100%", "100%", 4): (0, 8),
}
your_pause = {"pods while paused": 4, "replica sets in the end": 2}
your_history = {"image": "nginx:1.27", "revisions": [1, 4, 5]}
your_seconds = {"nothing happens": 31, "a pod more at 20": 51}

MISTAKES = [
    Mistake(
        "template",
        the_whole_template,
        "One of the pods' labels was not there yet when the hash was computed.",
        seen=lambda hashes: len(hashes) > 0,
    ),
    Mistake(
        "new_sets",
        {"five replicas": True},
        "How many pods there are is the ReplicaSet's size, not its template.",
    ),
    Mistake(
        "new_sets",
        {"an empty list of commands": True},
        "An empty list is stored like no list at all.",
    ),
    Mistake(
        "new_sets",
        {"the image by its full name": False},
        "It is the same image, but another text, and nobody looks behind the text.",
    ),
    Mistake(
        "new_sets",
        {"an annotation on the pods": False},
        "The pods' annotations are part of the template, as everything in it is.",
    ),
    Mistake(
        "limits",
        {(0, "10%", 5): (5, 5)},
        "At least five and at most five: how should such a rollout ever begin?",
    ),
    Mistake(
        "limits",
        {("25%", "25%", 10): (7, 12)},
        "Of the surge the fraction counts as a whole pod, of the unavailable it does"
        " not count.",
    ),
    Mistake(
        "limits",
        {("25%", "25%", 3): (2, 4)},
        "A quarter of three is less than one pod: rounded down, none may be missing.",
    ),
    Mistake(
        "pause",
        {"pods while paused": 2},
        "Pausing holds back templates. A size is no template.",
    ),
    Mistake(
        "pause",
        {"replica sets in the end": 3},
        "The first of the two images was never rolled out: only the last one counts"
        " when it goes on.",
    ),
    Mistake(
        "history",
        {"image": "nginx:1.25"},
        "The second undo does not go further back: it undoes the first.",
    ),
    Mistake(
        "history",
        {"revisions": [1, 2, 3]},
        "A set that is used again gets a new number, and its old one disappears.",
    ),
    Mistake(
        "history",
        {"revisions": [1, 2, 3, 4, 5]},
        "There are three ReplicaSets, and each has one number, its latest.",
    ),
    Mistake(
        "seconds",
        {"a pod more at 20": 31},
        "A pod that becomes available is progress, and the clock begins anew.",
    ),
    Mistake(
        "seconds",
        {"nothing happens": 600},
        "Ten minutes are the default. This one was given 30 seconds.",
    ),
]
