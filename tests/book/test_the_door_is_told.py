"""What the pages of the API server say in plain words, held against the code that they are about."""

from __future__ import annotations

import inspect
import re

from lifecycle.apiserver.admission import (
    default_plugins,
    mutating_policy,
    reinvocation,
    type_checking,
    validating_policy,
)
from lifecycle.apiserver.aggregation import backend, proxy_handler
from lifecycle.apiserver.audit import backends, options, policy
from lifecycle.apiserver.authn import configuration, token_webhook
from lifecycle.apiserver.authz import modes, node, rbac
from lifecycle.apiserver.extension_server import delegation
from lifecycle.apiserver.filters import (
    audit,
    dropped_requests,
    max_in_flight,
    priority_and_fairness,
    queue_set,
    seat_borrowing,
)
from lifecycle.apiserver.server import chain
from tests.conftest import ROOT


def page(name: str) -> str:
    """A page's text, without its line breaks."""
    return " ".join((ROOT / "book" / "apiserver" / f"{name}.md").read_text().split())


def left_out(module: object) -> str:
    """What a module's first lines say that it leaves out."""
    text = " ".join(str(module.__doc__).split())
    return text.partition("Left out:")[2]


def test_the_chain_says_what_it_does_not_have() -> None:
    assert "HTTP/2 and its *goaway*" in page("the-handler-chain")
    assert "the request log of `-v=3`" in page("the-handler-chain")
    for absent in ("HTTP/2 goaway", "waiting for watches at shutdown", "request logging"):
        assert absent in left_out(chain)


def test_the_log_says_what_it_does_not_do() -> None:
    text = page("auditing")
    assert "does not cut entries that are too large" in text
    assert "truncating large events" in left_out(backends)
    assert "no throttling" in text
    assert "throttling" in left_out(backends)
    assert "only the batching mode" in text
    assert "blocking modes for the webhook" in left_out(backends)
    assert "not how that time was divided" in text
    assert "the parts of a slow request's latency" in left_out(audit)
    assert "four levels" in text
    assert len(policy.LEVELS) == 4
    assert options.AuditOptions().policy_file is None  # "there is no audit log unless somebody asked for it"


def test_flow_control_is_told_with_its_own_numbers() -> None:
    text = page("priority-and-fairness")
    limits = re.search(r"at most (\d+) requests at a time that read, at most (\d+) that write", text)
    assert limits is not None
    assert [int(each) for each in limits.groups()] == [max_in_flight.MAX_REQUESTS, max_in_flight.MAX_MUTATING_REQUESTS]
    assert "three milliseconds are assumed" in text
    assert queue_set.SERVICE_TIME == 0.003
    assert "Every ten seconds the server counts" in text
    assert seat_borrowing.ADJUSTMENT_PERIOD == 10.0
    assert "after one second, or later" in text
    assert dropped_requests.DroppedRequests().retry_after == 1
    assert "the condition `Dangling`" in text
    assert "the status that says whether a schema's level exists" in left_out(priority_and_fairness)


def test_aggregation_says_what_it_does_not_do() -> None:
    text = page("aggregation")
    assert "Not rebuilt is `exec`" in text
    assert "exec in an added server" in left_out(proxy_handler)
    assert "HTTP/2 between the two servers" in text
    assert "HTTP/2" in left_out(backend)
    assert "remembers the answer for ten seconds" in text
    assert delegation.TTL == 10.0


def test_authorization_is_told_with_the_modes_there_are() -> None:
    text = page("authorization")
    assert "There are six modes." in text
    assert len(modes.AUTHORIZATION_MODES) == 6
    assert "Neither Node nor RBAC ever says a firm no." in text
    for module in (node, rbac):
        assert "Decision.DENY" not in inspect.getsource(module)


def test_admission_says_what_it_does_not_have() -> None:
    text = page("admission")
    assert "Trust bundles (`ClusterTrustBundleAttest`)" in text
    assert "trust bundles" in " ".join(str(default_plugins.__doc__).split())
    assert "Custom resources among the kinds that policies are checked against" in text
    assert "custom resources" in left_out(type_checking)
    assert "A budget for what an expression costs" in text
    assert "cost budgets" in left_out(validating_policy)
    assert "cost budgets" in left_out(mutating_policy)
    assert "There is no third round." in text
    assert "There is no third round." in " ".join(str(reinvocation.__doc__).split())


def test_authentication_says_what_it_does_not_rebuild() -> None:
    text = page("authentication")
    assert "Not rebuilt is the file watcher" in text
    assert "watching the file" in " ".join(str(configuration.__doc__).split())
    assert "the answer is kept for two minutes" in text
    assert token_webhook.CACHE_TTL == 120.0
