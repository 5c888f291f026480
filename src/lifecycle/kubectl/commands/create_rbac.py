"""`kubectl create role` and `clusterrole`: the resources named are looked up in discovery before a rule is made of them.

Upstream: `kubectl/pkg/cmd/create/create_role.go` (`CreateRoleOptions.Complete`, `Validate`, `validateResource`),
`create_clusterrole.go`, v1.36.
"""

from __future__ import annotations

from lifecycle.api.wire import Object
from lifecycle.kubectl.failures import CommandError
from lifecycle.kubectl.flags import Parsed, flag
from lifecycle.kubectl.generators.create_rbac import create_role, resource_rules
from lifecycle.kubectl.session import Session

ROLE_FLAGS = (flag("verb", "slice"), flag("resource", "slice"), flag("resource-name", "array"))
CLUSTER_ROLE_FLAGS = (*ROLE_FLAGS, flag("non-resource-url", "slice"), flag("aggregation-rule"))


async def role_object(name: str, p: Parsed, session: Session, *, cluster: bool) -> Object:
    """The Role or ClusterRole. Raises CommandError for missing verbs or resources, and for resources that the server does not have."""
    verbs = list(dict.fromkeys(verb.strip() for verb in p["verb"]))
    verbs = ["*"] if "*" in verbs else verbs
    urls = list(dict.fromkeys(p["non-resource-url"])) if cluster else []
    if not verbs:
        raise CommandError("at least one verb must be specified")
    if not p["resource"] and not urls:
        missing = "one of resource or nonResourceURL" if cluster else "at least one resource"
        raise CommandError(f"{missing} must be specified")
    resources: list[tuple[str, str]] = []
    for text in dict.fromkeys(p["resource"]):
        plain, _, subresource = text.partition("/")
        if plain.startswith("*"):
            found = (plain.partition(".")[2], "*")
        else:
            resource = await session.resource_for(plain)
            found = (resource.group, resource.plural)
        resources.append((found[0], f"{found[1]}/{subresource}" if subresource else found[1]))
    if not resources:
        return create_role(name, [], cluster=cluster, urls=urls, verbs=verbs)
    rules = resource_rules(verbs, resources, p["resource-name"])
    return create_role(name, rules, cluster=cluster, urls=urls, verbs=verbs)
