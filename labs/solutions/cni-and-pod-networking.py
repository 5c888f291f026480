"""Answers to labs/cni-and-pod-networking.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_turns = {"a": 2, "b": 3, "c": 4, "d": 5, "e": 6, "f": 2}
your_working = "a part"
your_networks = {
    "containerd": "none",
    "the broken one gone": "bridge",
    "by name": "ptp",
}
your_kept = {
    "0.1.0": 2,
    "0.2.0": 2,
    "0.3.0": 3,
    "0.3.1": 3,
    "0.4.0": 3,
    "1.0.0": 3,
    "1.1.0": 3,
}
your_next_hops = {"bridge": "10.244.1.3", "ptp": "10.244.1.1"}


def your_next_address(taken, last):
    order = [2, 3, 4, 5, 6]
    at = order.index(last) + 1 if last is not None else 0
    return next((n for n in order[at:] + order[:at] if n not in taken), None)


def the_lowest_free_one(taken, last):
    return next((number for number in range(2, 7) if number not in taken), None)


def never_again(taken, last):
    after = range((last or 1) + 1, 7)
    return next((number for number in after if number not in taken), None)


MISTAKES = [
    Mistake(
        "turns",
        {"d": 2, "e": 3, "f": 5},
        "Not the lowest free one: it goes on behind the last that was given out.",
    ),
    Mistake(
        "turns",
        {"f": 7},
        "`.7` is the broadcast address. After the end it begins again.",
    ),
    Mistake(
        "working",
        "two gateways",
        "Both ranges have the gateway `10.0.0.1`, and they overlap.",
    ),
    Mistake(
        "networks",
        {"the broken one gone": "ptp"},
        "A single plugin counts for containerd, too, and its file comes first.",
    ),
    Mistake(
        "networks",
        {"containerd": "bridge"},
        "It looks into the first file only, and that one is broken.",
    ),
    Mistake(
        "networks",
        {"by name": "bridge"},
        "A search for a name looks through the lists first.",
    ),
    Mistake(
        "kept",
        {"0.2.0": 3},
        "There is one `ip4` in it, and two addresses do not fit.",
    ),
    Mistake(
        "next_hops",
        {"ptp": "10.244.1.3"},
        "At the other end of its link there is only the host: everything goes there.",
    ),
    Mistake(
        "next_hops",
        {"bridge": "10.244.1.1"},
        "The neighbour is in the same network: on a bridge no gateway is needed.",
    ),
    Mistake(
        "next_address",
        the_lowest_free_one,
        "It takes the lowest free one, and host-local goes on behind the last.",
        seen=lambda came: came["first wrong"][0] is not None,
    ),
    Mistake(
        "next_address",
        never_again,
        "At the end it has to begin again.",
        seen=lambda came: came["first wrong"][0] is None,
    ),
]
