"""Answers to labs/admission-and-cgroups.ipynb, and words for common mistakes. Look here
last.
"""

from lifecycle.api.pods.qos import get_pod_qos
from lifecycle.exercises.lab import Mistake
from lifecycle.kubelet.types.pod_update import is_critical_pod

your_reasons = {
    "nginx": "",
    "greedy": "OutOfcpu",
    "picky": "NodeAffinity",
    "careful": "",
    "greedy-and-daring": "SysctlForbidden",
}
your_percent = {"database": 72.7, "api": 18.2, "worker": 9.1, "ten nginx": 0.07}
your_little = 3.5


def your_pressure(conditions, pod):
    if not conditions or is_critical_pod(pod):
        return True
    tolerations = pod["spec"].get("tolerations") or ()
    key = "node.kubernetes.io/memory-pressure"
    tolerant = any(each.get("key") == key for each in tolerations)
    asked = get_pod_qos(pod) != "BestEffort"
    return conditions == ["MemoryPressure"] and (asked or tolerant)


def whoever_asked(conditions, pod):
    if not conditions or is_critical_pod(pod):
        return True
    return "MemoryPressure" in conditions and get_pod_qos(pod) != "BestEffort"


def nobody_is_critical(conditions, pod):
    asked = get_pod_qos(pod) != "BestEffort"
    return not conditions or (conditions == ["MemoryPressure"] and asked)


def all_tolerations(conditions, pod):
    if not conditions or is_critical_pod(pod):
        return True
    asked = get_pod_qos(pod) != "BestEffort" or pod["spec"].get("tolerations")
    return conditions == ["MemoryPressure"] and bool(asked)


def blind_to_tolerations(conditions, pod):
    if not conditions or is_critical_pod(pod):
        return True
    return conditions == ["MemoryPressure"] and get_pod_qos(pod) != "BestEffort"


MISTAKES = [
    Mistake(
        "reasons",
        {"careful": "SysctlForbidden"},
        "Some kernel parameters harm nobody but the pod itself; this is one of them.",
    ),
    Mistake(
        "reasons",
        {"greedy-and-daring": "OutOfcpu"},
        "Both are true, but kernel parameters are asked about first.",
    ),
    Mistake(
        "reasons",
        {"picky": "FailedScheduling"},
        "No scheduler is asked here. The kubelet says what does not fit.",
    ),
    Mistake(
        "percent",
        {"ten nginx": 0.7},
        "However many they are, the ten have one group and its one weight.",
    ),
    Mistake(
        "percent",
        {"database": 100, "api": 0, "worker": 0, "ten nginx": 0},
        "A request is a weight, not a right of way: others get their part, too.",
    ),
    Mistake(
        "percent",
        {"api": 13.6, "worker": 13.6},
        "Inside the group weights count, too: one has asked for twice as much.",
        seen=lambda said: said["api"] == said["worker"],
    ),
    Mistake(
        "little",
        0.07,
        "They have asked for something, so they are in another group now.",
        seen=lambda said: said < 0.5,
    ),
    Mistake(
        "little",
        13.3,
        "That is their part of the group. The group has only a part of the machine.",
        seen=lambda said: 10 < said < 15,
    ),
    Mistake(
        "pressure",
        nobody_is_critical,
        "Without its critical pods the node could not recover: they always come in.",
        seen=lambda said: not said["critical, disk short"],
    ),
    Mistake(
        "pressure",
        whoever_asked,
        "That holds if *only* memory is short.",
        seen=lambda said: bool(said["burstable, memory and disk short"]),
    ),
    Mistake(
        "pressure",
        all_tolerations,
        "It has to tolerate *this* taint.",
        seen=lambda said: bool(said["tolerates something, memory short"]),
    ),
    Mistake(
        "pressure",
        blind_to_tolerations,
        "A pod that tolerates memory pressure has said that memory may be tight.",
        seen=lambda said: not said["tolerant, memory short"],
    ),
]
