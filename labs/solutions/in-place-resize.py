"""Answers to labs/in-place-resize.ipynb, and words for common mistakes. Look here
last.
"""

from lifecycle.exercises.lab import Mistake

your_door = {
    "more CPU, by the pod": "refused",
    "more CPU, by resize": "done",
    "another image, by the pod": "done",
    "another image, by resize": "ignored",
    "a label, by resize": "ignored",
    "limits like requests": "refused",
    "no memory any more": "refused",
}
your_counts = {
    "at rest": 300,
    "wants more": 800,
    "promised": 800,
    "wants the moon": 800,
    "wants less": 800,
    "nearly there": 800,
}


def your_resized(known, after):
    if [c["name"] for c in known] != [c["name"] for c in after]:
        return after
    fields = ("resources", "resizePolicy")
    return [
        {key: value for key, value in old.items() if key not in fields}
        | {key: new[key] for key in fields if key in new}
        for old, new in zip(known, after)
    ]


def only_resources(known, after):
    if [c["name"] for c in known] != [c["name"] for c in after]:
        return after
    return [
        {key: value for key, value in old.items() if key != "resources"}
        | {key: new[key] for key in ("resources",) if key in new}
        for old, new in zip(known, after)
    ]


def nothing_goes(known, after):
    if [c["name"] for c in known] != [c["name"] for c in after]:
        return after
    fields = ("resources", "resizePolicy")
    return [
        {**old, **{key: new[key] for key in fields if key in new}}
        for old, new in zip(known, after)
    ]


def by_name(known, after):
    sent = {container["name"]: container for container in after}
    fields = ("resources", "resizePolicy")
    containers = []
    for old in known:
        new = sent.get(old["name"], old)
        rest = {key: value for key, value in old.items() if key not in fields}
        containers.append(rest | {key: new[key] for key in fields if key in new})
    return containers


MISTAKES = [
    Mistake(
        "door",
        {"more CPU, by the pod": "done"},
        "That door is closed for these numbers; it is why there is another one.",
    ),
    Mistake(
        "door",
        {"another image, by resize": "refused"},
        "It is not checked but never read: 200 OK, and nothing has changed.",
    ),
    Mistake(
        "door",
        {"limits like requests": "done"},
        "The pod would be *Guaranteed* then, and its place among the cgroups another.",
    ),
    Mistake(
        "door",
        {"another image, by the pod": "refused"},
        "An image is one of the few things that may be changed by the ordinary door.",
    ),
    Mistake(
        "counts",
        {"wants more": 300},
        "It counts with more at once, before anything is promised.",
    ),
    Mistake(
        "counts",
        {"wants the moon": 64100},
        "That wish is never granted, so it does not count.",
    ),
    Mistake(
        "counts",
        {"wants less": 200, "nearly there": 200},
        "As long as it is in force, nobody else can have it.",
    ),
    Mistake(
        "resized",
        only_resources,
        "Whether a container has to be restarted for it belongs to a resize, too.",
        seen=lambda said: "resizePolicy" not in said["a policy"][0],
    ),
    Mistake(
        "resized",
        by_name,
        "Containers that have changed places are not a resize: hand them on.",
        seen=lambda said: said["other places"][0]["name"] != "log",
    ),
    Mistake(
        "resized",
        nothing_goes,
        "A field that was taken away has to be missing. Then validation can complain.",
        seen=lambda said: "resources" in said["resources less"][0],
    ),
]
