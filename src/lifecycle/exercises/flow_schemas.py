"""Flow schemas: in which queue does a request wait, and behind whom?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from typing import Any

from lifecycle.agreements.apiserver.handler_chain import recorded_events
from lifecycle.api import fast_json
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.filters.flow_schema import (
    flow_distinguisher,
    matches_flow_schema,
    sort_flow_schemas,
)
from lifecycle.exercises.exercise import Attempt, Case, Exercise
from lifecycle.inspector import open_recording

CONTRACT = """\
flow(schemas, request) -> [schema name, distinguisher] or None

schemas: FlowSchemas as the API shows them, in any order.
request: {"user", "groups", "verb", "group", "resource", "subresource", "namespace",
        "path"}. "resource" is empty if it is about none ("/healthz"), "namespace" if
        it is in none.
The schema with the lowest matchingPrecedence of which one of the rules fits decides; of
equal ones the one whose name comes first. A rule fits if one of its subjects is the
user, and one of its resourceRules (for a request about a resource) or nonResourceRules
(for another one) the request; "*" stands for anything. A service account is the user
system:serviceaccount:NAMESPACE:NAME. A resourceRule names "pods/status" if it means a
subresource; it fits a request without a namespace only if it says clusterScope. A path
in nonResourceURLs means what is below it, too. The distinguisher is the user's name
(ByUser), the namespace (ByNamespace), or an empty text."""

STARTER = '''\
def flow(schemas, request):
    """The schema, and what tells its flows apart."""
    for schema in schemas:
        for rule in schema["spec"]["rules"]:
            for subject in rule["subjects"]:
                if subject.get("group", {}).get("name") in request["groups"]:
                    return [schema["metadata"]["name"], request["user"]]
    return None
'''

Person = tuple[str, tuple[str, ...]]
ALL = "system:authenticated"
PEOPLE: tuple[Person, ...] = (
    ("kubernetes-admin", ("kubeadm:cluster-admins", ALL)),
    ("root", ("system:masters", ALL)),
    ("system:node:one", ("system:nodes", ALL)),
    ("system:kube-controller-manager", (ALL,)),
    ("system:serviceaccount:kube-system:job-controller", ("system:serviceaccounts",)),
    ("system:serviceaccount:shop:loop", ("system:serviceaccounts", ALL)),
    ("system:serviceaccount:shop:nightly", ("system:serviceaccounts", ALL)),
    ("system:anonymous", ("system:unauthenticated",)),
    ("nobody", ()),
)
RESOURCES = (
    ("", "pods", "", "shop"),
    ("", "pods", "status", "shop"),
    ("", "nodes", "status", ""),
    ("apps", "deployments", "", "shop"),
    ("coordination.k8s.io", "leases", "", "kube-system"),
)
PATHS = ("/healthz", "/readyz/etcd", "/version", "/probe/deep/inside", "/probes")


def cases() -> Iterator[Case]:
    """The recorded cluster's schemas and requests, and schemas of our own."""
    recorded, requests = fast_json.loads(_recorded())
    for group, schemas in (
        ("the recorded schemas", recorded),
        ("schemas of our own", [*recorded, *_made_up()]),
    ):
        for person, about, verb in product(PEOPLE, RESOURCES, ("list", "update")):
            api_group, resource, subresource, namespace = about
            request = _request(person, verb, namespace=namespace, group=api_group)
            request |= {"resource": resource, "subresource": subresource}
            yield _case(group, schemas, request)
        for person, path in product(PEOPLE, PATHS):
            yield _case(group, schemas, _request(person, "get", path=path))
    for request in requests:
        yield _case("the recorded requests", recorded, request)


@cache
def _recorded() -> bytes:
    """The recorded cluster's schemas, and each kind of request in its audit log."""
    recording = open_recording()
    schemas = [
        item
        for exchange in recording.exchanges("objects")
        if exchange.path.startswith("/apis/flowcontrol.apiserver.k8s.io/")
        and "flowschemas" in exchange.path
        for item in exchange.response["items"]
    ]
    requests: list[Object] = []
    for event in recorded_events(recording):
        told = event.get("objectRef") or {}
        person = event["user"]["username"], tuple(event["user"]["groups"])
        request = _request(
            person,
            event["verb"],
            group=told.get("apiGroup", ""),
            namespace=told.get("namespace", ""),
        )
        request |= {
            "resource": told.get("resource", ""),
            "subresource": told.get("subresource", ""),
        }
        if request not in requests:
            requests.append(request)
    return fast_json.dumps((schemas, requests))


def _made_up() -> Iterator[Object]:
    """A schema for each rule of the contract that the recorded ones do not need."""
    loop = {"namespace": "shop", "name": "loop"}
    one = {"kind": "ServiceAccount", "serviceAccount": loop}
    nodes = {"kind": "Group", "group": {"name": "system:nodes"}}
    anybody = {"kind": "User", "user": {"name": "*"}}
    for name, rank, method, subject, resources, paths in (
        ("b-loop", 700, "ByNamespace", one, ["pods", "deployments"], []),
        ("a-loop", 700, "ByUser", one, ["pods/status", "deployments"], []),
        ("of-nodes", 300, "", nodes, ["*"], []),
        ("of-probes", 600, "", anybody, [], ["/probe", "/readyz/*"]),
    ):
        rule: Object = {
            "verbs": ["*"],
            "apiGroups": ["*"],
            "resources": resources,
            "namespaces": ["shop"],
        }
        listed: Object = {"subjects": [subject]}
        if resources:
            listed["resourceRules"] = [rule]
        if paths:
            listed["nonResourceRules"] = [{"verbs": ["get"], "nonResourceURLs": paths}]
        spec: Object = {"matchingPrecedence": rank, "rules": [listed]}
        if method:
            spec["distinguisherMethod"] = {"type": method}
        yield {"metadata": {"name": name}, "spec": spec}


def _request(person: Person, verb: str, **more: str) -> Object:
    user, groups = person
    empty = dict.fromkeys(("group", "resource", "subresource", "namespace"), "")
    return {
        "user": user,
        "groups": list(groups),
        "verb": verb,
        **empty,
        "path": "/",
        **more,
    }


def _case(group: str, schemas: list[Object], request: Object) -> Case:
    what = ".".join(filter(None, (request["resource"], request["group"])))
    parts = (
        request["user"],
        request["verb"],
        "/".join(filter(None, (what, request["subresource"]))) or request["path"],
        "in",
        request["namespace"] or "no namespace",
    )
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(schemas, request)  # noqa: E731
    label = " ".join(parts).replace("/", "∕")
    return Case(group, label, _ours(schemas, request), ask, [schemas, request], request)


def _ours(schemas: list[Object], request: Object) -> list[str] | None:
    info = RequestInfo(
        bool(request["resource"]),
        request["path"],
        request["verb"],
        group=request["group"],
        namespace=request["namespace"],
        resource=request["resource"],
        subresource=request["subresource"],
    )
    user = UserInfo(request["user"], tuple(request["groups"]))
    for schema in sort_flow_schemas(schemas):
        if matches_flow_schema(schema, user, info):
            return [schema["metadata"]["name"], flow_distinguisher(schema, user, info)]
    return None


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "flow-schemas",
    "In which queue a request waits",
    CONTRACT,
    STARTER,
    "the book's own, which classifies as the recorded server's headers say",
    cases,
    ours,
    ("priority-and-fairness", "flow-control"),
)
