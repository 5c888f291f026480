"""Attempts at a token, a webhook's rules, an old list, and a binding."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any


def service_account_token(slip: str) -> Callable[..., Any]:
    """A list of things that have to be there."""
    leeway = 0 if slip == "clocks agree" else 60

    def account(token: Any, audiences: Any, objects: Any, now: float) -> Any:
        about = token["kubernetes.io"]

        def is_there(kind: str, reference: Any) -> bool:
            space = "" if kind == "Node" and slip != "nodes lie in a namespace" else about["namespace"]
            for one in objects:
                if (one["kind"], one["name"]) != (kind, reference["name"]):
                    continue
                if one["namespace"] != space and slip != "any namespace":
                    continue
                if one["uid"] != reference["uid"] and slip != "names are enough":
                    continue
                if slip == "whoever leaves is gone" and one["deleted"] is not None:
                    continue
                if one["deleted"] is None or one["deleted"] >= now - 60 or slip == "nobody leaves":
                    return True
            return False

        if slip == "any audience":
            pass
        elif slip == "all audiences":
            if not set(audiences) <= set(token["aud"]):
                return None
        elif not set(audiences) & set(token["aud"]):
            return None
        if not token["nbf"] - leeway <= now <= token["exp"] + leeway and slip != "for ever":
            return None
        needed = [("ServiceAccount", about["serviceaccount"])]
        needed += [(kind, about[kind.lower()]) for kind in ("Pod", "Secret", "Node") if kind.lower() in about]
        if "pod" in about and slip != "the node of a pod":
            needed = [each for each in needed if each[0] != "Node"]
        if slip == "the account alone":
            needed = needed[:1]
        if not all(is_there(*each) for each in needed):
            return None
        space = about["namespace"]
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{space}"]
        name = f"system:serviceaccount:{space}:{about['serviceaccount']['name']}"
        return {"name": name, "uid": about["serviceaccount"]["uid"], "groups": groups}

    return account


def webhook_rules(slip: str) -> Callable[..., Any]:
    """Patterns, each cut in two."""

    def names(listed: Any, word: str) -> bool:
        return word in listed or ("*" in listed and slip != "no stars")

    def about(pattern: str, request: Any) -> bool:
        resource, slash, sub = pattern.partition("/")
        if resource not in ("*", request["resource"]):
            return False
        if not slash:
            return not request["subresource"] or slip == "a resource means its subresources"
        if slip == "a star is something":
            return sub == request["subresource"] or (sub == "*" and bool(request["subresource"]))
        return sub in ("*", request["subresource"])

    def is_in(scope: str, request: Any) -> bool:
        if slip == "no scopes" or scope == "*":
            return True
        inside = bool(request["namespaced"])
        if slip == "a namespace lies in itself":
            inside = bool(request["namespace"])
        return inside == (scope == "Namespaced")

    def is_asked(rules: Any, request: Any) -> bool:
        found = []
        for rule in rules:
            questions = (
                names(rule["operations"], request["operation"]),
                names(rule["apiGroups"], request["group"]),
                slip == "any version" or names(rule["apiVersions"], request["version"]),
                any(about(pattern, request) for pattern in rule["resources"]),
                is_in(rule.get("scope", "*"), request),
            )
            found.append(questions)
        if slip == "rules add up":
            return bool(found) and all(any(column) for column in zip(*found, strict=True))
        if slip == "all rules":
            return bool(found) and all(map(all, found))
        return any(map(all, found))

    return is_asked


def initializers(slip: str) -> Callable[..., Any]:
    """A dict keeps what came first."""

    def fits(rule: Any, resource: Any) -> bool:
        lists = ("apiGroups", "apiVersions", "resources")
        words = [resource[key] for key in ("group", "version", "resource")]
        if slip == "versions do not matter":
            lists, words = ("apiGroups", "resources"), [words[0], words[2]]
        stars = set() if slip == "no stars" else {"*"}
        return all({word, *stars} & set(rule[key]) for key, word in zip(lists, words, strict=True))

    def pending(configurations: Any, resource: Any) -> Any:
        found: list[str] = []
        for name in configurations if slip == "as they come" else sorted(configurations):
            for each in configurations[name]["initializers"]:
                rules = [fits(rule, resource) for rule in each["rules"]]
                care = all(rules) if slip == "all rules" else any(rules)
                if slip == "the first rule" and rules:
                    care = rules[0]
                if care:
                    found.append(each["name"])
        if slip == "twice":
            return found
        if slip == "by name":
            return sorted(set(found))
        if slip == "where it comes last":
            return list(dict.fromkeys(found[::-1]))[::-1]
        return list(dict.fromkeys(found))

    return pending


def binding(slip: str) -> Callable[..., Any]:
    """A copy is changed."""

    def bind(pod: Any, binding: Any, now: str) -> Any:
        meta, spec, told = pod["metadata"], pod["spec"], binding["metadata"]
        words = [
            (bool(told.get("uid")) and told["uid"] != meta["uid"] and slip != "any pod of that name", "another pod"),
            ("deletionTimestamp" in meta and slip != "whoever leaves", "deleted"),
            (bool(spec.get("nodeName")) and (slip != "the same node" or spec["nodeName"] != "one"), "taken"),
            (bool(spec.get("schedulingGates")) and slip != "no gates", "gated"),
        ]
        if slip == "empty gates":
            words[3] = ("schedulingGates" in spec, "gated")
        for refused, word in words[::-1] if slip == "the other way round" else words:
            if refused:
                return word
        new = deepcopy(pod)
        new["spec"]["nodeName"] = binding["target"]["name"]
        for key in ("labels", "annotations"):
            if told.get(key) and slip != "no labels":
                own = {} if slip == "only the binding's" else new["metadata"].get(key, {})
                new["metadata"][key] = {**told[key], **own} if slip == "the pod's win" else {**own, **told[key]}
        status = new["status"]
        if slip != "still nominated":
            status.pop("nominatedNodeName", None)
        made = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
        conditions = status.setdefault("conditions", [])
        places = [n for n, one in enumerate(conditions) if one["type"] == "PodScheduled"]
        if places and conditions[places[0]]["status"] == "True" and slip != "always a new time":
            made["lastTransitionTime"] = conditions[places[0]]["lastTransitionTime"]
        if slip == "one more":
            places = []
        if slip == "it comes last" and places:
            del conditions[places.pop()]
        if slip == "the reason stays" and places:
            conditions[places[0]].update(made)
        elif places:
            conditions[places[0]] = made
        elif slip != "no condition":
            conditions.append(made)
        return new

    return bind
