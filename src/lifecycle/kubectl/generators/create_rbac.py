"""`kubectl create role`, `clusterrole`, `rolebinding`, `clusterrolebinding`.

Roles name resources as the user does; discovery turns `deploy` into `deployments` of
the group `apps`, and one rule is made for each group.

Upstream: `kubectl/pkg/cmd/create/create_role.go` (`validateResource`,
`generateResourcePolicyRules`), `create_clusterrole.go`, `create_rolebinding.go`,
`create_clusterrolebinding.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lifecycle.api.http.wire import Object
from lifecycle.kubectl.failures import CommandError

RBAC = "rbac.authorization.k8s.io"


def resource_rules(
    verbs: Sequence[str],
    resources: Sequence[tuple[str, str]],
    names: Sequence[str] = (),
) -> list[Object]:
    """Rules for resources given as (group, resource or resource/subresource): one for
    each group, groups in order.
    """
    by_group: dict[str, list[str]] = {}
    for group, resource in resources:
        by_group.setdefault(group, []).append(resource)
    rules = []
    for group in sorted(by_group):
        rule: Object = {
            "verbs": list(verbs),
            "apiGroups": [group],
            "resources": by_group[group],
        }
        if names:
            rule["resourceNames"] = list(names)
        rules.append(rule)
    return rules


def create_role(
    name: str,
    rules: list[Object],
    *,
    cluster: bool = False,
    urls: Sequence[str] = (),
    verbs: Sequence[str] = (),
) -> Object:
    """A Role or ClusterRole; `urls` (with `verbs`) only for the latter."""
    if urls:
        rules = [*rules, {"verbs": list(verbs), "nonResourceURLs": list(urls)}]
    kind = "ClusterRole" if cluster else "Role"
    return {
        "apiVersion": f"{RBAC}/v1",
        "kind": kind,
        "metadata": {"name": name},
        "rules": rules,
    }


def create_aggregated(name: str, labels: Mapping[str, str]) -> Object:
    """A ClusterRole without rules of its own: the rules of all ClusterRoles with these
    labels.
    """
    about: Object = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name},
        "rules": None,
    }
    return {
        **about,
        "aggregationRule": {
            "clusterRoleSelectors": [{"matchLabels": dict(sorted(labels.items()))}]
        },
    }


def create_rolebinding(
    name: str,
    *,
    role: str = "",
    cluster_role: str = "",
    users: Sequence[str] = (),
    groups: Sequence[str] = (),
    service_accounts: Sequence[str] = (),
    cluster: bool = False,
) -> Object:
    """A RoleBinding or ClusterRoleBinding; `service_accounts` as `NAMESPACE:NAME`.
    Raises CommandError for anything else.
    """
    subjects: list[Object] = [
        {"kind": "User", "apiGroup": RBAC, "name": user} for user in users
    ]
    subjects += [{"kind": "Group", "apiGroup": RBAC, "name": group} for group in groups]
    for account in service_accounts:
        namespace, _, account_name = account.partition(":")
        if not namespace or not account_name or ":" in account_name:
            raise CommandError("serviceaccount must be <namespace>:<name>")
        subjects.append(
            {"kind": "ServiceAccount", "name": account_name, "namespace": namespace}
        )
    ref = {
        "apiGroup": RBAC,
        "kind": "Role" if role else "ClusterRole",
        "name": role or cluster_role,
    }
    obj: Object = {
        "apiVersion": f"{RBAC}/v1",
        "kind": "ClusterRoleBinding" if cluster else "RoleBinding",
        "metadata": {"name": name},
    }
    if subjects:
        obj["subjects"] = subjects
    obj["roleRef"] = ref
    return obj
