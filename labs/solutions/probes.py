"""Answers to labs/probes.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_answers = {
    "status 200": True,
    "status 204": True,
    "status 302": True,
    "status 404": False,
    "status 503": False,
    "exit code 0": True,
    "exit code 1": False,
    "no such program": None,
}
your_fate = {
    "startup": {"restarted": True, "ready": False},
    "readiness": {"restarted": False, "ready": False},
    "liveness": {"restarted": True, "ready": True},
}
your_seconds = {
    "the defaults": 30,
    "every second": 3,
    "one is enough": 10,
    "both": 10,
}


def your_ready(pod):
    status = pod["status"]
    containers = all(entry["ready"] for entry in status["containerStatuses"])
    told = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    return containers, containers and all(told.get(gate) == "True" for gate in gates)


def absent_is_fine(pod):
    status = pod["status"]
    containers = all(entry["ready"] for entry in status["containerStatuses"])
    told = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    return containers, containers and all(
        told.get(gate, "True") == "True" for gate in gates
    )


def gates_hold_the_containers(pod):
    status = pod["status"]
    containers = all(entry["ready"] for entry in status["containerStatuses"])
    told = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    both = containers and all(told.get(gate) == "True" for gate in gates)
    return both, both


def only_the_gates(pod):
    status = pod["status"]
    containers = all(entry["ready"] for entry in status["containerStatuses"])
    told = {each["type"]: each["status"] for each in status.get("conditions") or ()}
    gates = [gate["conditionType"] for gate in pod["spec"].get("readinessGates") or ()]
    return containers, all(told.get(gate) == "True" for gate in gates)


MISTAKES = [
    Mistake(
        "answers",
        {"status 302": False},
        "It sends you elsewhere, so it is well enough to answer.",
    ),
    Mistake(
        "answers",
        {"status 404": True},
        "An answer is not yet a yes: nginx says that it has no such page.",
    ),
    Mistake(
        "answers",
        {"no such program": False},
        "The question could not be put. That neither kills nor helps.",
    ),
    Mistake(
        "fate",
        {"startup": {"restarted": False, "ready": False}},
        "A container that never starts is killed, like one that is stuck.",
    ),
    Mistake(
        "fate",
        {"readiness": {"restarted": True, "ready": False}},
        "It is left in peace, and left out.",
    ),
    Mistake(
        "fate",
        {"liveness": {"restarted": True, "ready": False}},
        "Nobody asked whether visitors may come, and so they may.",
    ),
    Mistake(
        "seconds",
        {"the defaults": 10},
        "A single no is not believed: three in a row, by default.",
    ),
    Mistake(
        "seconds",
        {"the defaults": 20, "every second": 2, "one is enough": 0, "both": 5},
        "It was asked a moment before it fell ill: the first no comes a period later.",
    ),
    Mistake(
        "ready",
        absent_is_fine,
        "A gate that nobody has opened is closed, even if nobody ever will.",
        seen=lambda said: bool(said["True True, gates 1, told nothing"][1]),
    ),
    Mistake(
        "ready",
        gates_hold_the_containers,
        "The containers are ready all the same; only the pod waits for others.",
        seen=lambda said: not said["True True, gates 1, told False"][0],
    ),
    Mistake(
        "ready",
        only_the_gates,
        "Whatever others say, containers that are not ready hold their pod back.",
        seen=lambda said: bool(said["False True, gates 0, told nothing"][1]),
    ),
]
