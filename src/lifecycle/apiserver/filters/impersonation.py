"""Impersonation: doing something as somebody else, if one may.

`kubectl --as jane` sends `Impersonate-User: jane`. From this stage on the request is Jane's: flow control, authorization and
admission see only her. Whether the real user may do so is itself a matter of authorization, asked once for each part of the
identity.

Since v1.36 there are two ways to be allowed. The old one is all or nothing: the verb `impersonate` on the user. The new one is
*constrained*: `impersonate-on:<mode>:<verb>` on what is requested, and `impersonate:<mode>` on whom to be – so a role can say "may be
Jane, but only to list pods". There are modes for nodes (one's own, or any), service accounts, and other users. All are tried, the
new ones first; if none allows, the refusal is that of the first.

Upstream: `apiserver/pkg/endpoints/filters/impersonation/constrained_impersonation.go` and `mode.go`, v1.36. Left out: remembering
which mode worked last (our authorizer remembers its answers itself).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from urllib.parse import unquote

from lifecycle.api.field_errors import quote
from lifecycle.api.status import StatusError, bad_request
from lifecycle.api.tracing import span
from lifecycle.api.wire import ANONYMOUS, MASTERS, Handler, Request, RequestInfo, Response, UserInfo
from lifecycle.apiserver.authn.authenticator import ALL_AUTHENTICATED, ALL_UNAUTHENTICATED
from lifecycle.apiserver.authn.service_account import PREFIX, make_group_names, split_username
from lifecycle.apiserver.authz.authorizer import Authorizer
from lifecycle.apiserver.authz.forbidden import forbidden_status_error
from lifecycle.apiserver.filters.audit import log_impersonated_user
from lifecycle.apiserver.filters.refusal import refuse
from lifecycle.apiserver.must_ask import MustAsk, answered

USER_HEADER = "impersonate-user"
UID_HEADER = "impersonate-uid"
GROUP_HEADER = "impersonate-group"
EXTRA_PREFIX = "impersonate-extra-"
HEADER_PREFIX = "impersonate-"
_REPEATED = (HEADER_PREFIX, "x-remote-")
SEPARATOR = "\n"
"""Joins the values of a header sent several times: the one character that no header value can hold."""

AUTHENTICATION = "authentication.k8s.io"
NODE_PREFIX = "system:node:"
MODES = ("associated-node", "arbitrary-node", "serviceaccount", "user-info")


def wanted_user(headers: dict[str, str]) -> UserInfo | None:
    """Whom the headers ask to be, exactly as they say it; None if nobody. Raises StatusError 400 for a group without a user."""
    name, uid = headers.get(USER_HEADER, ""), headers.get(UID_HEADER, "")
    groups = tuple(headers[GROUP_HEADER].split(SEPARATOR)) if GROUP_HEADER in headers else ()
    extra: dict[str, tuple[str, ...]] = {}
    for key, value in headers.items():
        if key.startswith(EXTRA_PREFIX):
            extra[unquote(key.removeprefix(EXTRA_PREFIX)).lower()] = tuple(value.split(SEPARATOR))
    if name:
        return UserInfo(name, groups, uid, extra)
    if uid or groups or extra:
        raise bad_request(f"requested {_go_value(uid, groups, extra)} without impersonating a user name")
    return None


def _go_value(uid: str, groups: tuple[str, ...], extra: dict[str, tuple[str, ...]]) -> str:
    """A user the way Go's `%#v` prints it: this message shows it raw."""
    go_groups = "[]string{" + ", ".join(quote(g) for g in groups) + "}" if groups else "[]string(nil)"
    pairs = (f"{quote(key)}:[]string{{{', '.join(quote(v) for v in values)}}}" for key, values in sorted(extra.items()))
    go_extra = "map[string][]string{" + ", ".join(pairs) + "}" if extra else "map[string][]string(nil)"
    return f'&user.DefaultInfo{{Name:"", UID:{quote(uid)}, Groups:{go_groups}, Extra:{go_extra}}}'


def with_impersonation(handler: Handler, authorizer: Authorizer) -> Handler:
    """Replace `request.user` by the one asked for, if allowed; 403 if not."""

    async def impersonation(request: Request) -> Response:
        if not any(key.startswith(HEADER_PREFIX) for key in request.headers):
            return await handler(request)
        info, requestor = request.info, request.user or ANONYMOUS
        assert info is not None, "request info comes first"
        with span("apiserver", "impersonation", user=requestor.name):
            try:
                wanted = wanted_user(request.headers)
                if wanted is not None:
                    who = wanted
                    try:
                        become = impersonated_user(authorizer, requestor, who, info)
                    except MustAsk as waiting:
                        become = await answered(lambda: impersonated_user(authorizer, requestor, who, info), waiting)
                    request.user, constraint = become
                    log_impersonated_user(request.user, constraint)
            except StatusError as error:
                return refuse(error)
        if wanted is not None:
            request.headers = {k: v for k, v in request.headers.items() if not k.startswith(HEADER_PREFIX)}
        return await handler(request)

    return impersonation


