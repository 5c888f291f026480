"""Answers to labs/cpu-manager.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_numbers = {
    "two": 2,
    "two, as 2000m": 2,
    "one and a half": 0,
    "two, at most four": 0,
    "only a limit of two": 2,
    "two, beside a free one": 0,
}
your_cpus = {"db": [1, 5], "odd": [4], "nginx": [2, 3, 6], "late": None}
your_starts = {
    "no file": True,
    "its own, of yesterday": True,
    "of the policy none": False,
    "of a larger machine": False,
    "a CPU given, and shared": False,
    "a CPU that nobody has": False,
    "the system's CPU given away": False,
}


def your_updates(allowed, last, refusing):
    told = []
    for name, cpus in allowed.items():
        if cpus and last.get(name) != cpus and name not in refusing:
            last[name] = cpus
            told.append(name)
    return told


def believes_too_much(allowed, last, refusing):
    told = []
    for name, cpus in allowed.items():
        if cpus and last.get(name) != cpus:
            last[name] = cpus
            if name not in refusing:
                told.append(name)
    return told


def never_quiet(allowed, last, refusing):
    return [name for name, cpus in allowed.items() if cpus and name not in refusing]


def of_no_cpu(allowed, last, refusing):
    told = []
    for name, cpus in allowed.items():
        if last.get(name) != cpus and name not in refusing:
            last[name] = cpus
            told.append(name)
    return told


MISTAKES = [
    Mistake(
        "numbers",
        {"one and a half": 1},
        "A whole number, or none: nobody gets half of what they asked for.",
    ),
    Mistake(
        "numbers",
        {"two, at most four": 2},
        "It has not said what it needs, so its pod is not guaranteed.",
    ),
    Mistake(
        "numbers",
        {"two, beside a free one": 2},
        "The class is the pod's, and the other container has no limit.",
    ),
    Mistake(
        "numbers",
        {"only a limit of two": 0},
        "Without a request the limit counts as one. It is a default of the API server.",
    ),
    Mistake(
        "cpus",
        {"db": [0, 4]},
        "CPU 0 is kept for the system, so core 0 is not whole.",
    ),
    Mistake(
        "cpus",
        {"odd": [2]},
        "A single CPU comes from a core that is broken already.",
    ),
    Mistake(
        "cpus",
        {"late": [0, 7]},
        "A CPU that is kept for the system is never given away.",
    ),
    Mistake(
        "starts",
        {"the system's CPU given away": True},
        "The reserved CPU has to be in the shared pool.",
    ),
    Mistake(
        "starts",
        {"a CPU that nobody has": True},
        "The machine has eight CPUs, and the file tells of seven.",
    ),
    Mistake(
        "starts",
        {"of the policy none": True},
        "Another policy wrote it. Whoever changes the policy deletes the file.",
    ),
    Mistake(
        "updates",
        never_quiet,
        "A container that was told already is left in peace.",
        seen=lambda said: said[1] != [],
    ),
    Mistake(
        "updates",
        believes_too_much,
        "A container that refused has not been told. Try again in the next round.",
        seen=lambda said: "mail" not in said[3],
    ),
    Mistake(
        "updates",
        of_no_cpu,
        "A container cannot be told to use no CPU at all.",
        seen=lambda said: said[7] != [],
    ),
]
