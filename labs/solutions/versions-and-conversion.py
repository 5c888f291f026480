"""Answers to labs/versions-and-conversion.ipynb, and words for common mistakes."""

import json

from lifecycle.exercises.lab import Mistake

your_face = {
    "targetCPUUtilizationPercentage": 60,
    "the memory is in the spec": False,
    "the memory is in an annotation": True,
    "the same uid": True,
    "the same resourceVersion": True,
    "apiVersion": "autoscaling/v1",
}
your_metrics = {
    "it changes maxReplicas": ["cpu", "memory"],
    "it takes all annotations away": ["cpu"],
    "it takes targetCPUUtilizationPercentage away": ["memory"],
}


def your_site(site, api_version):
    if site["apiVersion"] == api_version:
        return site
    spec, metadata = site["spec"], dict(site["metadata"])
    annotations = dict(metadata.pop("annotations", {}))
    if api_version.endswith("/v1"):
        host, _, port = spec["address"].partition(":")
        more = json.loads(annotations.pop(LUGGAGE, "{}"))
        spec = {"host": host, "port": int(port), **more}
    else:
        if "tls" in spec:
            annotations[LUGGAGE] = json.dumps({"tls": spec["tls"]})
        spec = {"address": f"{spec['host']}:{spec['port']}"}
    if annotations:
        metadata["annotations"] = annotations
    return {**site, "apiVersion": api_version, "metadata": metadata, "spec": spec}


def loses_tls(site, api_version):
    if site["apiVersion"] == api_version:
        return site
    spec = site["spec"]
    if api_version.endswith("/v1"):
        host, _, port = spec["address"].partition(":")
        spec = {"host": host, "port": int(port)}
    else:
        spec = {"address": f"{spec['host']}:{spec['port']}"}
    return {**site, "apiVersion": api_version, "spec": spec}


def a_number_as_text(site, api_version):
    spec = site["spec"]
    if api_version.endswith("/v1"):
        host, _, port = spec.get("address", "a:1").partition(":")
        spec = {"host": host, "port": port}
    else:
        spec = {"address": f"{spec['host']}:{spec['port']}"}
    return {**site, "apiVersion": api_version, "spec": spec}


def leaves_the_luggage(site, api_version):
    if site["apiVersion"] == api_version:
        return site
    spec, metadata = site["spec"], dict(site["metadata"])
    annotations = dict(metadata.pop("annotations", {}))
    if api_version.endswith("/v1"):
        host, _, port = spec["address"].partition(":")
        more = json.loads(annotations.get(LUGGAGE, "{}"))
        spec = {"host": host, "port": int(port), **more}
    else:
        if "tls" in spec:
            annotations[LUGGAGE] = json.dumps({"tls": spec["tls"]})
        spec = {"address": f"{spec['host']}:{spec['port']}"}
    if annotations:
        metadata["annotations"] = annotations
    return {**site, "apiVersion": api_version, "metadata": metadata, "spec": spec}


your_steps = {
    "v1 is the stored one": False,
    "every object has been written once more": False,
    "v1beta1 is taken from status.storedVersions": True,
}

MISTAKES = [
    Mistake(
        "face",
        {"the same resourceVersion": False},
        "There is one object, and nobody has written it since.",
    ),
    Mistake(
        "face",
        {"apiVersion": "autoscaling/v2"},
        "You get it in the words in which you ask.",
    ),
    Mistake(
        "face",
        {"the memory is in an annotation": False},
        "It has to be somewhere, or the old client's next write would destroy it.",
    ),
    Mistake(
        "metrics",
        {"it changes maxReplicas": ["cpu"]},
        "The memory travels along, although the client does not know it.",
    ),
    Mistake(
        "metrics",
        {"it takes all annotations away": ["cpu", "memory"]},
        "Where was the memory?",
    ),
    Mistake(
        "metrics",
        {"it takes targetCPUUtilizationPercentage away": ["cpu", "memory"]},
        "That number is what the old version calls the processor's metric.",
    ),
    Mistake(
        "site",
        a_number_as_text,
        "In `v1` the port is a number, and `address` holds a text.",
        seen=lambda came: came["an old one"]["port"] == "8080",
    ),
    Mistake(
        "site",
        loses_tls,
        "Whether it has TLS is lost on the way there: where could it travel?",
        seen=lambda came: "tls" not in came["a secure one's spec"],
    ),
    Mistake(
        "site",
        leaves_the_luggage,
        "Back home the luggage is unpacked: its annotation has to go.",
        seen=lambda came: not came["a secure one, there and back"],
    ),
    Mistake(
        "steps",
        {"v1 is the stored one": True},
        "Those that were written before still lie there as `v1beta1`.",
    ),
    Mistake(
        "steps",
        {"every object has been written once more": True},
        "The server does not count. It believes a list, and that is in your hands.",
    ),
]
