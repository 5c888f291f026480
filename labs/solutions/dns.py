"""Answers to labs/dns.ipynb, and words for common mistakes. Look here last."""

from lifecycle.exercises.lab import Mistake

your_answers = {
    ("empty.svc.svc.cluster.local", "A"): "yes",
    ("web.svc.svc.cluster.local", "AAAA"): "NODATA",
    ("nope.svc.svc.cluster.local", "A"): "NXDOMAIN",
    ("svc.svc.cluster.local", "A"): "NODATA",
    ("web.nowhere.svc.cluster.local", "A"): "NXDOMAIN",
    ("example.com", "A"): "SERVFAIL",
    ("1-2-3-4.svc.pod.cluster.local", "A"): "yes",
    ("_http._tcp.one.svc.svc.cluster.local", "SRV"): "NXDOMAIN",
}
your_questions = {
    "web": 1,
    "web.svc": 2,
    "kubernetes.default": 2,
    "web.svc.svc.cluster.local": 4,
    "web.svc.svc.cluster.local.": 1,
    "nope": 4,
}
your_names = {"10.244.2.22": 5, "10.96.116.149": 1, "203.0.113.7": 0}
your_seconds = {"NXDOMAIN": 30, "SERVFAIL": 5}


def your_addresses(name, services, slices):
    service_name, namespace = name.split(".")[:2]
    for service in services:
        meta = service["metadata"]
        if (meta["namespace"], meta["name"]) != (namespace, service_name):
            continue
        if service["spec"].get("clusterIP") != "None":
            return [service["spec"]["clusterIP"]]
        mine = {"kubernetes.io/service-name": service_name}
        found = [
            address
            for piece in slices
            if piece["metadata"]["namespace"] == namespace
            and mine.items() <= piece["metadata"]["labels"].items()
            for end in piece.get("endpoints") or ()
            if end["conditions"].get("ready", True)
            for address in end["addresses"]
        ]
        return sorted(found) or None
    return None


def only_cluster_addresses(name, services, slices):
    service_name, namespace = name.split(".")[:2]
    for service in services:
        meta = service["metadata"]
        if (meta["namespace"], meta["name"]) == (namespace, service_name):
            return [service["spec"].get("clusterIP")]
    return None


MISTAKES = [
    Mistake(
        "answers",
        {("empty.svc.svc.cluster.local", "A"): "NODATA"},
        "The Service has an address of its own, with or without pods.",
    ),
    Mistake(
        "answers",
        {("web.svc.svc.cluster.local", "AAAA"): "NXDOMAIN"},
        "The name is there. It only has no address of that family.",
    ),
    Mistake(
        "answers",
        {("1-2-3-4.svc.pod.cluster.local", "A"): "NXDOMAIN"},
        "Nobody looks whether there is such a pod: the address stands in the name.",
    ),
    Mistake(
        "answers",
        {("_http._tcp.one.svc.svc.cluster.local", "SRV"): "yes"},
        "A port without a name has no record under one.",
    ),
    Mistake(
        "questions",
        {"web.svc.svc.cluster.local": 1},
        "It has four dots, and five are needed to be taken for a full name.",
    ),
    Mistake(
        "questions",
        {"nope": 3},
        "At the very end the name is tried as it is.",
    ),
    Mistake(
        "names",
        {"10.244.2.22": 1},
        "A pod has a name for each Service that selects it.",
    ),
    Mistake(
        "seconds",
        {"NXDOMAIN": 5},
        "A no is remembered: for half a minute the server is not asked again.",
    ),
    Mistake(
        "seconds",
        {"SERVFAIL": 30},
        "That a server failed says nothing about the name: it is asked again.",
    ),
    Mistake(
        "addresses",
        only_cluster_addresses,
        "A headless Service has no address: its pods have.",
        seen=lambda said: said["headless.svc.svc.cluster.local"] == ["None"],
    ),
]
