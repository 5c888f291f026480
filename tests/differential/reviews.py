"""Access reviews whose selectors have something wrong with them, and what else a question may lack."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from tests.differential.case import Case, Step

Object = dict[str, Any]

AUTH = "/apis/authorization.k8s.io/v1"
REQUIREMENTS: list[Object] = [
    {},
    {"key": "a"},
    {"key": "a", "operator": "In"},
    {"key": "a", "operator": "In", "values": ["b"]},
    {"key": "a", "operator": "In", "values": ["b", "c"]},
    {"key": "a", "operator": "NotIn", "values": ["b"]},
    {"key": "a", "operator": "NotIn", "values": ["b", "c"]},
    {"key": "a", "operator": "NotIn", "values": []},
    {"key": "a", "operator": "Exists"},
    {"key": "a", "operator": "Exists", "values": ["b"]},
    {"key": "a", "operator": "DoesNotExist"},
    {"key": "a", "operator": "DoesNotExist", "values": ["b"]},
    {"key": "a", "operator": "Equals", "values": ["b"]},
    {"key": "", "operator": "In", "values": ["b"]},
    {"key": "A b!", "operator": "In", "values": ["b"]},
    {"key": "a", "operator": "In", "values": ["b c!"]},
    {"key": "a", "operator": "in", "values": ["b"]},
    {"key": "x/y/z", "operator": "Exists"},
    {"key": "spec.nodeName", "operator": "In", "values": ["n"]},
    {"key": "spec.nodeName", "operator": "NotIn", "values": ["n"]},
    {"key": "a" * 70, "operator": "Exists"},
    {"key": "a", "operator": "In", "values": ["b" * 70]},
    {"key": "a", "operator": "Gt", "values": ["1"]},
    {"operator": "Exists"},
]
RAW = [
    "",
    "a=b",
    "a==b",
    "a!=b",
    "a in (b",
    "a",
    "!a",
    "a,b",
    "x=y,",
    "=",
    "a=b,c=d",
    "a in (b,c)",
    "a notin (b)",
    "a>1",
    "!!",
    "spec.nodeName=n",
    "metadata.name=x",
    "a=b\\",
    "a\\=b=c",
    " ",
    "a b",
    "a=b=c",
]


def _selectors() -> Iterator[Object]:
    yield {}
    for raw in RAW:
        yield {"rawSelector": raw}
    for requirement in REQUIREMENTS:
        yield {"requirements": [requirement]}
    yield {"requirements": []}
    yield {"rawSelector": "a=b", "requirements": [REQUIREMENTS[3]]}
    yield {"rawSelector": "a in (b", "requirements": [REQUIREMENTS[0]]}
    yield {"requirements": [REQUIREMENTS[0], REQUIREMENTS[3], REQUIREMENTS[12], REQUIREMENTS[9]]}
    yield {"requirements": [REQUIREMENTS[3], REQUIREMENTS[12]]}
    yield {"requirements": [REQUIREMENTS[2], REQUIREMENTS[14]]}


def _specs() -> Iterator[Object]:
    for which in ("fieldSelector", "labelSelector"):
        for selector in _selectors():
            yield {"resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "{ns}", which: selector}}
    for fields, labels in product(
        ({"rawSelector": "a in (b"}, {"requirements": [{}]}, {"requirements": [REQUIREMENTS[3]]}),
        ({"rawSelector": "a in (b"}, {"requirements": [{}]}, {"requirements": [REQUIREMENTS[3]]}),
    ):
        yield {
            "resourceAttributes": {"verb": "list", "resource": "pods", "fieldSelector": fields, "labelSelector": labels}
        }
    yield {
        "nonResourceAttributes": {"path": "/x", "verb": "get"},
        "resourceAttributes": {"verb": "list", "fieldSelector": {"requirements": [{}]}},
    }
    yield {"nonResourceAttributes": {"path": "/x", "verb": "get"}}
    yield {"nonResourceAttributes": {}}
    yield {"resourceAttributes": {}}
    yield {}
    yield {"resourceAttributes": {"verb": "list", "resource": "pods", "namespace": "other"}}
    yield {
        "resourceAttributes": {
            "verb": "*",
            "resource": "*",
            "group": "*",
            "version": "*",
            "name": "*",
            "subresource": "*",
        }
    }


def cases() -> Iterator[Case]:
    """Some users ask about others, or about themselves."""
    for kind, path, asking in (
        (
            "SubjectAccessReview",
            f"{AUTH}/subjectaccessreviews",
            [
                {"user": "u"},
                {"groups": ["g"]},
                {},
                {"user": "system:node:n", "groups": ["system:nodes", "system:authenticated"]},
            ],
        ),
        ("SelfSubjectAccessReview", f"{AUTH}/selfsubjectaccessreviews", [{}]),
        ("LocalSubjectAccessReview", f"{AUTH}/namespaces/{{ns}}/localsubjectaccessreviews", [{"user": "u"}, {}]),
    ):
        for who in asking:
            yield Case(
                tuple(
                    Step("POST", path, {"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": {**who, **spec}})
                    for spec in _specs()
                ),
                name=f"{kind} {who}",
            )
