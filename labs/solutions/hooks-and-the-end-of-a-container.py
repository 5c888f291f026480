"""Answers to labs/hooks-and-the-end-of-a-container.ipynb, and words for common
mistakes. Look here last.
"""

from lifecycle.exercises.lab import Mistake

your_ends = {
    "nginx": {"asked": 0, "over": 0, "code": 0},
    "drains": {"asked": 4, "over": 4, "code": 0},
    "deaf": {"asked": 0, "over": 10, "code": 137},
    "both": {"asked": 4, "over": 10, "code": 137},
    "dawdles": {"asked": 10, "over": 12, "code": 137},
}
your_failures = {
    "exec true": False,
    "exec false": True,
    "page /": False,
    "page /warm, a 404": False,
    "page on port 81": True,
    "sleep": False,
    "tcpSocket on port 80": True,
}


def your_ends_at(spec, seconds):
    mains = [c["name"] for c in spec["containers"] if c["name"] in seconds]
    ends = {name: seconds[name] for name in mains}
    last = max(ends.values(), default=0)
    for container in reversed(spec.get("initContainers") or ()):
        name = container["name"]
        if container.get("restartPolicy") == "Always" and name in seconds:
            last = ends[name] = last + seconds[name]
    return ends


def sidecars_all_at_once(spec, seconds):
    mains = [c["name"] for c in spec["containers"] if c["name"] in seconds]
    last = max((seconds[name] for name in mains), default=0)
    return {
        name: time if name in mains else last + time for name, time in seconds.items()
    }


def in_the_order_of_their_start(spec, seconds):
    mains = [c["name"] for c in spec["containers"] if c["name"] in seconds]
    ends = {name: seconds[name] for name in mains}
    last = max(ends.values(), default=0)
    for container in spec.get("initContainers") or ():
        if container["name"] in seconds:
            last = ends[container["name"]] = last + seconds[container["name"]]
    return ends


def sidecars_first(spec, seconds):
    ends, last = {}, 0
    for container in reversed(spec.get("initContainers") or ()):
        if container["name"] in seconds:
            last = ends[container["name"]] = last + seconds[container["name"]]
    for container in spec["containers"]:
        if container["name"] in seconds:
            ends[container["name"]] = last + seconds[container["name"]]
    return ends


def is_later(said, pod, first, then):
    return said[pod][first] < said[pod][then]


MISTAKES = [
    Mistake(
        "ends",
        {"both": {"asked": 4, "over": 14, "code": 137}},
        "There is one purse: the hook's four seconds are gone.",
    ),
    Mistake(
        "ends",
        {"dawdles": {"asked": 60, "over": 70, "code": 137}},
        "The hook is not stopped, but nobody waits longer than the purse holds.",
    ),
    Mistake(
        "ends",
        {"dawdles": {"asked": 10, "over": 10, "code": 137}},
        "The program always gets to hear of it: two seconds are left for it.",
    ),
    Mistake(
        "ends",
        {"deaf": {"asked": 0, "over": 10, "code": 143}},
        "143 would be one that died of TERM. It did not listen, and was killed.",
    ),
    Mistake(
        "failures",
        {"page /warm, a 404": True},
        "A hook is content with any answer. Probes are stricter.",
    ),
    Mistake(
        "failures",
        {"tcpSocket on port 80": False},
        "It stands in the API, and nothing was ever behind it.",
    ),
    Mistake(
        "failures",
        {"exec false": False},
        "An exit code that is not 0 is a failure.",
    ),
    Mistake(
        "ends_at",
        sidecars_first,
        "Others rely on the sidecars: they go last.",
        seen=lambda said: is_later(said, "pod 1", "mesh", "nginx"),
    ),
    Mistake(
        "ends_at",
        in_the_order_of_their_start,
        "The last that was started goes first.",
        seen=lambda said: is_later(said, "pod 1", "proxy", "mesh"),
    ),
    Mistake(
        "ends_at",
        sidecars_all_at_once,
        "Sidecars wait for each other, too.",
        seen=lambda said: is_later(said, "pod 1", "nginx", "mesh"),
    ),
]
