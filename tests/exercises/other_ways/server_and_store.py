"""Attempts at what a request means, what a patch does, and where an object lies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def request_info(slip: str) -> Callable[..., Any]:
    """The path is eaten from the left, part by part."""

    def parse(method: str, path: str, query: Any) -> Any:
        parts = [part for part in path.split("/") if part]
        found = dict.fromkeys(("group", "version", "namespace", "resource", "subresource", "name"), "")
        prefix = 3 if parts[:1] == ["apis"] else 2
        if parts[:1] not in (["api"], ["apis"]) or len(parts) <= prefix:
            return {"verb": method.lower(), **found}
        found["group"] = parts[1] if prefix == 3 else ""
        found["version"], rest = parts[prefix - 1], parts[prefix:]
        verb = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}.get(method, "get")
        if slip == "HEAD is another verb" and method == "HEAD":
            verb = "head"
        special = rest[0] == "watch"
        if special:
            verb, rest = "watch", rest[1:]
        if rest[0] == "namespaces" and len(rest) > 1:
            found["namespace"] = "" if slip == "a namespace lies in none" and len(rest) == 2 else rest[1]
            own = rest[2:3] in (["status"], ["finalize"]) and slip != "status of a namespace is a resource"
            if len(rest) > 2 and not own:
                rest = rest[2:]
        found["resource"] = rest[0]
        found["name"] = rest[1] if len(rest) > 1 else ""
        found["subresource"] = rest[2] if len(rest) > 2 and slip != "no subresources" else ""
        if not found["name"] and verb == "get" and slip != "a list is a get":
            verb = "list"
        if not found["name"] and verb == "delete" and slip != "one delete":
            verb = "deletecollection"
        watches = (query.get("watch") or ["false"])[0].lower() not in ("false", "0", "")
        if slip == "any watch" and "watch" in query:
            watches = True
        if verb == "list" and watches and slip != "no watch":
            verb = "watch"
        selector = (query.get("fieldSelector") or [""])[0]
        pinned = verb in ("list", "watch") and not found["name"] and not special
        if pinned and slip != "a selector is no name":
            for term in selector.split(","):
                key, _, value = term.partition("=")
                if key == "metadata.name":
                    found["name"] = value.removeprefix("=")
        return {"verb": verb, **found}

    return parse


def merge_patch(slip: str) -> Callable[..., Any]:
    """A new object from the keys of both."""

    def merge(document: Any, patch: Any) -> Any:
        if not isinstance(patch, dict):
            return patch
        before = document if isinstance(document, dict) else {}
        if slip == "an object stays beside a value" and not isinstance(document, dict) and document is not None:
            return document
        made = {}
        for key in [*before, *(key for key in patch if key not in before)]:
            if key not in patch:
                made[key] = before[key]
            elif patch[key] is None:
                if slip == "null is a value":
                    made[key] = None
            elif isinstance(patch[key], dict) and slip != "only the first floor":
                new = key not in before
                made[key] = (
                    patch[key] if slip == "a new object keeps its nulls" and new else merge(before.get(key), patch[key])
                )
            elif isinstance(patch[key], list) and slip == "lists grow" and isinstance(before.get(key), list):
                made[key] = before[key] + patch[key]
            else:
                made[key] = patch[key]
        return made

    return merge


def etcd_keys(slip: str) -> Callable[..., Any]:
    """Exceptions first."""
    special = {
        "nodes": "minions",
        "services": "services/specs",
        "endpoints": "services/endpoints",
        "ingresses": "ingress",
        "replicationcontrollers": "controllers",
    }
    own_server = ("apiregistration.k8s.io", "apiextensions.k8s.io")

    def key(resource: Any, namespace: str, name: str) -> str:
        group, place = resource["group"], resource["resource"]
        if resource["custom"]:
            if slip == "custom ones have no group":
                return "/".join(filter(None, ("/registry", place, namespace, name)))
            return "/".join(filter(None, ("/registry", group, place, namespace, name)))
        if slip != "no old names":
            place = special.get(place, place)
        if slip == "nodes are nodes" and place == "minions":
            place = "nodes"
        if group in own_server and slip != "no group at all":
            place = f"{group}/{place}"
        if slip == "every group" and group:
            place = f"{group}/{resource['resource']}"
        if slip == "an empty namespace":
            return f"/registry/{place}/{namespace}/{name}"
        return "/".join(filter(None, ("/registry", place, namespace, name)))

    return key
