"""Admission: is a webhook asked about a request?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

from lifecycle.api.http.wire import Object
from lifecycle.api.resources import Resource, resource
from lifecycle.apiserver.admission.attributes import Attributes
from lifecycle.apiserver.admission.matching import rule_matches
from lifecycle.exercises.exercise import Attempt, Case, Exercise

CONTRACT = """\
is_asked(rules, request) -> bool

rules:   of a webhook or a policy: {"operations", "apiGroups", "apiVersions",
        "resources": lists of texts, "scope": "Cluster", "Namespaced" or "*", which is
        meant if there is none}.
request: {"operation": "CREATE", "UPDATE", "DELETE" or "CONNECT", "group", "version",
        "resource", "subresource", "namespaced": bool, "namespace"}.
One rule is enough, in which all four lists name the request; "*" in a list stands for
anything, and the group of the core is the empty text. In resources "pods" means pods
and none of their subresources, "pods/status" that one, "pods/*" pods with all that
they have, "*" all resources without a subresource, "*/*" everything. In the scope
"Namespaced" are requests for resources that lie in a namespace, in "Cluster" all
others; a Namespace itself lies in none."""

STARTER = '''\
def is_asked(rules, request):
    """Whether the webhook is asked."""
    return any(
        request["operation"] in rule["operations"]
        and request["group"] in rule["apiGroups"]
        and request["resource"] in rule["resources"]
        for rule in rules
    )
'''


def _rule(resources: str, groups: str = "", **more: Any) -> Object:
    return {
        "operations": ["*"],
        "apiGroups": groups.split(","),
        "apiVersions": ["*"],
        "resources": resources.split(","),
        **more,
    }


RULES: dict[str, list[Object]] = {
    "pods": [_rule("pods")],
    "pods, created or changed": [_rule("pods", operations=["CREATE", "UPDATE"])],
    "pods and all that they have": [_rule("pods/*")],
    "status and logs": [_rule("pods/status,pods/log")],
    "the scale of everything": [_rule("*/scale", "*")],
    "all without subresources": [_rule("*", "*")],
    "everything": [_rule("*/*", "*")],
    "the core": [_rule("*/*", "")],
    "apps": [_rule("deployments,replicasets", "apps", apiVersions=["v1"])],
    "apps, another version": [_rule("deployments", "apps", apiVersions=["v1beta1"])],
    "what lies in a namespace": [_rule("*", "*", scope="Namespaced")],
    "what lies in none": [_rule("*/*", "*", scope="Cluster")],
    "any scope": [_rule("pods,nodes", scope="*")],
    "two rules": [
        _rule("pods", operations=["CREATE"]),
        _rule("deployments", "apps", operations=["DELETE"]),
    ],
    "no rules": [],
    "rules that do not add up": [
        _rule("pods", "apps"),
        _rule("deployments", ""),
    ],
}
ABOUT: tuple[tuple[str, str, str], ...] = (
    ("pods", "", "shop"),
    ("pods", "status", "shop"),
    ("pods", "exec", "shop"),
    ("nodes", "", ""),
    ("nodes", "status", ""),
    ("namespaces", "", "shop"),
    ("deployments.apps", "", "shop"),
    ("deployments.apps", "scale", "shop"),
    ("replicasets.apps", "", "shop"),
)
OPERATIONS = ("CREATE", "UPDATE", "DELETE")


def cases() -> Iterator[Case]:
    """Every list of rules, and requests of all kinds."""
    for (name, rules), (what, subresource, namespace), operation in product(
        RULES.items(), ABOUT, OPERATIONS
    ):
        row = resource(what)
        request = {
            "operation": "CONNECT" if subresource == "exec" else operation,
            "group": row.group,
            "version": row.version,
            "resource": row.plural,
            "subresource": subresource,
            "namespaced": row.namespaced,
            "namespace": namespace,
        }
        if subresource != "exec" or operation == OPERATIONS[0]:
            yield _case(name, rules, request)


def _case(group: str, rules: list[Object], request: Object) -> Case:
    what = "/".join(filter(None, (request["resource"], request["subresource"])))
    label = f"{request['operation']} {what}".replace("/", "∕")
    ask: Callable[[Attempt], Any] = lambda attempt: attempt(rules, request)  # noqa: E731
    question = {"rules": rules, "request": request}
    return Case(group, label, _ours(rules, request), ask, question)


def _ours(rules: list[Object], request: Object) -> bool:
    row = _row(request)
    attributes = Attributes(
        operation=request["operation"],
        resource=row,
        subresource=request["subresource"],
        namespace=request["namespace"],
        name="x",
        obj=None,
    )
    return any(rule_matches(rule, attributes, row) for rule in rules)


def _row(request: Object) -> Resource:
    plural, group = request["resource"], request["group"]
    return resource(f"{plural}.{group}" if group else plural)


def ours() -> Attempt:
    """The book's."""
    return _ours


EXERCISE = Exercise(
    "webhook-rules",
    "Is the webhook asked?",
    CONTRACT,
    STARTER,
    "the book's own",
    cases,
    ours,
    ("admission", "webhooks"),
)
