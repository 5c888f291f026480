"""RBAC: what roles grant to those they are bound to.

A request is allowed if some binding names the user (or one of their groups) and one
rule of the bound role covers the request. ClusterRoleBindings count everywhere,
RoleBindings in their own namespace. Rules only add up: nothing can take a right away,
so the order of rules matters to nobody but the reader of the audit log, who is told the
first that matched.

The API server decides on every request, so the bindings are turned around once – from
"binding lists subjects" to "subject has bindings" – and the rules that match a question
are remembered. Any change to a role or binding makes a fresh start.

Upstream: `plugin/pkg/auth/authorizer/rbac/rbac.go` (`RBACAuthorizer`),
`pkg/registry/rbac/validation/rule.go` (`DefaultRuleResolver.VisitRulesFor`), v1.36.
Upstream walks all bindings each time, in an order that is not defined; ours is by name.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.go_format import go_quote
from lifecycle.api.resources import resource
from lifecycle.api.status import not_found
from lifecycle.api.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.authz.authorizer import Decision, UserRules, Verdict
from lifecycle.apiserver.authz.policy_rule import rule_allows_kind
from lifecycle.apiserver.authz.union import aggregate
from lifecycle.apiserver.storage.object_reader import ObjectReader

GROUP = "rbac.authorization.k8s.io"
MEMO_SIZE = 8192
RESOURCE_RULE = ("verbs", "apiGroups", "resources", "resourceNames")
NON_RESOURCE_RULE = ("verbs", "nonResourceURLs")


@dataclass(slots=True, frozen=True)
class Grant:
    """A binding as one of its subjects sees it. `order` is the binding's place."""

    order: int
    subject_order: int
    namespace: str
    binding: Object
    subject: Object
    rules: tuple[Object, ...]
    error: str = ""

    @property
    def role_ref(self) -> Object:
        """The role."""
        ref: Object = self.binding.get("roleRef") or {}
        return ref

    @property
    def reason(self) -> str:
        """What the audit log says. Put into words when it is asked for: a binding may
        have twenty thousand subjects.
        """
        text = _describe(self.binding, self.role_ref, self.subject, self.namespace)
        return f"RBAC: allowed by {text}"


@dataclass(slots=True)
class _Snapshot:
    """Everything worked out from one state of roles and bindings."""

    state: tuple[int, ...]
    users: dict[str, list[Grant]] = field(default_factory=dict)
    groups: dict[str, list[Grant]] = field(default_factory=dict)
    memo: BoundedCache[
        tuple[object, ...], tuple[tuple[tuple[str, ...] | None, Verdict], ...]
    ] = field(default_factory=lambda: BoundedCache(MEMO_SIZE))


