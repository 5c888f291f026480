"""Why each freedom is one: the sentence behind every name in an agreement table."""

from __future__ import annotations

import inspect

from lifecycle.compare import compare, in_flight, watch_freedoms
from lifecycle.compare.accidents import ACCIDENTS
from lifecycle.compare.rules import FIELD_RULES, TEXT_RULES

AMONG_EQUALS = "node chosen among equal sums"

_OTHERS = {
    AMONG_EQUALS: (
        "several nodes had the same highest sum of scores, ours and the recorded one"
        " among them; upstream throws dice"
    ),
    compare.BY_NAME: "lists are sorted by name, and these names are random",
    compare.OF_ENDPOINTS: (
        "endpoints are kept by address, and addresses are given out in any order"
    ),
    "order of managed fields, by time": (
        "entries are sorted by the second they were written in"
    ),
    "order of component statuses, asked for in parallel": (
        "the components are probed at once and listed as they answer"
    ),
    "order of rules, from unordered bindings": (
        "rules are collected from bindings that an informer lists in no particular"
        " order"
    ),
    "order between Services, from a Go map": (
        "kube-proxy walks a map of its Services, in another order at every sync"
    ),
    "place of the kubelet's jump: whoever came first": (
        "kubelet and kube-proxy both make this jump, and each puts its own in front"
    ),
    "order of CNI arguments, from a Go map": (
        "containerd collects a pod's labels for CNI in a map and writes them in any"
        " order"
    ),
    "a pod taken down between two commands": (
        "its route was listed, and by the time the kept results were, it had gone"
    ),
    "order of records, shuffled to share the load": (
        "CoreDNS answers addresses in any order, so that clients share the load, and"
        " names of one address as its index has them"
    ),
    "serial of the zone: when it last changed": (
        "the second in which CoreDNS last heard of a change"
    ),
    "directory named after the time it was made": (
        "a volume is written into a directory named after the moment of its writing"
    ),
    "file for last words, named at random": (
        "the kubelet names the file for a container's last words at random, a new one"
        " for each start"
    ),
    "address of a pod": (
        "which of its node's addresses a pod gets depends on the pods before it; it has"
        " to be the pod's own wherever it stands"
    ),
    "order of resolver options, which upstream keeps in a map": (
        "the kubelet merges resolver options in a Go map, and writes them in any order"
    ),
    "suffix of the token volume, made up at creation": (
        "admission names the volume of the account's token with five random letters"
    ),
    "order of endpoints within a slice: a Go map's": (
        "the controller collects a slice's endpoints in a Go set, and writes them in"
        " any order"
    ),
    "order of nodes that were created in the same second": (
        "the controller gives out pieces as it hears of nodes, and which of them it"
        " heard of first no second tells"
    ),
    "age of a controller's cache": (
        "a controller decides from its cache, and how old that was nobody recorded: an"
        " older state of the last dozen revisions gives the recorded answer"
    ),
    "order of events of requests that were under way together": (
        "pods of one batch are asked for at once, and threads tell of them as they are"
        " answered"
    ),
    "times from a controller's own clock": (
        "which second it was when the controller wrote is its machine's; it has to be"
        " one of the two before the request came in"
    ),
    "a namespace made for the recording": (
        "on somebody's machine nothing is changed in `default`: a namespace made for it"
        " stands in"
    ),
    in_flight.NAME: (
        "the answer was given while a controller or the kubelet, named in its managed"
        " fields, was writing"
    ),
    watch_freedoms.EARLY: (
        "whether an endpoint is written down between the moment its pod has an address"
        " and the moment it is ready follows from how long that takes"
    ),
    watch_freedoms.STEPS: (
        "how many steps a rollout takes follows from how fast pods become ready;"
        " between equal ends every count only rises or only falls, and each step is"
        " held to maxSurge and maxUnavailable"
    ),
    watch_freedoms.TRIGGERS: (
        "an update of a Service's endpoints says when the pod became ready that led to"
        " it, and says nothing if one is leaving; two pods may share an update, so"
        " there are as many as pods that became ready, or fewer"
    ),
    watch_freedoms.COUNTS: (
        "sums over pods that come and go at once: same ends, and in between within"
        " what maxSurge and maxUnavailable allow"
    ),
}


def names() -> list[str]:
    """Every freedom that can be granted."""
    rules = [rule.name for rule in (*FIELD_RULES, *TEXT_RULES)]
    accidents = [accident.name for accident in ACCIDENTS]
    return sorted({*rules, *accidents, *_OTHERS})


def why(name: str) -> str:
    """One sentence. Raises KeyError for a name nobody has given a reason for: no
    freedom is granted without one.
    """
    for rule in (*FIELD_RULES, *TEXT_RULES):
        if rule.name == name:
            return " ".join(
                inspect.cleandoc(rule.__doc__ or "").split("\n\n")[0].split()
            )
    for accident in ACCIDENTS:
        if accident.name == name:
            return accident.why
    return _OTHERS[name]
