"""Answers to labs/cri-and-pause.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_fields = {"container_id": 1, "timeout": 2, "seconds": 30}
your_counts = {"CONTAINER": (2, 3), "POD": (1, 4), "NODE": (1, 3)}
your_answers = {
    "create a container in no-such-sandbox": "NotFound",
    "run a sandbox": "ok",
    "remove no-such-sandbox": "ok",
}
your_reading = {"pod": "shop/web-7c9", "restarts": 4, "pause": 1}


def your_order(mounts):
    return sorted(
        mounts,
        key=lambda mount: len([p for p in mount["container_path"].split("/") if p]),
    )


def as_they_came(mounts):
    return list(mounts)


def by_name(mounts):
    return sorted(mounts, key=lambda mount: mount["container_path"])


your_failures = 4

MISTAKES = [
    Mistake(
        "fields",
        {"timeout": 10},
        "`10` is sixteen: two times eight, and the kind 0.",
    ),
    Mistake(
        "fields",
        {"seconds": 1},
        "`1e` is one byte, in hexadecimal.",
    ),
    Mistake(
        "counts",
        {"POD": (2, 3)},
        "With POD the process namespace is the sandbox's: it is joined.",
    ),
    Mistake(
        "counts",
        {"NODE": (1, 4)},
        "To stay in the node's namespace nothing has to be joined.",
    ),
    Mistake(
        "answers",
        {"remove no-such-sandbox": "NotFound"},
        "It should be gone, and it is: for the caller that is a success.",
    ),
    Mistake(
        "answers",
        {"create a container in no-such-sandbox": "ok"},
        "A container lives in a sandbox, and there is none.",
    ),
    Mistake(
        "reading",
        {"restarts": 1},
        "That is the pause container's number.",
    ),
    Mistake(
        "reading",
        {"pause": 0},
        "The pause container is none of the spec's: it holds the whole pod together.",
    ),
    Mistake(
        "order",
        as_they_came,
        "`/etc/hosts` may come before `/etc`, and would then be hidden.",
        seen=lambda came: came["small"][0] == "/etc/hosts",
    ),
    Mistake(
        "order",
        by_name,
        "Paths of the same depth have to keep their order: do not sort by name.",
        seen=lambda came: came["small"][:2] == ["/a/", "/b"],
    ),
    Mistake(
        "failures",
        1,
        "Several checks look at how a container ended, each in another way.",
    ),
]
