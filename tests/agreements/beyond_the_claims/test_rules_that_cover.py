"""Which requests a rule covers: verb, group, resource and subresource, or a path."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from lifecycle.agreements.claim_checks.authorizing import JANE, RBAC
from lifecycle.api.http.wire import RequestInfo
from lifecycle.apiserver.authz.authorizer import Decision
from lifecycle.apiserver.authz.policy_rule import resource_matches, rule_allows_kind
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.storage.object_reader import StaticReader

RESOURCES: list[tuple[list[str] | None, str, str, bool]] = [
    # upstream: `evaluation_helpers.go` (`ResourceMatches`) and `TestResourceMatches`
    (["*"], "foo", "", True),
    (["*"], "foo", "bar", True),
    (["foo", "*"], "bar", "", True),
    (["foo", "bar"], "bar", "", True),
    (["foo", "bar"], "baz", "", False),
    (["foo", "bar"], "bar", "sub", False),
    (["foo/sub"], "foo", "sub", True),
    (["foo/sub"], "foo", "", False),
    (["foo/sub"], "foo", "other", False),
    (["foo/sub"], "bar", "sub", False),
    (["*/sub"], "foo", "sub", True),
    (["*/sub"], "foo", "other", False),
    (["*/sub"], "foo", "", False),
    (["*/"], "foo", "", False),
    (["foo/*"], "foo", "sub", False),
    (["bar", "*/sub"], "foo", "sub", True),
    ([], "foo", "", False),
    (None, "foo", "", False),
]


@pytest.mark.parametrize(("resources", "resource", "subresource", "covered"), RESOURCES)
def test_a_part_of_an_object_is_not_the_object(
    resources: list[str] | None, resource: str, subresource: str, covered: bool
) -> None:
    rule = {} if resources is None else {"resources": resources}
    assert resource_matches(rule, resource, subresource) is covered


READ: dict[str, Any] = {"verbs": ["get", "list"], "apiGroups": ["apps", ""], "resources": ["deployments", "pods/log"]}
ALL: dict[str, Any] = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
PATHS: dict[str, Any] = {"verbs": ["get"], "nonResourceURLs": ["/healthz", "/metrics/*", "/logs/a*"]}


def about(verb: str, group: str, resource: str, subresource: str = "") -> RequestInfo:
    return RequestInfo(
        is_resource_request=True, path="/healthz", verb=verb, group=group, resource=resource, subresource=subresource
    )


def path(verb: str, where: str) -> RequestInfo:
    return RequestInfo(is_resource_request=False, path=where, verb=verb, group="apps", resource="deployments")


@pytest.mark.parametrize(
    ("rule", "info", "covered"),
    [
        (READ, about("get", "apps", "deployments"), True),
        (READ, about("list", "", "deployments"), True),
        (READ, about("watch", "apps", "deployments"), False),
        (READ, about("get", "batch", "deployments"), False),
        (READ, about("get", "apps", "daemonsets"), False),
        (READ, about("get", "", "pods", "log"), True),
        (READ, about("get", "", "pods"), False),
        (READ, about("get", "apps", "deployments", "scale"), False),
        (READ, path("get", "/healthz"), False),  # a rule about resources says nothing of paths
        (ALL, about("delete", "any.example.com", "things", "part"), True),
        (ALL, path("get", "/healthz"), False),
        ({**READ, "verbs": []}, about("get", "apps", "deployments"), False),
        ({**READ, "apiGroups": None}, about("get", "apps", "deployments"), False),
        ({**READ, "apiGroups": ["*"]}, about("get", "batch", "deployments"), True),
        ({**READ, "verbs": ["*"]}, about("watch", "apps", "deployments"), True),
        (PATHS, path("get", "/healthz"), True),
        (PATHS, path("get", "/healthz/etcd"), False),
        (PATHS, path("post", "/healthz"), False),
        (PATHS, path("get", "/metrics/cadvisor"), True),
        (PATHS, path("get", "/metrics/"), True),
        (PATHS, path("get", "/metrics"), False),
        (PATHS, path("get", "/logs/audit"), True),
        (PATHS, path("get", "/logs/b"), False),
        ({**PATHS, "nonResourceURLs": ["/"]}, path("get", "/"), True),
        ({**PATHS, "nonResourceURLs": ["/"]}, path("get", "/healthz"), False),
        (ALL, path("get", "/"), False),
        (PATHS, about("get", "apps", "deployments"), False),  # nor one about paths of resources
        ({**PATHS, "nonResourceURLs": ["*"]}, path("get", "/any/where"), True),
    ],
)
def test_a_request_has_to_be_found_in_every_list_of_its_kind(
    rule: dict[str, Any], info: RequestInfo, covered: bool
) -> None:
    """Upstream: `rbac.go` (`RuleAllows`)."""
    assert rule_allows_kind(rule, info) is covered


NAMED: list[tuple[dict[str, Any], RequestInfo, bool]] = [
    ({**READ, "resourceNames": ["mine"]}, about("get", "apps", "deployments"), False),
    ({**READ, "resourceNames": ["mine"]}, replace(about("get", "apps", "deployments"), name="mine"), True),
    ({**READ, "resourceNames": ["mine"]}, replace(about("get", "apps", "deployments"), name="yours"), False),
    ({**READ, "resourceNames": []}, replace(about("get", "apps", "deployments"), name="yours"), True),
    ({**READ, "resourceNames": ["mine"]}, about("list", "apps", "deployments"), False),
    # paths have no names: what a rule says of them is about resources
    ({**PATHS, "resourceNames": ["mine"]}, path("get", "/healthz"), True),
]


@pytest.mark.parametrize(("rule", "info", "allowed"), NAMED)
@pytest.mark.parametrize("others", [[], [{**READ, "resourceNames": ["other"]}], [PATHS]])
def test_names_narrow_what_a_rule_says_of_resources(
    rule: dict[str, Any], info: RequestInfo, allowed: bool, others: list[dict[str, Any]]
) -> None:
    """Whatever other rules there are beside it. Upstream: `RuleAllows`, `ResourceNameMatches`."""
    api = f"{RBAC}/v1"
    role = {"apiVersion": api, "kind": "ClusterRole", "metadata": {"name": "r"}, "rules": [*others, rule]}
    bound = {
        "apiVersion": api,
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "b"},
        "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "r"},
        "subjects": [{"kind": "User", "name": "jane", "apiGroup": RBAC}],
    }
    by_others = any(rule_allows_kind(each, info) and not each.get("resourceNames") for each in others)
    verdict = RBACAuthorizer(StaticReader([role, bound])).authorize(JANE, info)
    assert (verdict.decision is Decision.ALLOW) is (allowed or by_others)
