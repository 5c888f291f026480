"""Claims about RBAC: put to the recorded access reviews, and to our authorizer."""

from __future__ import annotations

from collections.abc import Sequence

from lifecycle.agreements.apiserver.authorization import questions, recorded_policy
from lifecycle.agreements.claim_checks.authorizing import (
    BY_RBAC,
    JANE,
    ROLE,
    asked,
    binding,
)
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.api.resources import Resource
from lifecycle.apiserver.authz.rbac import RBACAuthorizer
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.compare.claims import check, rebuilt
from lifecycle.inspector import Recording


@check("authz-rbac-roles-are-api-objects")
def roles_are_objects(recording: Recording) -> bool:
    """What was allowed by a role follows from the roles and bindings that the API
    returned, and from nothing else.
    """
    with_roles, without = (
        RBACAuthorizer(recorded_policy(recording)),
        RBACAuthorizer(StaticReader()),
    )
    by_rbac = [
        (user, info)
        for user, info, answer in questions(recording)
        if answer.get("reason", "").startswith(BY_RBAC)
    ]
    some = by_rbac[:: max(1, len(by_rbac) // 50)]
    return bool(some) and all(
        with_roles.authorize(*each).allowed and not without.authorize(*each).allowed
        for each in some
    )


@check("authz-rbac-uses-identity-from-authn")
def identity_decides(recording: Recording) -> bool:
    """Every reason names the very user who was asked about, or one of their groups, or
    the account that the name stands for.
    """
    explained = 0
    for user, _, answer in questions(recording):
        subject = answer.get("reason", "").rpartition('" to ')[2]
        if not subject.startswith(("User", "Group", "ServiceAccount")):
            continue
        kind, _, name = subject.partition(" ")
        name = name.strip('"')
        account = user.name.removeprefix("system:serviceaccount:").partition(":")
        own = {
            "User": {user.name},
            "Group": set(user.groups),
            "ServiceAccount": {f"{account[2]}/{account[0]}"},
        }
        if name not in own[kind]:
            return False
        explained += 1
    return explained > 100


@rebuilt("authz-rbac-uses-identity-from-authn")
def ours_identity_decides() -> bool:
    """The same question by name, by group, and by somebody else."""
    by_name, by_group = (
        RBACAuthorizer(StaticReader([ROLE, binding(*to)]))
        for to in (("User", "jane"), ("Group", "devs"))
    )
    joe = UserInfo("joe", ("system:authenticated",))
    return all(
        each.authorize(JANE, asked()).allowed
        and not each.authorize(joe, asked()).allowed
        for each in (by_name, by_group)
    )


class Counting(StaticReader):
    """A cache that counts how often it is listed."""

    lists = 0

    def list(self, resource: Resource, namespace: str = "") -> Sequence[Object]:
        """See `ObjectReader`."""
        self.lists += 1
        return super().list(resource, namespace)


@rebuilt("authz-rbac-reads-roles-through-informers")
def through_informers() -> bool:
    """A hundred questions, and no list; a new binding counts at once, and only then the
    cache is looked through again.
    """
    cache = Counting([ROLE])
    rbac = RBACAuthorizer(cache)
    rbac.authorize(JANE, asked())
    before = cache.lists
    refused = [rbac.authorize(JANE, asked()).allowed for _ in range(100)]
    quiet = cache.lists == before
    cache.put(binding("User", "jane"))
    return quiet and not any(refused) and rbac.authorize(JANE, asked()).allowed
