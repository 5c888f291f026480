"""Answers to labs/pleg.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_events = {
    "new, and running": ["Started"],
    "new, and over": ["Died"],
    "new, not started": ["Changed"],
    "still running": [],
    "over, then gone": ["Removed"],
    "running, then gone": ["Died", "Removed"],
}
your_heard = {
    "nginx": [(1, "Started"), (3, "Died")],
    "quick": [(2, "Died")],
    "ghost": [],
    "swept": [(2, "Started"), (4, "Died"), (4, "Removed")],
}
your_healthy = {
    "before the first look": False,
    "after 60 s": True,
    "after 180 s": True,
    "after 181 s": False,
    "with events, after 181 s": True,
    "with events, after 601 s": False,
}


def your_look(before, now):
    words = {"running": ["Started"], "exited": ["Died"], "unknown": ["Changed"]}
    events = []
    for container in {**before, **now}:
        old, new = before.get(container), now.get(container)
        if old == new:
            continue
        gone = ["Removed"] if old == "exited" else ["Died", "Removed"]
        for word in gone if new is None else words[new]:
            events.append((container, word))
    return events


def only_who_is_there(before, now):
    words = {"running": "Started", "exited": "Died", "unknown": "Changed"}
    return [(c, words[state]) for c, state in now.items() if before.get(c) != state]


def gone_is_one_thing(before, now):
    words = {"running": "Started", "exited": "Died", "unknown": "Changed"}
    return [
        (c, words.get(now.get(c), "Removed"))
        for c in {**before, **now}
        if before.get(c) != now.get(c)
    ]


def the_new_ones_first(before, now):
    words = {"running": ["Started"], "exited": ["Died"], "unknown": ["Changed"]}
    events = []
    for c in {**now, **before}:
        if before.get(c) != now.get(c):
            gone = ["Removed"] if before.get(c) == "exited" else ["Died", "Removed"]
            events += [(c, word) for word in words.get(now.get(c), gone)]
    return events


def is_short(said):
    """Somebody who is not there any more is never told of."""
    return not any(word == "Removed" for events in said.values() for _, word in events)


def has_no_double(said):
    """Nobody has died and been removed at once."""
    return all(len(dict(events)) == len(events) for events in said.values())


MISTAKES = [
    Mistake(
        "events",
        {"running, then gone": ["Removed"]},
        "It ran when it was last seen, so it has also died.",
    ),
    Mistake(
        "events",
        {"new, and over": ["Started", "Died"]},
        "Nobody saw it run. Only what a look finds is told.",
    ),
    Mistake(
        "events",
        {"new, not started": []},
        "It is another state, so it is a change, though one that nobody acts on.",
    ),
    Mistake(
        "heard",
        {"quick": [(2, "Started"), (2, "Died")]},
        "At second 1 it was not there yet, at second 2 it is over.",
    ),
    Mistake(
        "heard",
        {"ghost": [(3, "Removed")]},
        "No look has ever found it, so nobody can miss it.",
    ),
    Mistake(
        "heard",
        {"nginx": [(1, "Started"), (2, "Died")]},
        "It ended after the look at second 2.",
    ),
    Mistake(
        "heard",
        {"swept": [(2, "Started"), (4, "Removed")]},
        "Between 3 and 4 two things have happened to it.",
    ),
    Mistake(
        "healthy",
        {"before the first look": True},
        "Nothing is known of the node's containers yet, so it is not ready.",
    ),
    Mistake(
        "healthy",
        {"after 180 s": False},
        "Only what is *longer* than three minutes is too long.",
    ),
    Mistake(
        "healthy",
        {"with events, after 181 s": False},
        "Whoever looks every five minutes cannot be ill after three.",
    ),
    Mistake(
        "look",
        only_who_is_there,
        "Go through both lists: somebody may not be there any more.",
        seen=is_short,
    ),
    Mistake(
        "look",
        gone_is_one_thing,
        "A container that is gone and was not over has died first.",
        seen=has_no_double,
    ),
    Mistake(
        "look",
        the_new_ones_first,
        "The containers that were there before come first.",
        seen=lambda said: not (is_short(said) or has_no_double(said)),
    ),
]
