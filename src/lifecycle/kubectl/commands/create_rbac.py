"""`kubectl create role` and `clusterrole`: the resources named are looked up in
discovery before a rule is made of them.

Upstream: `kubectl/pkg/cmd/create/create_role.go` (`CreateRoleOptions.Complete`,
`Validate`, `validateResource`), `create_clusterrole.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError, NoMatchError, NoResourceError
from lifecycle.kubectl.flags import Parsed, flag
from lifecycle.kubectl.generators.create_rbac import (
    RBAC,
    create_aggregated,
    create_role,
    resource_rules,
)
from lifecycle.kubectl.session import Session

ROLE_FLAGS = (
    flag("verb", "slice"),
    flag("resource", "slice"),
    flag("resource-name", "array"),
)
CLUSTER_ROLE_FLAGS = (
    *ROLE_FLAGS,
    flag("non-resource-url", "slice"),
    flag("aggregation-rule", "map"),
)
RESOURCE_VERBS = frozenset(
    [
        "*",
        "get",
        "delete",
        "list",
        "create",
        "update",
        "patch",
        "watch",
        "proxy",
        "deletecollection",
        "use",
        "bind",
        "escalate",
        "impersonate",
    ]
)
URL_VERBS = frozenset(["*", "get", "put", "post", "head", "options", "delete", "patch"])
SPECIAL_VERBS = {
    "use": {("policy", "podsecuritypolicies"), ("extensions", "podsecuritypolicies")},
    "bind": {(RBAC, "roles"), (RBAC, "clusterroles")},
    "escalate": {(RBAC, "roles"), (RBAC, "clusterroles")},
    "impersonate": {
        ("", "users"),
        ("", "serviceaccounts"),
        ("", "groups"),
        ("authentication.k8s.io", "userextras"),
    },
}
"""Verbs that mean something for a few resources only, of which not all are served."""


@dataclass(slots=True, frozen=True)
class ResourceOptions:
    """What `--resource` names: `deployments.apps/scale`."""

    resource: str
    group: str
    subresource: str


async def role_object(
    name: str, p: Parsed, session: Session, *, cluster: bool
) -> Object:
    """The Role or ClusterRole. Raises CommandError for missing verbs or resources, and
    for resources that the server does not have.
    """
    verbs = ["*"] if "*" in p["verb"] else list(dict.fromkeys(p["verb"]))
    names = list(dict.fromkeys(p["resource-name"]))
    urls = list(dict.fromkeys(p["non-resource-url"])) if cluster else []
    resource_options = _resource_options(p["resource"])
    if cluster and p["aggregation-rule"]:
        if verbs or names or urls or resource_options:
            raise CommandError(
                "aggregation rule must be specified without nonResourceURLs, verbs,"
                " resources or resourceNames"
            )
        return create_aggregated(name, p["aggregation-rule"])
    if not verbs:
        raise CommandError("at least one verb must be specified")
    if not resource_options and not urls:
        missing = (
            "one of resource or nonResourceURL" if cluster else "at least one resource"
        )
        raise CommandError(f"{missing} must be specified")
    if resource_options:
        for verb in verbs:
            if verb not in RESOURCE_VERBS:
                session.warn(f"Warning: '{verb}' is not a standard resource verb\n")
        await _validate_resource(resource_options, verbs, session)
    _check_urls(urls, verbs)
    if not resource_options:
        return create_role(name, [], cluster=cluster, urls=urls, verbs=verbs)
    resources = []
    for each in resource_options:
        group, plural = await _resolved(each, session) or (each.group, each.resource)
        resources.append(
            (group, f"{plural}/{each.subresource}" if each.subresource else plural)
        )
    rules = resource_rules(verbs, list(dict.fromkeys(resources)), names)
    return create_role(name, rules, cluster=cluster, urls=urls, verbs=verbs)


def _resource_options(texts: Sequence[str]) -> list[ResourceOptions]:
    """A `*` alone stands for all."""
    options = []
    for text in texts:
        plain, _, subresource = text.partition("/")
        resource, _, group = plain.partition(".")
        options.append(ResourceOptions(resource, group, subresource))
        if text == "*":
            return options[-1:]
    return options


async def _resolved(each: ResourceOptions, session: Session) -> tuple[str, str] | None:
    """(group, plural), if the server serves it."""
    if each.resource == "*":
        return None
    try:
        resource = await session.resource_for(
            f"{each.resource}.{each.group}" if each.group else each.resource
        )
    except NoMatchError:
        return None
    return resource.group, resource.plural


async def _validate_resource(
    resource_options: Sequence[ResourceOptions], verbs: Sequence[str], session: Session
) -> None:
    for each in resource_options:
        if not each.resource:
            raise CommandError(
                "resource must be specified if apiGroup/subresource specified"
            )
        if each.resource == "*":
            return
        resolved = await _resolved(each, session)
        group, plural = resolved or (each.group, each.resource)
        special = False
        for verb in verbs:
            if verb in SPECIAL_VERBS:
                if (group, plural) not in SPECIAL_VERBS[verb]:
                    raise CommandError(
                        f"can not perform '{verb}' on '{plural}' in group '{group}'"
                    )
                special = True
        if resolved is None and not special:
            where = f" in group {go_quote(group)}" if group else ""
            raise NoResourceError(
                f"the server doesn't have a resource type {go_quote(plural)}{where}"
            )


def _check_urls(urls: Sequence[str], verbs: Sequence[str]) -> None:
    if not urls:
        return
    for verb in verbs:
        if verb not in URL_VERBS:
            raise CommandError(f"invalid verb: '{verb}' for nonResourceURL")
    for url in urls:
        if url == "*":
            continue
        if not url.startswith("/"):
            raise CommandError("nonResourceURL should start with /")
        if "*" in url[:-1]:
            raise CommandError(
                "nonResourceURL only supports wildcard matches when '*' is at the end"
            )
