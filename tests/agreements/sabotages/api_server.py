"""What might go wrong in the API server and its store."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from lifecycle.agreements.apiserver.admission import SCENARIOS, admission_agreement
from lifecycle.agreements.apiserver.audited import audit_agreement
from lifecycle.agreements.apiserver.authentication import authentication_agreement, authentication_then_and_now
from lifecycle.agreements.apiserver.authorization import authorization_agreement
from lifecycle.agreements.apiserver.conversion import conversion_agreement
from lifecycle.agreements.apiserver.discovery import discovery_agreement, server_agreement
from lifecycle.agreements.apiserver.flow_control import HEADER, SCENARIO, flow_control_agreement
from lifecycle.agreements.apiserver.handler_chain import handler_chain_agreement
from lifecycle.agreements.apiserver.initializers import initializers_agreement
from lifecycle.agreements.apiserver.odd_objects import odd_objects_agreement
from lifecycle.agreements.apiserver.queued import queuing_agreement
from lifecycle.agreements.apiserver.resize import resize_agreement
from lifecycle.agreements.apiserver.resource_handling import resource_handling_agreement
from lifecycle.agreements.apiserver.small_print import small_print_agreement
from lifecycle.agreements.bare_server import BARE
from lifecycle.agreements.etcd.keys_and_values import etcd_agreement
from lifecycle.agreements.etcd.over_etcd import over_etcd_agreement
from lifecycle.agreements.scheduler.in_a_row import in_a_row_agreement
from lifecycle.agreements.scheduler.news import news_agreement
from lifecycle.api.http.wire import RequestInfo, UserInfo
from lifecycle.api.status import forbidden
from lifecycle.apiserver.authz.union import UnionAuthorizer
from lifecycle.apiserver.filters.queue_set import Queue, QueueSet
from lifecycle.cluster.target import HandlerTarget
from lifecycle.etcd.keys import registry_key, resource_prefix
from tests.agreements.sabotages.judged import Answers, Install, IsSpoilt, Judged, Sabotage, called, opened
from tests.agreements.sabotages.told import Told
from tests.claims.broken.breakage import constant

Spoil = Callable[[int, bytes], tuple[int, bytes]]


def one_more_field(status: int, body: bytes) -> tuple[int, bytes]:
    """The same answer, with something in it that nobody recorded."""
    try:
        document = json.loads(body)
    except ValueError:
        return status + 1, body
    if not isinstance(document, dict):
        return status + 1, body
    return status, json.dumps({**document, "spoilt": True}).encode()


def another_outcome(status: int, body: bytes) -> tuple[int, bytes]:
    """Another code; or the same refusal in other words."""
    if status < 400 or not body.startswith(b"{"):
        return status + 1, body
    document = json.loads(body)
    return status, json.dumps({**document, "message": f"{document['message']}!"}).encode()


def server_answers(
    scenarios: tuple[str, ...],
    spoil: Spoil = one_more_field,
    keep: Callable[[Any], bool] = lambda exchange: True,
    recording: str = "kind-1.36.2",
    alone: bool = True,
) -> Install:
    """Answers of our server to the recorded requests, in their order; what is asked in between is left alone. `keep`: those of
    which the table has rows. `alone`: the table sees nothing else of the server, so it need not do the same in each table."""

    def install(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
        exchanges = [e for scenario in scenarios for e in opened(recording).exchanges(scenario)]
        state = {"next": 0, "row": 0}
        request_of = asked_once(install) if alone else HandlerTarget.request

        async def request(self: HandlerTarget, method: str, path: str, headers: Any, body: bytes) -> Any:
            status, sent, answer = await request_of(self, method, path, headers, body)
            at = state["next"]
            if at < len(exchanges) and _asks_the_same(exchanges[at], method, path):
                state["next"] += 1
                if keep(exchanges[at]):
                    state["row"] += 1
                    if spoilt(state["row"] - 1):
                        status, answer = spoil(status, answer)
            return status, sent, answer

        monkeypatch.setattr(HandlerTarget, "request", request)

    return install


def asked_once(by: Any) -> Any:
    """Instead of `HandlerTarget.request`: the server does something in the first table only (see `Told`)."""
    told, real = Told(by), HandlerTarget.request

    async def request(self: HandlerTarget, method: str, path: str, headers: Any, body: bytes) -> Any:
        question = (method, path, headers, body)
        if told.known:
            return told.again(question)
        answer = await real(self, *question)
        told.keep(question, answer)
        return answer

    return request


def _asks_the_same(recorded: Any, method: str, path: str) -> bool:
    """Revisions and tokens of pages in a query are each server's own."""
    return bool(recorded.method == method and recorded.path.partition("?")[0] == path.partition("?")[0])


