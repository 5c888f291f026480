"""Under which key an object lives.

`/registry/` + the resource + namespace + name. Most resources use their plural; a few
keep a name from the early days: nodes are `minions`, Services live under
`services/specs` because `services/endpoints` is next door. Groups that came with
CustomResourceDefinitions and the aggregator carry the group in the key.

Upstream: `apiserver/pkg/registry/generic/registry/store.go` (`NamespaceKeyFunc`), the
`ResourcePrefix` of each registry, and
`kubeapiserver/default_storage_factory_builder.go` (`SpecialDefaultResourcePrefixes`),
v1.36.
"""

from __future__ import annotations

from functools import cache, lru_cache

from lifecycle.api.resources import Resource, all_resources, find_resource

ROOT = "/registry/"

SPECIAL_PREFIXES = {
    ("", "replicationcontrollers"): "controllers",
    ("", "endpoints"): "services/endpoints",
    ("", "nodes"): "minions",
    ("", "services"): "services/specs",
    ("networking.k8s.io", "ingresses"): "ingress",
    ("networking.k8s.io", "networkpolicies"): "networkpolicies",
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
    ): "apiextensions.k8s.io/customresourcedefinitions",
    ("apiregistration.k8s.io", "apiservices"): "apiregistration.k8s.io/apiservices",
}


@lru_cache(1024)
def resource_prefix(resource: Resource) -> str:
    """`/registry/pods/`: all objects of a resource live below it."""
    if (
        find_resource(resource.group, resource.version, resource.plural) is None
    ):  # a custom one
        return f"{ROOT}{resource.group}/{resource.plural}/"
    special = SPECIAL_PREFIXES.get((resource.group, resource.plural), resource.plural)
    return f"{ROOT}{special}/"


def registry_key(resource: Resource, namespace: str, name: str) -> str:
    """`/registry/pods/default/nginx`, or without a namespace for cluster-wide
    resources.
    """
    if resource.namespaced and namespace:
        return f"{resource_prefix(resource)}{namespace}/{name}"
    return f"{resource_prefix(resource)}{name}"


def resource_of(key: str) -> tuple[str, str] | None:
    """Whose key this is: `(group, plural)`; None for what is no object of the API, such
    as the allocators' bitmaps. Events are the core group's, whichever served them.
    """
    first, _, rest = key.removeprefix(ROOT).partition("/")
    second = rest.partition("/")[0]
    known = _by_prefix()
    resource = known.get(f"{ROOT}{first}/") or known.get(f"{ROOT}{first}/{second}/")
    if resource is None and "." in first and second:  # a custom one
        return first, second
    return resource


@cache
def _by_prefix() -> dict[str, tuple[str, str]]:
    resources: dict[str, tuple[str, str]] = {}
    for row in sorted(all_resources(), key=lambda row: row.group):
        resources.setdefault(resource_prefix(row), (row.group, row.plural))
    return resources
