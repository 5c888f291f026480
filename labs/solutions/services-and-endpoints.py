"""Answers to labs/services-and-endpoints.ipynb, and words for mistakes."""

from lifecycle.exercises.lab import Mistake

your_border = "10.96.1.0"
your_offsets = {
    "10.96.0.0/28": 0,
    "10.96.0.0/24": 16,
    "10.96.0.0/20": 256,
    "10.96.0.0/12": 256,
}
your_counts = {
    "web": 3,
    "one": 1,
    "empty": 0,
    "headless": 3,
    "manual": 2,
    "ext": None,
    "node-empty": 0,
}
your_conditions = {
    "before": {"ready", "serving"},
    "after 5 s": {"serving", "terminating"},
    "after 30 s": None,
}
your_refusals = {2, 4, 5}


def your_endpoint(pod, publish=False):
    conditions = {c["type"]: c["status"] for c in pod["status"].get("conditions", ())}
    serving = conditions.get("Ready") == "True"
    terminating = "deletionTimestamp" in pod["metadata"]
    over = pod["status"].get("phase") in ("Failed", "Succeeded")
    if over or not pod["status"].get("podIP"):
        return None
    return {
        "ready": publish or (serving and not terminating),
        "serving": serving,
        "terminating": terminating,
    }


def ready_while_it_goes(pod, publish=False):
    conditions = {c["type"]: c["status"] for c in pod["status"].get("conditions", ())}
    serving = conditions.get("Ready") == "True"
    over = pod["status"].get("phase") in ("Failed", "Succeeded")
    if over or not pod["status"].get("podIP"):
        return None
    return {
        "ready": publish or serving,
        "serving": serving,
        "terminating": "deletionTimestamp" in pod["metadata"],
    }


def for_those_who_are_over(pod, publish=False):
    conditions = {c["type"]: c["status"] for c in pod["status"].get("conditions", ())}
    serving = conditions.get("Ready") == "True"
    terminating = "deletionTimestamp" in pod["metadata"]
    if not pod["status"].get("podIP"):
        return None
    return {
        "ready": publish or (serving and not terminating),
        "serving": serving,
        "terminating": terminating,
    }


MISTAKES = [
    Mistake(
        "border",
        "10.112.0.0",
        "That is behind the range. A sixteenth would be 4,096, but there is a limit.",
    ),
    Mistake(
        "offsets",
        {"10.96.0.0/28": 16},
        "The range has no more than 16 addresses: they cannot all be kept back.",
    ),
    Mistake(
        "offsets",
        {"10.96.0.0/12": 65536},
        "A sixteenth, but never more than 256.",
    ),
    Mistake(
        "counts",
        {"empty": None},
        "That nobody is there is written down as well: the slice is empty.",
    ),
    Mistake(
        "counts",
        {"ext": 0},
        "An ExternalName only stands for a name: nothing is selected.",
    ),
    Mistake(
        "counts",
        {"manual": None},
        "Without a selector nobody writes a slice, except people: they did.",
    ),
    Mistake(
        "conditions",
        {"after 5 s": {"ready", "serving", "terminating"}},
        "It still serves, but a pod that leaves is never called ready.",
    ),
    Mistake(
        "conditions",
        {"after 5 s": None},
        "It takes 15 seconds to stop, and until then it answers.",
    ),
    Mistake(
        "conditions",
        {"before": {"ready"}},
        "A pod that is ready serves, too.",
    ),
    Mistake(
        "refusals",
        {2, 4},
        "Port 80 of a node is not for Services: their range begins at 30000.",
    ),
    Mistake(
        "refusals",
        {2, 3, 4, 5},
        "`None` is allowed: that is how a headless Service is made.",
    ),
    Mistake(
        "endpoint",
        ready_while_it_goes,
        "A pod that is leaving goes on serving, but is not ready.",
        seen=lambda said: said["Running ready=True leaving 10.244.1.2"]["ready"],
    ),
    Mistake(
        "endpoint",
        for_those_who_are_over,
        "A pod that is over has no endpoint, even if it still has an address.",
        seen=lambda said: said["Failed ready=True 10.244.1.2"] is not None,
    ),
]
