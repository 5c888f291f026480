"""Who may be whom: the rules of impersonation.

Since v1.36 there are two ways to be allowed. The old one is all or nothing: the verb
`impersonate` on the user. The new one is
*constrained*: `impersonate-on:<mode>:<verb>` on what is requested, and
               `impersonate:<mode>` on whom to be – so a role can say "may be
Jane, but only to list pods". There are modes for nodes (one's own, or any), service
accounts, and other users. All are tried, the new ones first; if none allows, the
refusal is that of the first.

Upstream: `apiserver/pkg/endpoints/filters/impersonation/mode.go`
(`impersonationModeState.check`, `validateExtra`), v1.36.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from lifecycle.api.aggregate import aggregate
from lifecycle.api.go.format import go_quote
from lifecycle.api.http.wire import ANONYMOUS, MASTERS, RequestInfo, UserInfo
from lifecycle.api.status import StatusError
from lifecycle.apiserver.authn.authenticator import (
    ALL_AUTHENTICATED,
    ALL_UNAUTHENTICATED,
)
from lifecycle.apiserver.authn.service_account import (
    PREFIX,
    make_group_names,
    split_username,
)
from lifecycle.apiserver.authz.authorizer import Authorizer, Verdict, decide
from lifecycle.apiserver.authz.forbidden import forbidden_status_error
from lifecycle.apiserver.registry.rest.references import validate_domain_prefixed_path

AUTHENTICATION = "authentication.k8s.io"
NODE_PREFIX = "system:node:"
MODES = ("associated-node", "arbitrary-node", "serviceaccount", "user-info")
MANY = 4
"""From so many groups or extras on, it is first asked whether any would do."""


async def impersonated_user(
    authorizer: Authorizer,
    requestor: UserInfo,
    wanted_user: UserInfo,
    info: RequestInfo,
) -> tuple[UserInfo, str]:
    """Who the requestor becomes, and the constraint under which (`""`: the old,
    unconstrained way). Raises StatusError 403.
    """
    first: StatusError | None = None
    for mode in (*MODES, ""):
        if mode and not _applies(mode, wanted_user, requestor):
            continue
        try:
            return await _Check(authorizer, requestor, mode).become(wanted_user, info)
        except StatusError as error:
            first = first or error
    assert first is not None, "the old mode always applies"
    raise first


def _node_name(username: str) -> str:
    return (
        username.removeprefix(NODE_PREFIX) if username.startswith(NODE_PREFIX) else ""
    )


def _applies(mode: str, wanted_user: UserInfo, requestor: UserInfo) -> bool:
    """Whether a constrained mode is about such users at all."""
    only_name = not (wanted_user.uid or wanted_user.groups or wanted_user.extra)
    node, account = _node_name(wanted_user.name), split_username(wanted_user.name)
    if mode == "associated-node":
        here = requestor.extra.get(f"{PREFIX}node-name", ())
        return (
            only_name
            and bool(node)
            and split_username(requestor.name) is not None
            and tuple(here) == (node,)
        )
    if mode == "arbitrary-node":
        return only_name and bool(node)
    if mode == "serviceaccount":
        return only_name and account is not None
    return not node and account is None


class _Check:
    """The authorization checks of one mode; `mode=""` is the old one."""

    def __init__(self, authorizer: Authorizer, requestor: UserInfo, mode: str) -> None:
        self._authorizer = authorizer
        self._mode = mode
        self._requestor = requestor
        if (
            mode == "associated-node"
            # one answer for all nodes: what differs from node to node is left out of
            # the question
        ):
            keys = tuple(sorted(requestor.extra))
            self._requestor = replace(
                requestor, extra={f"{PREFIX}associated-node-keys": keys}
            )
        self._verb = f"impersonate:{mode}" if mode else "impersonate"
        self._names_group = AUTHENTICATION if mode else ""

    async def become(
        self, wanted_user: UserInfo, info: RequestInfo
    ) -> tuple[UserInfo, str]:
        if self._mode:
            await self._check(
                replace(info, verb=f"impersonate-on:{self._mode}:{info.verb}")
            )
        groups = await self._username(wanted_user)
        if wanted_user.uid:
            await self._check(self._question(AUTHENTICATION, "uids", wanted_user.uid))
        await self._groups(wanted_user.groups)
        await self._extra(wanted_user.extra)
        extra_group = ""
        if wanted_user.name == ANONYMOUS.name:
            extra_group = ALL_UNAUTHENTICATED
        elif ALL_UNAUTHENTICATED not in groups:
            extra_group = ALL_AUTHENTICATED
        if extra_group and extra_group not in groups:
            groups = (*groups, extra_group)
        return replace(wanted_user, groups=groups), self._verb if self._mode else ""

    async def _username(self, wanted_user: UserInfo) -> tuple[str, ...]:
        """Check the name; the groups that it brings."""
        question = self._question(self._names_group, "users", wanted_user.name)
        groups = wanted_user.groups
        node, account = _node_name(wanted_user.name), split_username(wanted_user.name)
        if self._mode and node:
            name = "*" if self._mode == "associated-node" else node
            question = replace(question, resource="nodes", name=name)
            groups = ("system:nodes",)
        if account is not None:
            question = replace(
                question,
                resource="serviceaccounts",
                namespace=account[0],
                name=account[1],
            )
            groups = groups or make_group_names(account[0])
        await self._check(question)
        return groups

    async def _groups(self, groups: tuple[str, ...]) -> None:
        question = self._question(self._names_group, "groups", "")
        if self._mode and "" in groups:
            self._refuse(
                question, "impersonating the empty string group is not allowed"
            )
        if self._mode and MASTERS in groups:
            self._refuse(
                replace(question, name=MASTERS),
                "impersonating the system:masters group is not allowed",
            )
        if len(groups) >= MANY and await self._may_all(replace(question, name="*")):
            return
        for group in groups:
            await self._check(replace(question, name=group))

    async def _extra(self, extra: Mapping[str, tuple[str, ...]]) -> None:
        question = self._question(AUTHENTICATION, "userextras", "")
        if self._mode and (wrong := wrong_with_extra(extra)):
            self._refuse(question, wrong)
        many = len(extra) >= MANY or sum(map(len, extra.values())) >= MANY
        if many and await self._may_all(replace(question, subresource="*", name="*")):
            return
        for key, values in extra.items():
            for value in values:
                await self._check(replace(question, subresource=key, name=value))

    async def _may_all(self, question: RequestInfo) -> bool:
        """One question instead of many: whether anything goes. The old mode never asked
        it.
        """
        if not self._mode:
            return False
        return (await self._ask(question)).allowed

    async def _ask(self, question: RequestInfo) -> Verdict:
        return await decide(self._authorizer.authorize, self._requestor, question)

    def _refuse(self, question: RequestInfo, why: str) -> None:
        raise forbidden_status_error(self._requestor, question, why)

    def _question(self, group: str, resource: str, name: str) -> RequestInfo:
        return RequestInfo(
            is_resource_request=True,
            path="",
            verb=self._verb,
            group=group,
            version="v1",
            resource=resource,
            name=name,
        )

    async def _check(self, question: RequestInfo) -> None:
        verdict = await self._ask(question)
        if not verdict.allowed:
            why = ": ".join(text for text in (verdict.error, verdict.reason) if text)
            raise forbidden_status_error(self._requestor, question, why)


def wrong_with_extra(extra: Mapping[str, tuple[str, ...]]) -> str:
    """Why nobody may be somebody with such an extra, by the constrained rules; empty if
    nothing is wrong. Upstream: `validateExtra`.
    """
    for key, values in extra.items():
        if not key:
            return "impersonating the empty string key in extra is not allowed"
        if errors := validate_domain_prefixed_path(key, "extra.key"):
            return (
                "impersonating an invalid key in extra is not allowed:"
                f" {aggregate([str(error) for error in errors])}"
            )
        if key != key.lower():
            return (
                "impersonating a non-lowercase key in extra is not allowed:"
                f" {go_quote(key)}"
            )
        if not values:
            return "impersonating empty values in extra is not allowed"
        if "" in values:
            return "impersonating the empty string value in extra is not allowed"
    return ""
