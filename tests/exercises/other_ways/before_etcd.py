"""Attempts at what happens before an object is stored: a kubeconfig, and a permission."""

from __future__ import annotations

import os.path
from collections.abc import Callable
from typing import Any


def kubeconfig_merge(slip: str) -> Callable[..., Any]:
    """Entries into dicts by name, files from the last to the first, so that the first one writes over the others."""

    def absolute(folder: str, entry: Any) -> Any:
        if isinstance(entry, dict):
            found = {}
            for key, value in entry.items():
                path = key in ("certificate-authority", "client-certificate", "client-key", "tokenFile")
                path |= key == "command" and ("/" in value or slip == "every command")
                if slip == "token files" and key == "tokenFile":
                    path = False
                whole = path and value and slip != "paths as they are"
                found[key] = os.path.normpath(os.path.join(folder, value)) if whole else absolute(folder, value)
            return found
        return entry

    def merge(files: Any) -> Any:
        sections: dict[str, dict[str, Any]] = {"clusters": {}, "users": {}, "contexts": {}}
        current, preferences = "", {}
        for folder, document in files if slip == "the last one wins" else reversed(files):
            for section, entries in sections.items():
                for entry in reversed(document.get(section) or []):
                    made = absolute(folder, entry)
                    if slip == "entries are mixed" and entry["name"] in entries:
                        kind = section[:-1]
                        made = {**made, kind: {**(entries[entry["name"]][kind] or {}), **(made[kind] or {})}}
                    entries[entry["name"]] = made
            if document.get("current-context") and not (
                slip == "the first file's context" and document is files[-1][1]
            ):
                current = document["current-context"]
            if slip == "preferences as a whole":
                preferences = document.get("preferences") or preferences
            else:
                said = (document.get("preferences") or {}).items()
                preferences = {**preferences, **{key: value for key, value in said if value}}
        merged: dict[str, Any] = {section: list(entries.values()) for section, entries in sections.items()}
        return {**merged, "current-context": current, "preferences": preferences}

    return merge


def rbac(slip: str) -> Callable[..., Any]:
    """The rules that hold for somebody are collected first, then asked one after the other."""

    def is_meant(subject: Any, spec: Any, binding: Any) -> bool:
        user, kind, name = spec.get("user") or "", subject["kind"], subject["name"]
        if kind == "Group":
            return slip != "no groups" and name in (spec.get("groups") or [])
        if kind == "ServiceAccount":
            home = subject.get("namespace") or binding
            if slip == "any account of that name":
                return bool(user.startswith("system:serviceaccount:") and user.endswith(f":{name}"))
            return bool(user == f"system:serviceaccount:{home}:{name}")
        return bool(user == name)

    def covers(rule: Any, spec: Any) -> bool:
        asked = spec.get("resourceAttributes")
        verbs = rule.get("verbs") or []
        verb = (asked or spec.get("nonResourceAttributes") or {}).get("verb", "")
        if verb not in verbs and "*" not in verbs:
            return False
        if asked is None:
            path = (spec.get("nonResourceAttributes") or {}).get("path", "")
            for url in rule.get("nonResourceURLs") or []:
                if slip == "no stars in paths":
                    url = url.replace("*", "?")
                if url == path or (url.endswith("*") and path.startswith(url[:-1].rstrip("*"))):
                    return True
            return False
        groups, resources = rule.get("apiGroups") or [], rule.get("resources") or []
        if asked.get("group", "") not in groups and "*" not in groups and slip != "any group":
            return False
        sub = asked.get("subresource", "")
        wanted = {
            asked.get("resource", "") + (f"/{sub}" if sub and slip != "subresources count as their resource" else "")
        }
        wanted |= {"*"} | ({f"*/{sub}"} if sub else set())
        if not wanted & set(resources):
            return False
        names = rule.get("resourceNames") or []
        return not names or asked.get("name", "") in names or slip == "names do not matter"

    def authorize(policy: Any, spec: Any) -> bool:
        there = (spec.get("resourceAttributes") or {}).get("namespace", "")
        rules = []
        for kind in ("clusterRoleBindings", "roleBindings"):
            for binding in policy[kind]:
                home = binding["metadata"].get("namespace", "")
                if kind == "roleBindings" and home != there and slip != "bindings count everywhere":
                    continue
                if kind == "roleBindings" and not there:
                    continue
                if any(is_meant(subject, spec, home) for subject in binding.get("subjects") or []):
                    ref = binding["roleRef"]
                    roles = policy["clusterRoles"]
                    if ref["kind"] == "Role":
                        roles = [role for role in policy["roles"] if role["metadata"]["namespace"] == home]
                    elif kind == "roleBindings" and slip == "only roles in a namespace":
                        roles = []
                    rules += [
                        rule for r in roles if r["metadata"]["name"] == ref["name"] for rule in r.get("rules") or []
                    ]
        return any(covers(rule, spec) for rule in rules)

    return authorize
