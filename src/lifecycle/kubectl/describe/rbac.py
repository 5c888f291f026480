"""Roles, a line for each resource with all that may be done to it, and who has them.

Upstream: `kubectl/pkg/describe/describe.go` (`RoleDescriber`, `ClusterRoleDescriber`,
`CombineResourceGroup`, `RoleBindingDescriber`, `ClusterRoleBindingDescriber`),
`kubectl/pkg/util/rbac/rbac.go` (`BreakdownRule`, `CompactRules`, `SortableRuleSlice`),
v1.36.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lifecycle.api.go.format import go_value
from lifecycle.api.http.wire import Object
from lifecycle.kubectl.describe.clientset import Clientset
from lifecycle.kubectl.describe.multiline import print_metadata
from lifecycle.kubectl.describe.writer import PrefixWriter


@dataclass(slots=True, frozen=True)
class PolicyRule:
    """What one verb may be done to: a resource, perhaps one by name, or a URL that is
    no resource.
    """

    group: str = ""
    resource: str = ""
    resource_name: str = ""
    url: str = ""

    def as_go_prints_it(self, verbs: list[str]) -> str:
        """The Go struct as text: upstream sorts rules by it."""
        groups, resources = ([], []) if self.url else ([self.group], [self.resource])
        names = [self.resource_name] if self.resource_name else []
        urls = [self.url] if self.url else []
        return (
            f"&PolicyRule{{Verbs:{go_value(verbs)},APIGroups:{go_value(groups)},"
            f"Resources:{go_value(resources)},ResourceNames:{go_value(names)},"
            f"NonResourceURLs:{go_value(urls)},}}"
        )

    @property
    def combined(self) -> str:
        """`deployments.apps/scale`."""
        resource, slash, subresource = self.resource.partition("/")
        group = f".{self.group}" if self.group else ""
        return f"{resource}{group}{slash}{subresource}"


def breakdown_rule(rule: Object) -> Iterator[tuple[PolicyRule, str]]:
    """Each single thing that a rule allows, and the verb."""
    for group in rule.get("apiGroups") or ():
        for resource in rule.get("resources") or ():
            for verb in rule["verbs"]:
                for name in rule.get("resourceNames") or [""]:
                    yield PolicyRule(group, resource, name), verb
    for url in rule.get("nonResourceURLs") or ():
        for verb in rule["verbs"]:
            yield PolicyRule(url=url), verb


def compact_rules(rules: Iterable[Object]) -> list[tuple[PolicyRule, list[str]]]:
    """What all rules allow together, and the verbs for it; sorted as upstream does.
    Only what is allowed to resources is put together, URLs stay as they come.
    """
    urls: list[tuple[PolicyRule, list[str]]] = []
    verbs: dict[PolicyRule, list[str]] = {}
    for rule in rules:
        for single, verb in breakdown_rule(rule):
            if single.url:
                urls.append((single, [verb]))
            elif verb not in verbs.setdefault(single, []):
                verbs[single].append(verb)
    return sorted(
        [*urls, *verbs.items()], key=lambda each: each[0].as_go_prints_it(each[1])
    )


def _describe_role(role: Object) -> str:
    w = PrefixWriter()
    print_metadata(w, role, namespaced=False)
    w.write(0, "PolicyRule:\n")
    w.header(1, "Resources", "Non-Resource URLs", "Resource Names", "Verbs")
    for single, verbs in compact_rules(role.get("rules") or ()):
        urls = [single.url] if single.url else []
        names = [single.resource_name] if single.resource_name else []
        w.row(1, single.combined, urls, names, verbs)
    return w.tabbed


def _describe_binding(binding: Object) -> str:
    w = PrefixWriter()
    print_metadata(w, binding, namespaced=False)
    w.write(0, "Role:\n")
    w.field(1, "Kind", binding["roleRef"]["kind"])
    w.field(1, "Name", binding["roleRef"]["name"])
    w.write(0, "Subjects:\n")
    w.header(1, "Kind", "Name", "Namespace")
    for subject in binding.get("subjects") or ():
        w.row(1, subject["kind"], subject["name"], subject.get("namespace", ""))
    return w.tabbed


async def describe_role(client: Clientset, namespace: str, name: str) -> str:
    """Describe a Role. Raises StatusError."""
    plural = "roles.rbac.authorization.k8s.io"
    return _describe_role(await client.get(plural, namespace, name))


async def describe_cluster_role(client: Clientset, namespace: str, name: str) -> str:
    """Describe a ClusterRole. Raises StatusError."""
    plural = "clusterroles.rbac.authorization.k8s.io"
    return _describe_role(await client.get(plural, "", name))


async def describe_role_binding(client: Clientset, namespace: str, name: str) -> str:
    """Describe a RoleBinding. Raises StatusError."""
    plural = "rolebindings.rbac.authorization.k8s.io"
    return _describe_binding(await client.get(plural, namespace, name))


async def describe_cluster_role_binding(
    client: Clientset, namespace: str, name: str
) -> str:
    """Describe a ClusterRoleBinding. Raises StatusError."""
    plural = "clusterrolebindings.rbac.authorization.k8s.io"
    return _describe_binding(await client.get(plural, "", name))