def impersonated_user(
    authorizer: Authorizer, requestor: UserInfo, wanted: UserInfo, info: RequestInfo
) -> tuple[UserInfo, str]:
    """Who the requestor becomes, and the constraint under which (`""`: the old, unconstrained way). Raises StatusError 403."""
    first: StatusError | None = None
    for mode in (*MODES, ""):
        if mode and not _applies(mode, wanted, requestor):
            continue
        try:
            return _Check(authorizer, requestor, mode).become(wanted, info)
        except StatusError as error:
            first = first or error
    assert first is not None, "the old mode always applies"
    raise first


def _node_name(username: str) -> str:
    return username.removeprefix(NODE_PREFIX) if username.startswith(NODE_PREFIX) else ""


def _applies(mode: str, wanted: UserInfo, requestor: UserInfo) -> bool:
    """Whether a constrained mode is about such users at all."""
    only_name = not (wanted.uid or wanted.groups or wanted.extra)
    node, account = _node_name(wanted.name), split_username(wanted.name)
    if mode == "associated-node":
        here = requestor.extra.get(f"{PREFIX}node-name", ())
        return only_name and bool(node) and split_username(requestor.name) is not None and tuple(here) == (node,)
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
        ):  # one answer for all nodes: what differs from node to node is left out of the question
            keys = tuple(sorted(requestor.extra))
            self._requestor = replace(requestor, extra={f"{PREFIX}associated-node-keys": keys})
        self._verb = f"impersonate:{mode}" if mode else "impersonate"
        self._names_group = AUTHENTICATION if mode else ""

    def become(self, wanted: UserInfo, info: RequestInfo) -> tuple[UserInfo, str]:
        if self._mode:
            self._check(replace(info, verb=f"impersonate-on:{self._mode}:{info.verb}"))
        groups = self._username(wanted)
        if wanted.uid:
            self._check(self._question(AUTHENTICATION, "uids", wanted.uid))
        self._groups(wanted.groups)
        for key, values in wanted.extra.items():
            for value in values:
                self._check(replace(self._question(AUTHENTICATION, "userextras", value), subresource=key))
        extra_group = ""
        if wanted.name == ANONYMOUS.name:
            extra_group = ALL_UNAUTHENTICATED
        elif ALL_UNAUTHENTICATED not in groups:
            extra_group = ALL_AUTHENTICATED
        if extra_group and extra_group not in groups:
            groups = (*groups, extra_group)
        return replace(wanted, groups=groups), self._verb if self._mode else ""

    def _username(self, wanted: UserInfo) -> tuple[str, ...]:
        """Check the name; the groups that it brings."""
        question = self._question(self._names_group, "users", wanted.name)
        groups = wanted.groups
        node, account = _node_name(wanted.name), split_username(wanted.name)
        if self._mode and node:
            name = "*" if self._mode == "associated-node" else node
            question = replace(question, resource="nodes", name=name)
            groups = ("system:nodes",)
        if account is not None:
            question = replace(question, resource="serviceaccounts", namespace=account[0], name=account[1])
            groups = groups or make_group_names(account[0])
        self._check(question)
        return groups

    def _groups(self, groups: tuple[str, ...]) -> None:
        for group in groups:
            question = self._question(self._names_group, "groups", group)
            if self._mode and group == "":
                raise forbidden_status_error(
                    self._requestor, question, "impersonating the empty string group is not allowed"
                )
            if self._mode and MASTERS in groups:
                question = replace(question, name=MASTERS)
                raise forbidden_status_error(
                    self._requestor, question, "impersonating the system:masters group is not allowed"
                )
            self._check(question)

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

    def _check(self, question: RequestInfo) -> None:
        verdict = self._authorizer.authorize(self._requestor, question)
        if not verdict.allowed:
            why = ": ".join(text for text in (verdict.error, verdict.reason) if text)
            raise forbidden_status_error(self._requestor, question, why)


def repeated(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Header lines as one dictionary with lower-case keys. Headers of impersonation and of front proxies keep all values they were
    sent with."""
    joined: dict[str, str] = {}
    for key, value in headers:
        key = key.lower()
        if key in joined and key.startswith(_REPEATED):
            joined[key] += SEPARATOR + value
        elif key == "x-stream-protocol-version" and key in joined:  # kubectl 1.20 sends a line for each it speaks
            joined[key] += ", " + value
        else:
            joined[key] = value
    return joined