class RBACAuthorizer:
    """Decides by the roles and bindings that `reader` shows."""

    def __init__(self, reader: ObjectReader) -> None:
        self._reader = reader
        self._roles = resource(f"roles.{GROUP}")
        self._role_bindings = resource(f"rolebindings.{GROUP}")
        self._cluster_roles = resource(f"clusterroles.{GROUP}")
        self._cluster_role_bindings = resource(f"clusterrolebindings.{GROUP}")
        self._snapshot: _Snapshot | None = None

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        """Allow, with the binding that did it, or no opinion."""
        snapshot = self._current()
        key: tuple[object, ...] = (user.name, user.groups, info.verb, info.path)
        if info.is_resource_request:
            key = (
                user.name,
                user.groups,
                info.verb,
                info.group,
                info.resource,
                info.subresource,
                info.namespace,
            )
        candidates = snapshot.memo.get(key)
        if candidates is None:
            candidates = tuple(self._candidates(snapshot, user, info))
            snapshot.memo.put(key, candidates)
        name = info.name
        for names, verdict in candidates:
            if names is None or name in names:
                return verdict
        return candidates[-1][
            1
        ]  # not reached: the last candidate, "no opinion", takes every name

    def grants(self, user: UserInfo, namespace: str) -> list[Grant]:
        """The bindings that name the user, cluster-wide ones first, each once and by
        its first subject that matches.
        """
        snapshot = self._current()
        by_order: dict[int, Grant] = {}
        for grant in snapshot.users.get(user.name, ()):
            _keep_first_subject(by_order, grant, namespace)
        for group in user.groups:
            for grant in snapshot.groups.get(group, ()):
                _keep_first_subject(by_order, grant, namespace)
        return [by_order[order] for order in sorted(by_order)]

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """The user's rules, as bound; a missing role is an error, not the end."""
        listed = UserRules()
        for grant in self.grants(user, namespace):
            if grant.error:
                listed.errors.append(grant.error)
            for rule in grant.rules:
                if rule.get("resources"):
                    listed.resource_rules.append(
                        {key: rule[key] for key in RESOURCE_RULE if rule.get(key)}
                    )
                if rule.get("nonResourceURLs"):
                    listed.non_resource_rules.append(
                        {key: rule[key] for key in NON_RESOURCE_RULE if rule.get(key)}
                    )
        return listed

    def role_rules(
        self, role_ref: Object, namespace: str
    ) -> tuple[tuple[Object, ...], str]:
        """The rules of the role a binding refers to, and what went wrong ("" if
        nothing).

        Upstream: `DefaultRuleResolver.GetRoleReferenceRules`.
        """
        kind, name = role_ref.get("kind"), role_ref.get("name", "")
        if kind == "ClusterRole":
            role = self._reader.get(self._cluster_roles, "", name)
            error = not_found("clusterrole", name, GROUP).message
        elif kind == "Role":
            role = self._reader.get(self._roles, namespace, name)
            error = not_found("role", name, GROUP).message
        else:
            return (), f"unsupported role reference kind: {go_quote(str(kind))}"
        if role is None:
            return (), error
        return tuple(role.get("rules") or ()), ""

    def _candidates(
        self, snapshot: _Snapshot, user: UserInfo, info: RequestInfo
    ) -> Iterator[tuple[tuple[str, ...] | None, Verdict]]:
        """What could answer a question, in order: the names each covers (None: all) and
        the verdict it gives.
        """
        errors: list[str] = []
        for grant in self.grants(user, info.namespace):
            if grant.error:
                errors.append(grant.error)
            for rule in grant.rules:
                if rule_allows_kind(rule, info):
                    names = (
                        tuple(rule.get("resourceNames") or ())
                        if info.is_resource_request
                        else ()
                    )
                    yield names or None, Verdict(Decision.ALLOW, grant.reason)
                    if not names:
                        return
        reason = f"RBAC: {aggregate(errors)}" if errors else ""
        yield None, Verdict(Decision.NO_OPINION, reason)

    def _current(self) -> _Snapshot:
        version = self._reader.resource_version
        state = (
            version(self._cluster_role_bindings),
            version(self._role_bindings),
            version(self._cluster_roles),
            version(self._roles),
        )
        snapshot = self._snapshot
        if snapshot is None or snapshot.state != state:
            snapshot = self._snapshot = self._index(state)
        return snapshot

    def _index(self, state: tuple[int, ...]) -> _Snapshot:
        snapshot = _Snapshot(state)
        bindings = [
            *self._reader.list(self._cluster_role_bindings),
            *self._reader.list(self._role_bindings),
        ]
        for order, binding in enumerate(bindings):
            namespace = binding["metadata"].get("namespace", "")
            role_ref = binding.get("roleRef") or {}
            rules, error = self.role_rules(role_ref, namespace)
            for place, subject in enumerate(binding.get("subjects") or ()):
                grant = Grant(order, place, namespace, binding, subject, rules, error)
                kind, name = subject.get("kind"), subject.get("name", "")
                if kind == "User":
                    snapshot.users.setdefault(name, []).append(grant)
                elif kind == "Group":
                    snapshot.groups.setdefault(name, []).append(grant)
                elif kind == "ServiceAccount" and (
                    subject.get("namespace") or namespace
                ):
                    username = (
                        f"system:serviceaccount:{subject.get('namespace') or namespace}"
                        f":{name}"
                    )
                    snapshot.users.setdefault(username, []).append(grant)
        return snapshot


def _keep_first_subject(
    by_order: dict[int, Grant], grant: Grant, namespace: str
) -> None:
    if grant.namespace and grant.namespace != namespace:
        return
    known = by_order.get(grant.order)
    if known is None or grant.subject_order < known.subject_order:
        by_order[grant.order] = grant


def _describe(
    binding: Object, role_ref: Object, subject: Object, namespace: str
) -> str:
    """A binding in the words of the audit log."""
    name = binding["metadata"]["name"]
    binding_text = (
        f"RoleBinding {go_quote(f'{name}/{namespace}')}"
        if namespace
        else f"ClusterRoleBinding {go_quote(name)}"
    )
    subject_name = subject.get("name", "")
    if subject.get("kind") == "ServiceAccount":
        subject_name = f"{subject_name}/{subject.get('namespace') or namespace}"
    role_text = f"{role_ref.get('kind', '')} {go_quote(role_ref.get('name', ''))}"
    return (
        f"{binding_text} of {role_text} to {subject.get('kind', '')}"
        f" {go_quote(subject_name)}"
    )
