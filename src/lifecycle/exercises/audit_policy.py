"""An audit policy: how much of a request is kept?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from random import Random
from typing import Any

from lifecycle.agreements.apiserver.handler_chain import recorded_events
from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.audit.policy import AuditPolicy
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
audit_level(policy, request) -> {"level": str, "omitStages": list of str}

policy:  {"rules": [...], "omitStages": [...]}, the latter if there are any. A rule has
        "level", and may have "users", "userGroups", "verbs", "namespaces", "resources",
        "nonResourceURLs" and "omitStages".
request: {"user", "groups", "verb", "group", "resource", "subresource", "namespace",
        "name", "path"}. "resource" is empty if it is about none ("/healthz").
The first rule of which everything fits decides; if none does, the level is "None". The
stages are the policy's, then the rule's. A rule with namespaces or resources fits only
requests about resources, one with nonResourceURLs only the others ("*" at an end stands
for any). An item of resources is {"group": "apps", "resources": ["deployments"],
"resourceNames": [...]}: the group is empty for the core, "*" for any; without resources
all of the group are meant. "pods" means no subresource, "pods/log" that one, "pods/*"
pods and all that they have, "*/scale" the scale of all, "*" everything."""

STARTER = '''\
def audit_level(policy, request):
    """How much is kept."""
    for rule in policy["rules"]:
        if request["verb"] in rule.get("verbs", [request["verb"]]):
            return {"level": rule["level"], "omitStages": []}
    return {"level": "None", "omitStages": []}
'''

SEED = 36
POLICIES: dict[str, Object] = {
    "who": {
        "rules": [
            {"level": "None", "users": ["system:kube-proxy"], "verbs": ["watch"]},
            {"level": "None", "userGroups": ["system:nodes"], "verbs": ["get"]},
            {"level": "Metadata"},
        ]
    },
    "what": {
        "omitStages": ["RequestReceived"],
        "rules": [
            {"level": "Metadata", "resources": [{"resources": ["secrets", "pods/*"]}]},
            {
                "level": "Request",
                "resources": [{"group": "apps", "resources": ["*/scale"]}],
                "omitStages": ["ResponseStarted"],
            },
            {"level": "RequestResponse", "resources": [{"group": "apps"}]},
        ],
    },
    "where": {
        "rules": [
            {"level": "None", "nonResourceURLs": ["/healthz*", "/version"]},
            {
                "level": "Request",
                "namespaces": ["shop"],
                "resources": [
                    {"resources": ["configmaps"], "resourceNames": ["settings"]},
                    {"group": "*", "resources": ["deployments"]},
                ],
            },
            {"level": "Metadata", "namespaces": ["shop", ""]},
        ]
    },
    "no rule": {"rules": [], "omitStages": ["Panic"]},
    "everything": {"rules": [{"level": "RequestResponse", "resources": [{}]}]},
}
WHO: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("ann", ("system:authenticated",)),
    ("system:kube-proxy", ("system:authenticated",)),
    ("system:node:one", ("system:nodes", "system:authenticated")),
)
RESOURCES = (
    ("", "secrets", ""),
    ("", "pods", "log"),
    ("", "configmaps", ""),
    ("apps", "deployments", ""),
    ("apps", "deployments", "scale"),
    ("batch", "jobs", ""),
)
PATHS = ("/healthz", "/healthz/etcd", "/version", "/metrics")


def cases() -> Iterator[Case]:
    """Five policies and every kind of request, and a recorded cluster's requests."""
    chance = Random(SEED)
    for name, policy in POLICIES.items():
        for (group, resource, sub), verb, namespace in product(
            RESOURCES, ("get", "update", "watch"), ("shop", "")
        ):
            user, groups = chance.choice(WHO)
            request = _request(user, groups, verb, namespace)
            request |= {"group": group, "resource": resource, "subresource": sub}
            request["name"] = chance.choice(("settings", "other"))
            yield _case(name, policy, request)
        for (user, groups), path in product(WHO, PATHS):
            yield _case(
                name, policy, _request(user, groups, "get", "") | {"path": path}
            )
    for request in fast_json.loads(_recorded_requests()):
        yield _case("recorded requests", POLICIES["what"], request)


@cache
def _recorded_requests() -> bytes:
    """One of each kind in the recorded audit log."""
    found: dict[tuple[str, ...], Object] = {}
    for event in recorded_events(open_recording()):
        about = event.get("objectRef") or {}
        user, groups = event["user"]["username"], tuple(event["user"]["groups"])
        request = _request(user, groups, event["verb"], about.get("namespace", ""))
        request |= {
            "path": event["requestURI"].partition("?")[0],
            "group": about.get("apiGroup", ""),
            "resource": about.get("resource", ""),
            "subresource": about.get("subresource", ""),
        }
        words = ("user", "verb", "resource", "subresource")
        found.setdefault(tuple(request[word] for word in words), request)
    return fast_json.dumps(list(found.values()))


def _request(user: str, groups: tuple[str, ...], verb: str, namespace: str) -> Object:
    return {
        "user": user,
        "groups": list(groups),
        "verb": verb,
        "group": "",
        "resource": "",
        "subresource": "",
        "namespace": namespace,
        "name": "",
        "path": "/",
    }


def _case(group: str, policy: Object, request: Object) -> Case:
    what = "/".join(filter(None, (request["resource"], request["subresource"])))
    where = request["namespace"] or "the cluster"
    words = f"{request['user']} {request['verb']} {what or request['path']}"
    label = f"{words} {request['name']} in {where}"
    if group == "recorded requests":
        label += f" at {request['path']}"
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(policy, request)  # noqa: E731
    question = {"policy": policy, "request": request}
    label = label.replace("/", "∕").replace("  ", " ")
    return Case(group, label, _ours(policy, request), ask, question)


def _ours(policy: Object, request: Object) -> Object:
    info = RequestInfo(
        bool(request["resource"]),
        request["path"],
        request["verb"],
        group=request["group"],
        namespace=request["namespace"],
        resource=request["resource"],
        subresource=request["subresource"],
        name=request["name"],
    )
    user = UserInfo(request["user"], tuple(request["groups"]))
    config = AuditPolicy(policy).evaluate(user, info)
    return {"level": config.level, "omitStages": list(config.omit_stages)}


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "audit-policy",
    "An audit policy",
    CONTRACT,
    STARTER,
    "the book's own, on a recorded cluster's requests among others",
    cases,
    ours,
    ("auditing", "audit"),
)
