"""Under which key a kind's objects lie: its own name, an old one, or its group's."""

from __future__ import annotations

import pytest

from lifecycle.api.resources import Resource, resource
from lifecycle.etcd.keys import registry_key, resource_prefix

PREFIXES = {
    # names from the early days (upstream: the registries' `ResourcePrefix`, `SpecialDefaultResourcePrefixes`)
    "nodes": "minions",
    "services": "services/specs",
    "endpoints": "services/endpoints",
    "replicationcontrollers": "controllers",
    "ingresses.networking.k8s.io": "ingress",
    "networkpolicies.networking.k8s.io": "networkpolicies",
    "customresourcedefinitions.apiextensions.k8s.io": "apiextensions.k8s.io/customresourcedefinitions",
    "apiservices.apiregistration.k8s.io": "apiregistration.k8s.io/apiservices",
    # and everybody else under the plural, whatever the group
    "pods": "pods",
    "events": "events",
    "deployments.apps": "deployments",
    "endpointslices.discovery.k8s.io": "endpointslices",
    "leases.coordination.k8s.io": "leases",
    "clusterroles.rbac.authorization.k8s.io": "clusterroles",
    "ingressclasses.networking.k8s.io": "ingressclasses",
}


@pytest.mark.parametrize("name", PREFIXES)
def test_a_kind_lies_under_its_plural_or_an_older_name(name: str) -> None:
    assert resource_prefix(resource(name)) == f"/registry/{PREFIXES[name]}/"


@pytest.mark.parametrize("plural", ["widgets", "nodes", "pods", "services"])
def test_what_somebody_has_defined_lies_under_its_group_whatever_it_is_called(plural: str) -> None:
    """Upstream: `customresource.NewStorage`, `resource.GroupResource` as the prefix' two parts."""
    own = Resource("example.com", "v1", plural, "Thing", "thing", True, ("get",))
    assert resource_prefix(own) == f"/registry/example.com/{plural}/"
    assert registry_key(own, "shop", "x") == f"/registry/example.com/{plural}/shop/x"


@pytest.mark.parametrize(
    ("name", "namespace", "key"),
    [
        ("pods", "shop", "/registry/pods/shop/x"),
        ("services", "shop", "/registry/services/specs/shop/x"),
        ("nodes", "", "/registry/minions/x"),
        ("nodes", "shop", "/registry/minions/x"),
        ("pods", "", "/registry/pods/x"),
    ],
)
def test_a_namespace_stands_before_a_name_where_there_are_namespaces(name: str, namespace: str, key: str) -> None:
    assert registry_key(resource(name), namespace, "x") == key
