"""Attempts at a form, a word, and an allowance."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any


def create_deployment(slip: str) -> Callable[..., Any]:
    """The container's name by a regular expression."""
    last = re.compile(r"(?:.*/)?(?P<name>[^:@/]*)")

    def container(image: str, command: Any, suffix: str) -> Any:
        if slip == "the colon first":
            name = image.split(":")[0].split("@")[0].rpartition("/")[2]
        elif slip == "the tag stays":
            name = image.rpartition("/")[2].split("@")[0]
        elif slip == "the digest stays":
            name = image.rpartition("/")[2].split(":")[0]
        else:
            found = last.match(image)
            assert found is not None
            name = found["name"]
        odd = re.sub(r"[._]", "-", name)
        if slip == "dots stay":
            odd = name.replace("_", "-")
        if odd != name and slip != "no suffix":
            odd += f"-{suffix}"
        made = {"name": odd, "image": image}
        if command:
            made["command"] = command[:]
        return made

    def deployment(name: str, images: Any, command: Any, replicas: int, port: Any, suffix: str) -> Any:
        containers = [container(image, command, suffix) for image in images]
        if slip == "a command for the first":
            for each in containers[1:]:
                each.pop("command", None)
        if port or (port == 0 and slip != "port zero is none"):
            for each in containers if slip == "a port for all" else containers[:1]:
                each["ports"] = [{"containerPort": port}]
        labels = {"app": name}
        metadata = {"name": name} if slip == "no label of its own" else {"name": name, "labels": labels}
        spec: Any = {"selector": {"matchLabels": labels}}
        spec["template"] = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
        spec["replicas"] = replicas if replicas or slip != "zero is none" else 1
        if slip == "defaults":
            spec["strategy"] = {"type": "RollingUpdate"}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}

    return deployment


def resource_words(slip: str) -> Callable[..., Any]:
    """Every resource gets a rank, the lowest is meant."""

    def rank(one: Any, name: str, qualifier: str) -> Any:
        names = [one["resource"], one["singular"]]
        if slip != "no kinds":
            names.append(one["kind"].lower())
        if name in names:
            by = 0
        elif name in one["shortNames"]:
            by = 0 if slip == "short ones are as good" else 1
        else:
            return None
        exact = qualifier in ("", one["group"], f"{one['version']}.{one['group']}")
        if name not in names and slip != "short ones keep versions":
            _, dot, group = qualifier.partition(".")
            exact = exact or (bool(dot) and group == one["group"])
        if slip == "no versions":
            exact = qualifier in ("", one["group"])
        if exact:
            return 0, by
        begins = bool(qualifier) and one["group"].startswith(qualifier)
        if slip == "anything within":
            begins = bool(qualifier) and qualifier in one["group"]
        if not begins or slip == "whole groups only":
            return None
        return (0, by) if slip == "a beginning is enough" else (1, by)

    def find(resources: Any, word: str) -> Any:
        name, _, qualifier = (word if slip == "capitals count" else word.lower()).partition(".")
        ranked = [(rank(one, name, qualifier), number) for number, one in enumerate(resources)]
        fitting = sorted((place, number) for place, number in ranked if place is not None)
        if not fitting:
            return None
        one = resources[max(fitting, key=lambda each: each[1])[1] if slip == "the last one" else fitting[0][1]]
        return "/".join((one["group"], one["version"], one["resource"]))

    return find


def token_bucket(slip: str) -> Callable[..., Any]:
    """When is the next token free? One number is enough: the time up to which all are spent."""

    def waits(qps: float, burst: int, moments: Any) -> Any:
        found = []
        full = burst / qps
        spent = None
        for now in moments:
            if spent is None:
                spent = now - full
            if slip == "it begins empty" and not found:
                spent = now
            if slip != "more than the burst":
                spent = max(spent, now - full)
            if slip == "whole tokens":
                spent = now - int((now - spent) * qps + 1e-9) / qps
            spent += 1 / qps
            wait = max(0.0, spent - now)
            if slip == "those who wait take none" and wait:
                spent -= 1 / qps
            found.append(wait)
        if slip == "since the beginning":
            return [max(0.0, (number + 1 - burst) / qps - now) for number, now in enumerate(moments)]
        return found

    return waits
