"""Answers to labs/container-startup.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_order = ["first", "side", "second", "main", "other"]
your_waits = {"2nd": 0, "3rd": 10, "4th": 20, "5th": 40}
your_states = {
    "API, 3 s": "waiting",
    "runtime, 3 s": "CONTAINER_RUNNING",
    "API, 12 s": "running",
}
your_cpus = {"one": "4", "two": "1,5", "three": "2-3,6"}


def your_logs(data, tail=None):
    entries = data.decode().splitlines()
    if tail is not None:
        entries = entries[len(entries) - min(tail, len(entries)) :]
    said = ""
    for entry in entries:
        _time, _stream, tag, text = entry.split(" ", 3)
        said += text + ("\n" if tag == "F" else "")
    return said


def minus_nothing_is_all(data, tail=None):
    entries = data.decode().splitlines()[-(tail or 0) :]
    parts = [entry.split(" ", 3) for entry in entries]
    return "".join(text + ("\n" if tag == "F" else "") for _, _, tag, text in parts)


def every_entry_a_line(data, tail=None):
    entries = data.decode().splitlines()
    if tail is not None:
        entries = entries[len(entries) - min(tail, len(entries)) :]
    return "".join(entry.split(" ", 3)[3] + "\n" for entry in entries)


MISTAKES = [
    Mistake(
        "order",
        ["first", "second", "side", "main", "other"],
        "A sidecar is started in its place among the init containers.",
    ),
    Mistake(
        "order",
        ["side", "first", "second", "main", "other"],
        "It does not overtake anybody: `first` stands before it.",
    ),
    Mistake(
        "waits",
        {"2nd": 10, "3rd": 20},
        "The first restart is free.",
    ),
    Mistake(
        "waits",
        {"5th": 70},
        "That is counted from the beginning. How long is the last wait alone?",
    ),
    Mistake(
        "states",
        {"API, 3 s": "running"},
        "The kubelet waits for the hook before it calls the container started.",
    ),
    Mistake(
        "states",
        {"runtime, 3 s": "CONTAINER_CREATED"},
        "The hook runs inside of the container: to the runtime it has been started.",
    ),
    Mistake(
        "cpus",
        {"one": "1"},
        "That would break a whole core. One thread stands alone already.",
    ),
    Mistake(
        "cpus",
        {"two": "1-2"},
        "Those are threads of two cores. A whole core has two threads.",
    ),
    Mistake(
        "logs",
        minus_nothing_is_all,
        "A tail of nothing is nothing: `[-0:]` is all.",
        seen=lambda said: said["tail 0"] != "",
    ),
    Mistake(
        "logs",
        every_entry_a_line,
        "An entry with `P` does not end a line.",
        seen=lambda said: "tw\n" in said["all"],
    ),
]
