"""The authorization table: full agreement with 1.36.2, twice; and it notices an authorizer that is wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lifecycle.agreements.apiserver.authorization import (
    ANY_BINDING,
    authorization_agreement,
    in_words,
    questions,
    recorded_policy,
    standard_authorizer,
)
from lifecycle.api.http.wire import RequestInfo, UserInfo
from lifecycle.apiserver.authz.always import AlwaysAllow
from lifecycle.apiserver.authz.authorizer import UserRules, Verdict
from lifecycle.inspector import open_recording


@pytest.mark.parametrize("name", ["kind-1.36.2", "kind-1.36.2-again"])
def test_every_decision_reason_and_refusal_is_ours(name: str) -> None:
    recording = open_recording(name)
    table = authorization_agreement(recording)
    assert table.equal, table.unexplained[:3]
    assert len(list(questions(recording))) == 2912
    assert set(table.freedoms) == {ANY_BINDING}
    assert table.freedoms[ANY_BINDING] < 30


def test_of_the_older_version_only_what_changed_since_differs() -> None:
    table = authorization_agreement(open_recording("bare-1.20.2"))
    assert table.unexplained == []
    assert {(known.id, count) for known, count in table.known.items()} == {("nodes-held-to-their-own", 8)}


class Forgetful:
    """Our authorizer, but for the subresource."""

    def __init__(self) -> None:
        self.real = standard_authorizer(recorded_policy(open_recording()))

    def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
        return self.real.authorize(user, replace(info, subresource=""))

    def rules_for(self, user: UserInfo, namespace: str) -> UserRules:
        return UserRules()


@pytest.mark.parametrize("wrong", [AlwaysAllow(), Forgetful()])
def test_a_wrong_authorizer_is_told_apart(wrong: AlwaysAllow | Forgetful) -> None:
    table = authorization_agreement(open_recording(), wrong)
    assert len(table.unexplained) > 100
    assert not table.equal


def test_an_allowed_request_needs_a_binding_that_allows_it() -> None:
    """The freedom of order is not one to name any binding at all."""

    class NamesAnother(Forgetful):
        def authorize(self, user: UserInfo, info: RequestInfo) -> Verdict:
            verdict = self.real.authorize(user, info)
            return verdict._replace(reason=verdict.reason.replace('"', "'"))

    assert len(authorization_agreement(open_recording(), NamesAnother()).unexplained) > 500


def test_questions_in_words() -> None:
    scale = RequestInfo(
        True, "", "get", group="apps", namespace="shop", resource="deployments", subresource="scale", name="web"
    )
    assert in_words(scale) == "get deployments/scale.apps web in shop"
    assert in_words(RequestInfo(False, "/healthz", "get")) == "get /healthz"
