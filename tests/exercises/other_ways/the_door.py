"""Attempts at what the log keeps and who waits where."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from typing import Any


def audit_policy(slip: str) -> Callable[..., Any]:
    """A rule is a list of questions, all of which have to be answered by yes."""

    def fits_item(item: Any, request: Any) -> bool:
        if item.get("group", "") not in (request["group"], *([] if slip == "no star for groups" else ["*"])):
            return False
        if not item.get("resources"):
            return True
        if item.get("resourceNames") and request["name"] not in item["resourceNames"] and slip != "names do not matter":
            return False
        whole = request["resource"] + (f"/{request['subresource']}" if request["subresource"] else "/")
        for pattern in item["resources"]:
            if pattern == "*":
                return True
            resource, slash, sub = pattern.partition("/")
            if not slash and slip != "a resource means its subresources":
                sub = ""
            elif not slash:
                sub = "*"
            if sub == "*" and slip == "pods/* are no pods" and not request["subresource"]:
                continue
            if sub != "*" and resource == "*" and not request["subresource"]:
                continue
            if fnmatch.fnmatchcase(whole, f"{resource}/{sub}"):
                return True
        return False

    def fits(rule: Any, request: Any) -> bool:
        questions = [
            not rule.get("users") or request["user"] in rule["users"],
            not rule.get("userGroups") or not {*rule["userGroups"]}.isdisjoint(request["groups"]),
            not rule.get("verbs") or request["verb"] in rule["verbs"],
        ]
        if slip == "one is enough" and any(rule.get(key) for key in ("users", "userGroups", "verbs")):
            names = ("users", "userGroups", "verbs")
            questions = [any(bool(rule.get(key)) and ok for key, ok in zip(names, questions, strict=True))]
        if rule.get("namespaces") or rule.get("resources"):
            questions.append(bool(request["resource"]) or slip == "paths are resources")
            questions.append(not rule.get("namespaces") or request["namespace"] in rule["namespaces"])
            questions.append(not rule.get("resources") or any(fits_item(item, request) for item in rule["resources"]))
        elif rule.get("nonResourceURLs"):
            questions.append(not request["resource"])
            questions.append(any(fnmatch.fnmatchcase(request["path"], one) for one in rule["nonResourceURLs"]))
        return all(questions)

    def audit_level(policy: Any, request: Any) -> Any:
        stages = policy.get("omitStages", [])
        rules = [rule for rule in policy["rules"] if fits(rule, request)]
        if not rules:
            return {"level": "Metadata" if slip == "no rule is metadata" else "None", "omitStages": [*stages]}
        rule = rules[-1] if slip == "the last one decides" else rules[0]
        more = rule.get("omitStages", [])
        if slip == "the rule's stages alone":
            return {"level": rule["level"], "omitStages": more or stages}
        return {"level": rule["level"], "omitStages": [*stages, *more]}

    return audit_level


def flow_schemas(slip: str) -> Callable[..., Any]:
    """Each schema is asked, then the best one is taken."""

    def is_subject(subject: Any, request: Any) -> bool:
        match subject["kind"]:
            case "User":
                return subject["user"]["name"] in ("*", request["user"])
            case "Group":
                return subject["group"]["name"] in ("*", *request["groups"])
        space, name = subject["serviceAccount"]["namespace"], subject["serviceAccount"]["name"]
        prefix = f"system:serviceaccount:{space}:"
        if slip == "any account of the namespace":
            return str(request["user"]).startswith(prefix)
        if name == "*":
            return slip != "no star for accounts" and str(request["user"]).startswith(prefix)
        return bool(request["user"] == prefix + name)

    def has(listed: Any, word: str) -> bool:
        return "*" in listed or word in listed

    def is_about(rule: Any, request: Any) -> bool:
        if not request["resource"]:
            for one in rule.get("nonResourceRules", []):
                for url in one["nonResourceURLs"]:
                    below = url.rstrip("*").rstrip("/") + "/"
                    path = request["path"]
                    inside = str(path).startswith(below) and slip != "only that path"
                    if has(one["verbs"], request["verb"]) and (url in ("*", path) or inside):
                        return True
            return False
        word = request["resource"]
        if request["subresource"] and slip != "no subresources":
            word += "/" + request["subresource"]
        for one in rule.get("resourceRules", []):
            place = has(one.get("namespaces", []), request["namespace"])
            if not request["namespace"]:
                place = bool(one.get("clusterScope")) or slip == "no namespace is any"
            asked = has(one["verbs"], request["verb"]) and has(one["apiGroups"], request["group"])
            if asked and has(one["resources"], word) and place:
                return True
        return False

    def flow(schemas: Any, request: Any) -> Any:
        fitting = [
            schema
            for schema in schemas
            if any(
                any(is_subject(subject, request) for subject in rule["subjects"]) and is_about(rule, request)
                for rule in schema["spec"]["rules"]
            )
        ]
        if not fitting:
            return None

        def rank(schema: Any) -> Any:
            number = schema["spec"]["matchingPrecedence"]
            if slip == "the highest first":
                number = -number
            return (number, "") if slip == "the first of equal ones" else (number, schema["metadata"]["name"])

        best = fitting[0] if slip == "in their order" else min(fitting, key=rank)
        method = best["spec"].get("distinguisherMethod", {}).get("type")
        told = {"ByUser": request["user"], "ByNamespace": request["namespace"]}.get(method, "")
        return [best["metadata"]["name"], request["user"] if slip == "always the user" else told]

    return flow
