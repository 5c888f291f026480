"""RBAC: what roles grant to those they are bound to.

A request is allowed if some binding names the user (or one of their groups) and one
rule of the bound role covers the request. ClusterRoleBindings count everywhere,
RoleBindings in their own namespace. Rules only add up: nothing can take a right away,
so the order of rules matters to nobody but the reader of the audit log, who is told the
first that matched.

The API server decides on every request, so each binding is read once – from a list of
subjects to a look-up by name – and what a user is granted is remembered, as are the
rules that match a question. Any change to a role or binding forgets the answers; only
the changed binding is read anew.

Upstream: `plugin/pkg/auth/authorizer/rbac/rbac.go` (`RBACAuthorizer`),
`pkg/registry/rbac/validation/rule.go` (`DefaultRuleResolver.VisitRulesFor`), v1.36.
Upstream walks all bindings each time, in an order that is not defined; ours is by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from lifecycle.api.bounded_cache import BoundedCache
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.api.resources import resource
from lifecycle.api.status import not_found
from lifecycle.apiserver.authz.authorizer import Decision, UserRules, Verdict
from lifecycle.apiserver.authz.policy_rule import rule_allows_kind
from lifecycle.apiserver.authz.union import aggregate
from lifecycle.apiserver.storage.object_reader import ObjectReader

GROUP = "rbac.authorization.k8s.io"
MEMO_SIZE = 8192
SUBJECTS = 512
RESOURCE_RULE = ("verbs", "apiGroups", "resources", "resourceNames")
NON_RESOURCE_RULE = ("verbs", "nonResourceURLs")
_ALL: dict[tuple[str, ...], frozenset[str]] = {
    keys: frozenset(keys) for keys in (RESOURCE_RULE, NON_RESOURCE_RULE)
}


@dataclass(slots=True, frozen=True)
class Grant:
    """A binding as one of its subjects sees it."""

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


@dataclass(slots=True, frozen=True)
class _Subjects:
    """Whom a binding names, each by the first of its subjects that does."""

    binding: Object
    users: dict[str, int]
    groups: dict[str, int]

    def first(self, name: str, groups: frozenset[str]) -> int | None:
        """The place of the first subject that is a user or one of their groups. Either
        side may have hundreds of thousands, and the other mostly has one.
        """
        few, many = sorted((groups, self.groups.keys()), key=len)
        places = [self.groups[group] for group in few if group in many]
        if name in self.users:
            places.append(self.users[name])
        return min(places, default=None)


@dataclass(slots=True)
class _Snapshot:
    """Everything worked out from one state of roles and bindings. `bindings`: of each
    namespace by their names; those for the whole cluster under "".
    """

    state: tuple[int, ...]
    bindings: dict[str, dict[str, _Subjects]] = field(default_factory=dict)
    memo: BoundedCache[
        tuple[object, ...], tuple[tuple[tuple[str, ...] | None, Verdict], ...]
    ] = field(default_factory=lambda: BoundedCache(MEMO_SIZE))
    granted: BoundedCache[tuple[str, str, tuple[str, ...]], tuple[Grant, ...]] = field(
        default_factory=lambda: BoundedCache(SUBJECTS)
    )
    """By namespace, user and groups: few ask, and many things."""


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
            candidates = tuple(self._candidates(user, info))
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
        grants: list[Grant] = []
        for scope in dict.fromkeys(("", namespace)):
            key = scope, user.name, user.groups
            granted = snapshot.granted.get(key)
            if granted is None:
                bindings = snapshot.bindings.get(scope, {}).values()
                granted = tuple(self._granted(bindings, user, scope))
                snapshot.granted.put(key, granted)
            grants += granted
        return grants

    def _granted(
        self, bindings: Iterable[_Subjects], user: UserInfo, scope: str
    ) -> Iterator[Grant]:
        groups = frozenset(user.groups)
        for subjects in bindings:
            place = subjects.first(user.name, groups)
            if place is not None:
                binding = subjects.binding
                rules, error = self.role_rules(binding.get("roleRef") or {}, scope)
                subject = binding["subjects"][place]
                yield Grant(scope, binding, subject, rules, error)

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        """The user's rules, as bound; a missing role is an error, not the end."""
        listed = UserRules()
        for grant in self.grants(user, namespace):
            if grant.error:
                listed.errors.append(grant.error)
            for rule in grant.rules:
                if rule.get("resources"):
                    listed.resource_rules.append(_with(RESOURCE_RULE, rule))
                if rule.get("nonResourceURLs"):
                    listed.non_resource_rules.append(_with(NON_RESOURCE_RULE, rule))
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
        self, user: UserInfo, info: RequestInfo
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
        """What is shared is never changed, so a binding that is the same object as
        before names whom it named before.
        """
        before = self._snapshot.bindings if self._snapshot else {}
        snapshot = _Snapshot(state)
        for bindings in (self._cluster_role_bindings, self._role_bindings):
            for binding in self._reader.list(bindings):
                meta = binding["metadata"]
                namespace, name = meta.get("namespace", ""), meta["name"]
                known = before.get(namespace, {}).get(name)
                if known is None or known.binding is not binding:
                    known = _subjects(binding, namespace)
                snapshot.bindings.setdefault(namespace, {})[name] = known
        return snapshot


def _with(keys: tuple[str, ...], rule: Object) -> Object:
    """A rule without what is empty, or not among these. Most are that already: a user
    may have tens of thousands, and asks for them over and over.
    """
    if rule.keys() <= _ALL[keys] and all(rule.values()):
        return rule
    return {key: rule[key] for key in keys if rule.get(key)}


def _subjects(binding: Object, namespace: str) -> _Subjects:
    named = _Subjects(binding, {}, {})
    for place, subject in enumerate(binding.get("subjects") or ()):
        kind, name = subject.get("kind"), subject.get("name", "")
        if kind == "User":
            named.users.setdefault(name, place)
        elif kind == "Group":
            named.groups.setdefault(name, place)
        elif kind == "ServiceAccount" and (subject.get("namespace") or namespace):
            home = subject.get("namespace") or namespace
            named.users.setdefault(f"system:serviceaccount:{home}:{name}", place)
    return named


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
