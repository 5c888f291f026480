"""`authorizer`: an expression asks what the user, or an account, may do.

`authorizer.group('apps').resource('deployments').namespace('x').check('create').allowed()`:
each step narrows the question, `check` asks it. Whom to ask, and for whom, is not in
the values but in the evaluation they belong to (`asking`).

An expression is evaluated in one go; nothing in it can wait. If an authorizer has to
ask outside, the check fails for now, and the evaluation notes what to await (`settle`).
Then the expression is evaluated once more. That does no harm: an expression does
nothing but give a value.

Upstream: `apiserver/pkg/cel/library/authz.go`, v1.36.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from lifecycle.api.http.wire import RequestInfo, UserInfo
from lifecycle.apiserver.cel.declare import T, declared, function
from lifecycle.apiserver.cel.types import message, types

Ask = Callable[[UserInfo, RequestInfo], Any]
"""An authorizer's `authorize`: returns something with `allowed`, `reason` and `error`,
or an awaitable of it.
"""


@dataclass(slots=True)
class Asking:
    """Who answers, and who is asked about unless an account is named. `waiting` holds
    the questions that have no verdict yet. `at_once`: whether somebody may be asked
    here and now, and not only when the verdicts are waited for: the authorizer is the
    loop's, and an expression may be the worker's.
    """

    authorize: Ask
    user: UserInfo
    at_once: bool = True
    waiting: dict[bytes, Callable[[], Any]] = field(default_factory=dict)
    _verdicts: dict[bytes, Any] = field(default_factory=dict)

    def verdict(self, question: bytes, user: UserInfo, info: RequestInfo) -> Any:
        """The verdict, or None if it has to be waited for."""
        if question in self._verdicts:
            return self._verdicts[question]
        if question in self.waiting:
            return None
        if not self.at_once:
            self.waiting[question] = partial(self.authorize, user, info)
            return None
        answer = self.authorize(user, info)
        if not isinstance(answer, Awaitable):
            return answer
        self.waiting[question] = lambda: answer
        return None

    async def settle(self) -> None:
        """Wait for all verdicts that are missing."""
        while self.waiting:
            question, ask = self.waiting.popitem()
            answer = ask()
            self._verdicts[question] = (
                await answer if isinstance(answer, Awaitable) else answer
            )


_asking: ContextVar[Asking | None] = ContextVar(
    "lifecycle_cel_authorizer", default=None
)


@contextmanager
def asking(who: Asking | None) -> Iterator[None]:
    """While this lasts, `check` asks `who`."""
    token = _asking.set(who)
    try:
        yield
    finally:
        _asking.reset(token)


def _user(check: Any, user: UserInfo) -> UserInfo:
    if not check.serviceAccount:
        return user
    namespace = check.serviceAccount.split(":")[2]
    groups = (
        "system:serviceaccounts",
        f"system:serviceaccounts:{namespace}",
        "system:authenticated",
    )
    return UserInfo(check.serviceAccount, groups)


def _check(check: Any, verb: str) -> Any:
    asker = _asking.get()
    if asker is None:
        raise ValueError("no such overload")
    if check.DESCRIPTOR.name == "PathCheck":
        info = RequestInfo(is_resource_request=False, path=check.path, verb=verb)
    else:
        info = RequestInfo(
            is_resource_request=True,
            path="",
            verb=verb,
            group=check.group,
            version="*",
            namespace=check.namespace,
            resource=check.resource,
            subresource=check.subresource,
            name=check.name,
            field_selector=check.fieldSelector,
            label_selector=check.labelSelector,
        )
    question = b"\0".join(
        (check.DESCRIPTOR.name.encode(), verb.encode(), check.SerializeToString())
    )
    verdict = asker.verdict(question, _user(check, asker.user), info)
    if verdict is None:
        raise ValueError("the authorizer has not answered yet")
    return message(
        "authorization.Decision",
        isAllowed=verdict.allowed,
        why=verdict.reason,
        problem=verdict.error,
    )


def _with(field: str) -> Callable[[Any, str], Any]:
    def narrowed(check: Any, value: str) -> Any:
        new = type(check)()
        new.CopyFrom(check)
        setattr(new, field, value)
        return new

    return narrowed


def _service_account(authorizer: Any, namespace: str, name: str) -> Any:
    return message(
        "authorization.Authorizer",
        serviceAccount=f"system:serviceaccount:{namespace}:{name}",
    )


def _path(authorizer: Any, path: str) -> Any:
    if not path:
        raise ValueError("path must not be empty")
    return message(
        "authorization.PathCheck", serviceAccount=authorizer.serviceAccount, path=path
    )


def _group(authorizer: Any, group: str) -> Any:
    return message(
        "authorization.GroupCheck",
        serviceAccount=authorizer.serviceAccount,
        group=group,
    )


def _resource(group: Any, resource: str) -> Any:
    return message(
        "authorization.ResourceCheck",
        serviceAccount=group.serviceAccount,
        group=group.group,
        resource=resource,
    )


def functions() -> list[Any]:
    """Declarations."""
    kinds, s = types(), T.STRING
    whole, path = (
        kinds.type("authorization.Authorizer"),
        kinds.type("authorization.PathCheck"),
    )
    group, check = (
        kinds.type("authorization.GroupCheck"),
        kinds.type("authorization.ResourceCheck"),
    )
    decision = kinds.type("authorization.Decision")
    return [
        function("path", _path, (path, (whole, s))),
        function("group", _group, (group, (whole, s))),
        function("serviceAccount", _service_account, (whole, (whole, s, s))),
        function("resource", _resource, (check, (group, s))),
        *(function(field, _with(field), (check, (check, s)))
          for field in ("subresource", "namespace", "name", "fieldSelector",
          "labelSelector")),
        declared("check", [(_check, [(decision, (check, s)), (decision, (path, s))])]),
        function("allowed", lambda value: value.isAllowed, (T.BOOL, (decision,))),
        function("reason", lambda value: value.why, (s, (decision,))),
        function("errored", lambda value: bool(value.problem), (T.BOOL, (decision,))),
        function("error", lambda value: value.problem, (s, (decision,))),
    ]  # fmt: skip