def classified_wrong(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Some answers say that they were let in by a schema that nobody knows."""
    exchanges = opened(BARE).exchanges(SCENARIO)
    request_of = asked_once(classified_wrong)
    state = {"next": 0}

    async def request(self: HandlerTarget, method: str, path: str, headers: Any, body: bytes) -> Any:
        status, sent, answer = await request_of(self, method, path, headers, body)
        at = state["next"]
        if at < len(exchanges) and _asks_the_same(exchanges[at], method, path):
            state["next"] += 1
            if spoilt(at):
                sent = {name: "spoilt" if name.lower() == HEADER else value for name, value in sent.items()}
        return status, sent, answer

    monkeypatch.setattr(HandlerTarget, "request", request)


def refused(*_: Any, **__: Any) -> Any:
    """Nobody gets anything."""
    raise forbidden("serviceaccounts", "default", "spoilt")


def wrong_keys(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Objects of some kinds lie elsewhere, as long as only keys are asked for."""
    from lifecycle.agreements.etcd import keys_and_values as etcd

    numbers: dict[str, int] = {}
    decoding = {"values": False}
    decode = etcd.decode_value

    def decoded(*arguments: Any) -> Any:
        decoding["values"] = True
        return decode(*arguments)

    def key_of(resource: Any, namespace: str, name: str) -> str:
        key = registry_key(resource, namespace, name)
        number = numbers.setdefault(resource_prefix(resource), len(numbers))
        return f"{key}!" if not decoding["values"] and spoilt(number) else key

    monkeypatch.setattr(etcd, "decode_value", decoded)
    monkeypatch.setattr(etcd.etcd_agreement, "__defaults__", (key_of,))


def wrong_about_users(refusals: bool) -> Install:
    """Everything is wrong that some users are told: the decision, or (`refusals`) the wording."""

    def install(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
        from lifecycle.agreements.apiserver import authorization

        numbers: dict[str, int] = {}
        decide, word = UnionAuthorizer.authorize, authorization.forbidden_status_error
        asked = {"reviews": 0}
        reviews = sum(1 for _ in authorization.questions(opened()))

        def authorize(self: UnionAuthorizer, user: UserInfo, info: RequestInfo) -> Any:
            verdict: Any = decide(self, user, info)
            asked["reviews"] += 1
            if refusals or asked["reviews"] > reviews:
                return verdict
            number = numbers.setdefault(user.name, len(numbers))
            return verdict._replace(reason=f"{verdict.reason}!") if spoilt(number) else verdict

        def refuse(user: UserInfo, info: RequestInfo, reason: str) -> Any:
            number = numbers.setdefault(user.name, len(numbers))
            return word(user, info, f"{reason}!" if refusals and spoilt(number) else reason)

        monkeypatch.setattr(UnionAuthorizer, "authorize", authorize)
        monkeypatch.setattr(authorization, "forbidden_status_error", refuse)

    return install


def misread_group(monkeypatch: pytest.MonkeyPatch, spoilt: IsSpoilt) -> None:
    """Our client reads something into some groups' resources."""
    from lifecycle.agreements.apiserver import discovery

    real = discovery.read_by_ours
    names = sorted(discovery.recorded_lists(opened()))

    def read(transport: Any) -> Any:
        groups, lists = real(transport)
        if spoilt(0):
            groups = groups[1:]
        return groups, [
            {**document, "resources": document["resources"][1:]}
            if spoilt(1 + names.index(document["groupVersion"]))
            else document
            for document in lists
        ]

    monkeypatch.setattr(discovery, "read_by_ours", read)


def first_come(queues: QueueSet) -> Queue:
    """As if there were one line for everybody."""
    return min((each for each in queues.queues.values() if each.waiting), key=lambda each: each.waiting[0].arrived)


EVENT = {"level": "Spoilt", "stage": "Spoilt"}
JUDGED = (
    Judged(
        "queuing_agreement",
        queuing_agreement,
        sabotages=(
            Sabotage(
                "whoever gives up keeps the place",
                "apiserver.filters.queue_set.QueueSet.cancel",
                constant(None),
                (r"one gives up \| (5|6)", r"little time \| (7|8)"),
                because="in these two scenes the next one in the line moves up",
            ),
            Sabotage(
                "first come, first served",
                "apiserver.filters.queue_set.QueueSet._next",
                first_come,
                (r"has one queue \| (1[2-9]|2\d)\.", r"from two queues \| (9|1\d)\."),
                because="from then on, others are inside",
            ),
            Sabotage(
                "whoever waits for seats waits for another request",
                "apiserver.filters.priority_and_fairness.FlowController._again",
                constant(None),
                (r"seats are lent \| ([4-9])\.",),
                because="from then on, others are inside",
            ),
            Sabotage(
                "everybody keeps what is theirs",
                "apiserver.filters.priority_and_fairness.FlowController.adjust",
                constant(None),
                (r"seats are lent \| ([2-9])\.",),
                because="from then on, others are inside",
            ),
        ),
        answers=(
            Answers(
                "who is inside",
                "",
                called(
                    "agreements.apiserver.queued.after",
                    lambda after, *_: {**after, "inside": [*after["inside"], "spoilt"]},
                ),
            ),
        ),
    ),
    Judged(
        "audit_agreement",
        audit_agreement,
        sabotages=(
            Sabotage(
                "a rule about one path is a rule about every path",
                "apiserver.audit.policy._path_matches",
                constant(True),
                ("every sort of rule .*(any other path|a path that is not there|for a path)$",),
                because="one function looks at all paths",
            ),
            Sabotage(
                "nobody says as whom the request goes on",
                "apiserver.filters.impersonation.log_impersonated_user",
                constant(None),
                ("as somebody else$",),
                because="each policy is asked about it once",
            ),
            Sabotage(
                "nothing is said of the token that was given out",
                "apiserver.authn.token_request.ISSUED_CREDENTIAL_ID",
                "other",
                ("a subresource of anything$",),
                because="each policy is asked about it once",
            ),
        ),
        answers=(
            Answers(
                "what is kept", "", called("agreements.apiserver.audited.events_of", lambda kept, *_: [*kept, EVENT])
            ),
        ),
    ),
    Judged(
        "admission_agreement",
        lambda: admission_agreement(opened()),
        answers=(Answers("the server, asked by the recorder", "", server_answers(SCENARIOS)),),
    ),
    Judged(
        "authentication_agreement",
        lambda: authentication_agreement(opened()),
        answers=(Answers("the server, asked by strangers and others", "", server_answers(("authn",))),),
    ),
    Judged(
        "authentication_then_and_now",
        lambda: authentication_then_and_now(opened("bare-1.20.2")),
        answers=(
            Answers(
                "the server, asked as an older one was",
                r"\| (?!.*/token$)",
                server_answers(
                    ("authn",),
                    another_outcome,
                    lambda e: e.path != "/version" and not e.path.endswith("/token"),
                    "bare-1.20.2",
                ),
            ),
        ),
        sabotages=(
            Sabotage(
                "no token is issued",
                "apiserver.authn.token_request.TokenRequests.create",
                refused,
                (r"/token$", "service account (token|lists pods)", "SA may not impersonate"),
                because="whoever was issued no token is a stranger afterwards",
            ),
        ),
    ),
    Judged(
        "authorization_agreement",
        lambda: authorization_agreement(opened()),
        answers=(
            Answers("reasons, user by user", " questions$", wrong_about_users(refusals=False)),
            Answers("refusals, user by user", " refusals$", wrong_about_users(refusals=True)),
        ),
    ),
    Judged(
        "discovery_agreement",
        lambda: discovery_agreement(opened()),
        answers=(Answers("what our client reads", "", misread_group),),
    ),
    Judged("server_agreement", lambda: server_agreement(opened())),
    Judged(
        "etcd_agreement",
        lambda: etcd_agreement(opened()),
        answers=(
            Answers("keys, kind by kind", "^keys ", wrong_keys),
            Answers(
                "values",
                "^values ",
                called("agreements.etcd.keys_and_values.encode_value", lambda value, *_: value + b"\0"),
            ),
        ),
    ),
    Judged(
        "handler_chain_agreement",
        lambda: handler_chain_agreement(opened()),
        answers=(
            Answers(
                "events of the audit log",
                "",
                called("apiserver.filters.audit.request_uri", lambda uri, *_: f"{uri}#"),
            ),
        ),
    ),
    Judged(
        "initializers_agreement",
        lambda: initializers_agreement(opened()),
        answers=(
            Answers(
                "the successors' answers",
                "ValidatingAdmissionPolicy|webhook",
                server_answers(
                    ("admission",),
                    keep=lambda e: any(
                        f" {name}" in f" {e.moment}" for name in ("ValidatingAdmissionPolicy", "webhook")
                    ),
                ),
            ),
        ),
    ),
    Judged(
        "resource_handling_agreement",
        lambda: resource_handling_agreement(opened()),
        answers=(Answers("the server, asked for objects", "", server_answers(("storage",))),),
    ),
    Judged(
        "conversion_agreement",
        lambda: conversion_agreement(opened(BARE)),
        answers=(Answers("the server, asked by several versions", "", server_answers(("versions",), recording=BARE)),),
    ),
    Judged(
        "resize_agreement",
        lambda: resize_agreement(opened(BARE)),
        answers=(Answers("the server, asked for more and for less", "", server_answers(("resize",), recording=BARE)),),
    ),
    Judged(
        "small_print_agreement",
        lambda: small_print_agreement(opened(BARE)),
        answers=(Answers("the server, asked for what is rare", "", server_answers(("small-print",), recording=BARE)),),
    ),
    Judged(
        "odd_objects_agreement",
        lambda: odd_objects_agreement(opened(BARE)),
        answers=(Answers("the server, shown odd objects", "", server_answers(("odd-objects",), recording=BARE)),),
    ),
    Judged(
        "news_agreement",
        lambda: news_agreement(opened(BARE)),
        sabotages=(
            Sabotage(
                "a pod that needs less now is not tried again",
                "scheduler.framework.plugins.node_resources_fit.itself",
                constant(False),
                ("^and fits ", "^what all of them are told in the end "),
                because="the end shows all pods",
            ),
            Sabotage(
                "that another pod needs less is no news",
                "scheduler.framework.plugins.node_resources_fit._is_schedulable_after_pod_scale_down",
                constant(False),
                ("^now there is enough ", "^what all of them are told in the end "),
                because="the end shows all pods",
            ),
        ),
        answers=(Answers("the server that the scheduler writes to", "", server_answers(("news",), recording=BARE)),),
    ),
    Judged(
        "in_a_row_agreement",
        lambda: in_a_row_agreement(opened(BARE)),
        answers=(Answers("the server that pods in a row come to", "", server_answers(("in-a-row",), recording=BARE)),),
    ),
    Judged(
        "over_etcd_agreement",
        lambda: over_etcd_agreement(opened(BARE)),
        answers=(Answers("two servers, asked in turn", "", server_answers(("resize",), recording=BARE)),),
    ),
    Judged(
        "flow_control_agreement",
        lambda: flow_control_agreement(opened(BARE)),
        answers=(Answers("flow schemas, request by request", "", classified_wrong),),
    ),
)
