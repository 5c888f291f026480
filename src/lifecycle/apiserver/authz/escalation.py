"""No one gives what they do not have: the check on writing roles and bindings.

Whoever may write roles could write themselves any right. So a role is stored only if
its author already holds every right in it, and a binding only if its author holds every
right of the role it binds – unless they were explicitly given the verb `escalate` on
the role or `bind` on the role referred to.

What is missing (`rule_coverage.py`) is put together again for the message.

Upstream: `pkg/registry/rbac/escalation_check.go`, `clusterrole/policybased/storage.go`,
`rolebinding/policybased/storage.go`, `pkg/registry/rbac/validation`
(`ConfirmNoEscalation`, `CompactRules`), v1.36. There, the message names every right
that is missing, of which there can be billions; here, `MOST_PIECES` of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import islice

from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import MASTERS, Object, RequestInfo, UserInfo
from lifecycle.api.loop.worker import beside
from lifecycle.api.status import failure, forbidden, not_found
from lifecycle.apiserver.authz.authorizer import Authorizer, decide
from lifecycle.apiserver.authz.policy_rule import ALL, compact_string, quoted_list
from lifecycle.apiserver.authz.rbac import GROUP, Grant, RBACAuthorizer
from lifecycle.apiserver.authz.rule_coverage import uncovered
from lifecycle.apiserver.authz.union import aggregate

FULL_AUTHORITY: tuple[Object, ...] = (
    {"verbs": [ALL], "apiGroups": [ALL], "resources": [ALL]},
    {"verbs": [ALL], "nonResourceURLs": [ALL]},
)
PLURALS = {"ClusterRole": "clusterroles", "Role": "roles"}
ONLY_FOR_DELETION = (
    "ownerReferences",
    "finalizers",
    "managedFields",
    "resourceVersion",
    "generation",
)
MOST_PIECES = 10_000
"""How many rights that are missing a refusal names."""


class EscalationCheck:
    """Checks writes of roles and bindings; call `check` before storing one."""

    def __init__(self, authorizer: Authorizer, rbac: RBACAuthorizer) -> None:
        self._authorizer = authorizer
        self._rbac = rbac

    async def check(
        self, user: UserInfo, info: RequestInfo, obj: Object, old: Object | None = None
    ) -> None:
        """Raise the 403 if storing `obj` would give away rights that the user lacks.

        `info` is the request; other resources than the four of RBAC pass. `old` is what
        is stored now, None for a create.
        """
        if (
            info.group != GROUP
            or MASTERS in user.groups
            or (old is not None and _only_for_deletion(obj, old))
        ):
            return
        if info.resource in ("roles", "clusterroles"):
            await self._check_role(user, info, obj, old)
        elif info.resource in ("rolebindings", "clusterrolebindings"):
            await self._check_binding(user, info, obj)

    async def _check_role(
        self, user: UserInfo, info: RequestInfo, obj: Object, old: Object | None
    ) -> None:
        escalate = replace(info, verb="escalate", version=ALL, subresource="")
        if (await decide(self._authorizer.authorize, user, escalate)).allowed:
            return
        name = obj["metadata"].get("name", "")
        await self._confirm(user, info, name, obj.get("rules") or ())
        if _aggregates(obj) or (old is not None and _aggregates(old)):
            why = "must have cluster-admin privileges to use the aggregationRule"
            if await self._missing(user, info.namespace, FULL_AUTHORITY):
                raise forbidden(info.resource, name, why, GROUP)

    async def _check_binding(
        self, user: UserInfo, info: RequestInfo, obj: Object
    ) -> None:
        role_ref = obj.get("roleRef") or {}
        plural = PLURALS.get(role_ref.get("kind", ""), "")
        bind = RequestInfo(
            is_resource_request=True,
            path="",
            verb="bind",
            group=GROUP,
            version=ALL,
            namespace=info.namespace,
            resource=plural,
            name=role_ref.get("name", ""),
        )
        if plural and (await decide(self._authorizer.authorize, user, bind)).allowed:
            return
        rules, error = self._rbac.role_rules(role_ref, info.namespace)
        if error and not plural:
            raise failure(500, "", error)
        if error:
            raise not_found(plural, role_ref.get("name", ""), GROUP)
        await self._confirm(user, info, obj["metadata"].get("name", ""), rules)

    async def _missing(
        self, user: UserInfo, namespace: str, rules: Sequence[Object]
    ) -> list[Object]:
        owned = [
            rule for grant in self._rbac.grants(user, namespace) for rule in grant.rules
        ]
        return await beside(_size((*owned, *rules)), _first_uncovered, owned, rules)

    async def _confirm(
        self, user: UserInfo, info: RequestInfo, name: str, rules: Sequence[Object]
    ) -> None:
        missing = await self._missing(user, info.namespace, rules)
        if missing:
            why = _attempt(user, missing)
            errors = [
                _in_the_store(grant)
                for grant in self._rbac.grants(user, info.namespace)
                if grant.error
            ]
            if errors:
                why += f"; resolution errors: [{aggregate(errors)}]"
            raise forbidden(info.resource, name, why, GROUP)


def _size(rules: Iterable[Object]) -> int:
    """About as many bytes as rules have."""
    return sum(16 * len(values) for rule in rules for values in rule.values())


def _first_uncovered(owned: Sequence[Object], rules: Sequence[Object]) -> list[Object]:
    return list(islice(uncovered(owned, rules), MOST_PIECES + 1))


def _in_the_store(grant: Grant) -> str:
    """What is wrong with a binding, in the words of the store this check reads from: it
    names the resource, an informer's list the kind.
    """
    plural = PLURALS.get(grant.role_ref.get("kind", ""))
    return (
        not_found(plural, grant.role_ref.get("name", ""), GROUP).message
        if plural
        else grant.error
    )


def _attempt(user: UserInfo, missing: Iterable[Object]) -> str:
    """The message: who tried to grant what. Pieces that differ only in their verb are
    one line again.
    """
    compact: dict[tuple[str, ...], Object] = {}
    more = ""
    for number, piece in enumerate(missing):
        if number == MOST_PIECES:
            more = "\n..."
            break
        key = tuple(
            str(piece.get(k)) for k in ("apiGroups", "resources", "resourceNames")
        )
        if piece.get("nonResourceURLs"):
            key = (str(piece),)
        if key in compact:
            compact[key]["verbs"] += piece["verbs"]
        else:
            compact[key] = {**piece, "verbs": [*piece["verbs"]]}
    lines = sorted({compact_string(rule) for rule in compact.values()})
    who = f"user {go_quote(user.name)} (groups={quoted_list(user.groups)})"
    return (
        f"{who} is attempting to grant RBAC permissions not currently held:\n"
        + "\n".join(lines)
        + more
    )


def _aggregates(role: Object) -> bool:
    return bool((role.get("aggregationRule") or {}).get("clusterRoleSelectors"))


def _only_for_deletion(obj: Object, old: Object) -> bool:
    """Whether an update only changes what the garbage collector needs to change.
    Upstream: `IsOnlyMutatingGCFields`.
    """

    def rest(thing: Object) -> Object:
        meta = {
            key: value
            for key, value in thing["metadata"].items()
            if key not in ONLY_FOR_DELETION
        }
        return {**thing, "metadata": meta}

    return rest(obj) == rest(old)
