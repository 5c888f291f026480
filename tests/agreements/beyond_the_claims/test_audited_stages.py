"""Which stages of a request are not logged, and which of two notes stays."""

from __future__ import annotations

from typing import Any

import pytest

from lifecycle.api.http.wire import Object, RequestInfo, UserInfo
from lifecycle.apiserver.audit import context
from lifecycle.apiserver.audit.policy import AuditPolicy

GET = RequestInfo(True, "/api/v1/pods", "get", version="v1", resource="pods")
RECEIVED, STARTED, PANIC = "RequestReceived", "ResponseStarted", "Panic"


@pytest.mark.parametrize(
    ("everywhere", "here", "omitted"),
    [
        ([RECEIVED], [STARTED], {RECEIVED, STARTED}),
        ([RECEIVED], [RECEIVED], {RECEIVED}),
        ([RECEIVED], None, {RECEIVED}),
        ([RECEIVED], [], {RECEIVED}),
        (None, [STARTED, PANIC], {STARTED, PANIC}),
        (None, None, set()),
    ],
)
def test_what_the_policy_leaves_out_a_rule_can_only_add_to(
    everywhere: list[str] | None, here: list[str] | None, omitted: set[str]
) -> None:
    rule: Object = {"level": "Metadata", **({"omitStages": here} if here is not None else {})}
    policy: Object = {"rules": [rule], **({"omitStages": everywhere} if everywhere is not None else {})}
    config = AuditPolicy(policy).evaluate(UserInfo("jane", ()), GET)
    assert (config.level, set(config.omit_stages)) == ("Metadata", omitted)


@pytest.mark.parametrize(
    ("everywhere", "here", "omitted"),
    [(True, None, True), (True, False, False), (False, True, True), (False, None, False), (None, None, False)],
)
def test_of_managed_fields_the_rule_has_the_last_word(everywhere: Any, here: Any, omitted: bool) -> None:
    rule: Object = {"level": "Request", **({"omitManagedFields": here} if here is not None else {})}
    policy: Object = {"rules": [rule], **({"omitManagedFields": everywhere} if everywhere is not None else {})}
    assert AuditPolicy(policy).evaluate(None, GET).omit_managed_fields is omitted


def test_of_two_notes_with_one_key_the_first_stays() -> None:
    event: Object = {}
    token = context.audit_event.set(event)
    try:
        context.annotate("a", "first", "b", "only")
        context.annotate("a", "second", "c", "third")
    finally:
        context.audit_event.reset(token)
    assert event["annotations"] == {"a": "first", "b": "only", "c": "third"}
