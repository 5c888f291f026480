"""Answers to labs/scheduler.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_nodes = {
    "small": "b",
    "bigger": "b",
    "four": None,
    "four-tolerant": "c",
    "named": "a",
}
your_numbers = {3: 3, 100: 100, 150: 100, 1000: 420, 5000: 500, 10000: 500}


def your_score(info, node):
    pairs = (
        (node.non_zero_cpu + info.non_zero["cpu"], node.allocatable.milli_cpu),
        (node.non_zero_memory + info.non_zero["memory"], node.allocatable.memory),
    )
    return sum((there - asked) * 100 // there for asked, there in pairs) // 2


def without_the_new_pod(info, node):
    pairs = (
        (node.non_zero_cpu, node.allocatable.milli_cpu),
        (node.non_zero_memory, node.allocatable.memory),
    )
    return sum((there - asked) * 100 // there for asked, there in pairs) // 2


your_places = {0: "c", 1: "c", 5: "c"}
your_choices = {"then": "a", "now": "b"}
your_extended = {"without": "b", "with it": "a"}

MISTAKES = [
    Mistake(
        "nodes",
        {"four": "c"},
        "`c` has room for it, but also a taint that it does not tolerate.",
    ),
    Mistake(
        "nodes",
        {"small": "a"},
        "It fits on both, and `b` is the emptier one.",
    ),
    Mistake(
        "nodes",
        {"named": None},
        "One CPU is left on `a`, and one is what it asks for.",
    ),
    Mistake(
        "numbers",
        {150: 73},
        "Fewer than a hundred are never looked at, if there are as many.",
    ),
    Mistake(
        "numbers",
        {10000: 0},
        "The share does not fall to nothing: it stops at five percent.",
    ),
    Mistake(
        "numbers",
        {1000: 500},
        "Half, less one percent for each 125 nodes.",
    ),
    Mistake(
        "score",
        without_the_new_pod,
        "Is the new pod in the sum? The share is that with it on the node.",
        seen=lambda equal: not all(equal.values()),
    ),
    Mistake(
        "places",
        {0: "b"},
        "Once the taint is tolerated it counts for nothing, and `c` is empty.",
    ),
    Mistake(
        "choices",
        {"then": "b"},
        "`MostRequested`: the fuller, the better.",
    ),
    Mistake(
        "choices",
        {"now": "a"},
        "Today's default spreads: the emptier node has more points.",
    ),
    Mistake(
        "extended",
        {"with it": "b"},
        "Its points are multiplied by its weight, and outnumber the plugins'.",
    ),
]
