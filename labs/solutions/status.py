"""Answers to labs/status.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_guess = {
    "plain": "Running",
    "completes": "Succeeded",
    "fails": "Failed",
    "crashloop": "Running",
    "onfailure": "Succeeded",
    "init-fails": "Pending",
    "init-fails-never": "Failed",
    "sidecar": "Succeeded",
    "no-image": "Pending",
    "two": "Running",
}
your_phases = {"Always": "Running", "OnFailure": "Running", "Never": "Failed"}
your_restarts = {"after 42": True, "after 1": False}
your_ready = {
    "before": "False",
    "reason before": "ReadinessGatesNotReady",
    "gate False": "False",
    "gate True": "True",
}
your_deadline = {"after 70 s": "Pending", "10 s after the label": "Failed"}


def your_phase(spec, statuses, pod_is_terminal):
    """Sort the containers into heaps; then the heaps decide."""
    policy = spec.get("restartPolicy", "Always")
    waiting = running = ended = good = 0
    for status in statuses:
        state = status["state"]
        if "running" in state:
            running += 1
        elif "terminated" in state:
            ended += 1
            good += state["terminated"]["exitCode"] == 0
        elif (status.get("lastState") or {}).get("terminated"):
            ended += 1
        else:
            waiting += 1
    if waiting:
        return "Pending"
    if running or (policy == "Always" and not pod_is_terminal):
        return "Running"
    if good == ended:
        return "Succeeded"
    return "Failed" if policy == "Never" or pod_is_terminal else "Running"


def blind_to_the_policy(spec, statuses, pod_is_terminal):
    states = [status["state"] for status in statuses]
    if any("waiting" in state for state in states):
        return "Pending"
    if any("running" in state for state in states):
        return "Running"
    codes = [state["terminated"]["exitCode"] for state in states]
    return "Failed" if any(codes) else "Succeeded"


def waiting_is_waiting(spec, statuses, pod_is_terminal):
    if any("waiting" in status["state"] for status in statuses):
        return "Pending"
    if any("running" in status["state"] for status in statuses):
        return "Running"
    codes = [status["state"]["terminated"]["exitCode"] for status in statuses]
    policy = "Never" if pod_is_terminal else spec["restartPolicy"]
    if policy == "Always" or (policy == "OnFailure" and any(codes)):
        return "Running"
    return "Failed" if any(codes) else "Succeeded"


MISTAKES = [
    Mistake(
        "guess",
        {"crashloop": "Failed"},
        "`crashloop` is started again for ever: nothing is lost yet.",
    ),
    Mistake(
        "guess",
        {"crashloop": "Pending"},
        "The container of `crashloop` has run already. Pending is before the first"
        " time.",
    ),
    Mistake(
        "guess",
        {"init-fails": "Failed"},
        "Look at the restart policy of `init-fails`: an init container is tried again,"
        " too.",
    ),
    Mistake(
        "guess",
        {"sidecar": "Failed"},
        "A sidecar is ended by force when the others are done. How it ended does not"
        " count.",
    ),
    Mistake(
        "phases",
        {"OnFailure": "Failed"},
        "One ended badly, so under OnFailure it will be started again.",
    ),
    Mistake(
        "phases",
        {"Always": "Failed"},
        "Under Always a pod has no end of its own.",
    ),
    Mistake(
        "phases",
        {"Never": "Succeeded"},
        "One that ended badly is enough to spoil it.",
    ),
    Mistake(
        "restarts",
        {"after 42": False},
        "The pod never restarts, but the container has a rule, and it is asked first.",
    ),
    Mistake(
        "restarts",
        {"after 1": True},
        "The rule names 42. For other codes the policy decides.",
    ),
    Mistake(
        "ready",
        {"before": "True"},
        "A gate that nobody has set counts as closed.",
    ),
    Mistake(
        "ready",
        {"reason before": "ContainersNotReady"},
        "The containers are ready, all of them. It is the gate that is not.",
    ),
    Mistake(
        "deadline",
        {"after 70 s": "Failed"},
        "While it waits for a node there is no kubelet that counts.",
    ),
    Mistake(
        "deadline",
        {"10 s after the label": "Running"},
        "It had five seconds, counted from its start.",
    ),
    Mistake(
        "phase",
        blind_to_the_policy,
        "An ended container may be started again: ask the policy before you say how it"
        " all ended.",
        seen=lambda said: said["Always good+good"] != "Running",
    ),
    Mistake(
        "phase",
        waiting_is_waiting,
        "A container in back-off has run before. Look into its `lastState`.",
        seen=lambda said: said["Always back-off+good"] == "Pending",
    ),
]
