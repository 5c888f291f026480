"""Answers to labs/the-scheduling-queue.ipynb, and words for common mistakes."""

from lifecycle.exercises.lab import Mistake

your_woken = {
    "a node says that it is alive": [],
    "the node one gets the label floor=3": [],
    "the node one gets the label disk=ssd": ["picky"],
    "the taint of the node one goes": ["clean"],
    "a small node comes": ["clean"],
    "a node with 96 processors comes": ["big", "clean"],
}
your_seconds = {
    "refused once": 1,
    "refused three times": 4,
    "refused five times": 10,
    "refused fifty times": 10,
    "refused three times, then two errors": 2,
}
your_turns = {"first": "b", "second": "d", "then": ["a", "c", "b"], "at last": None}


def your_hint(pod, old, new):
    wanted = pod["spec"]["nodeSelector"].items()

    def fits(node):
        return node is not None and wanted <= node["metadata"]["labels"].items()

    return fits(new) and not fits(old)


def any_label(pod, old, new):
    return old is None or old["metadata"]["labels"] != new["metadata"]["labels"]


def fits_now(pod, old, new):
    wanted = pod["spec"]["nodeSelector"].items()
    return wanted <= new["metadata"]["labels"].items()


def one_label(pod, old, new):
    wanted = pod["spec"]["nodeSelector"].items()

    def fits(node):
        return node is not None and bool(wanted & node["metadata"]["labels"].items())

    return fits(new) and not fits(old)


your_places = {
    "it is created": "gated",
    "a node comes": "gated",
    "six minutes pass": "gated",
    "the first gate is lifted": "gated",
    "the second gate is lifted": "active",
}

MISTAKES = [
    Mistake(
        "woken",
        {"a small node comes": ["big", "clean"]},
        "One processor is not 64: that node is no help, even if it is empty.",
    ),
    Mistake(
        "woken",
        {"a small node comes": []},
        "The plugin that has refused `clean` knows about taints, and not about size.",
    ),
    Mistake(
        "woken",
        {"the node one gets the label floor=3": ["picky"]},
        "It wants another label.",
    ),
    Mistake(
        "seconds",
        {"refused five times": 16},
        "Ten seconds are the most.",
    ),
    Mistake(
        "seconds",
        {"refused three times, then two errors": 10},
        "Errors are counted apart from refusals.",
    ),
    Mistake(
        "seconds",
        {"refused three times": 3},
        "Each time it is twice as long.",
    ),
    Mistake(
        "turns",
        {"first": "a", "second": "b"},
        "Priority comes before patience.",
    ),
    Mistake(
        "turns",
        {"then": ["b", "a", "c"]},
        "`b` sits on the bench for a second, as long as anybody else is there.",
    ),
    Mistake(
        "turns",
        {"at last": "d"},
        "`d` came back because of an error, and sits its time out.",
    ),
    Mistake(
        "hint",
        any_label,
        "Somebody's label has changed, and no node fits that did not fit before.",
        seen=lambda said: said["another label"],
    ),
    Mistake(
        "hint",
        fits_now,
        "The pod was refused although there was this node.",
        seen=lambda said: said["it fits as before, another label"],
    ),
    Mistake(
        "hint",
        one_label,
        "All of the labels have to be there.",
        seen=lambda said: said["a new node that does not"],
    ),
    Mistake(
        "places",
        {"six minutes pass": "active"},
        "It has asked to wait. The last resort is for those whom a hint forgot.",
    ),
    Mistake(
        "places",
        {"the second gate is lifted": "backoff"},
        "It has not been tried yet: there is nothing to sit out.",
    ),
    Mistake(
        "places",
        {"the first gate is lifted": "active"},
        "There is one more.",
    ),
]
