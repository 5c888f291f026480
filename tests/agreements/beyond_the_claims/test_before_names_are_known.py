"""What a name server says before it has read the whole cluster once: that it does not know, and not that there is nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from lifecycle.dns.records import NOERROR, SERVFAIL, Answer
from lifecycle.dns.server import ClusterDNS


def test_it_does_not_answer_before_it_knows_everything() -> None:
    """Upstream: CoreDNS' `kubernetes` plugin, `HasSynced`, else SERVFAIL."""
    asked, found = list[tuple[str, str]](), Answer(NOERROR)
    answerer = SimpleNamespace(answer=lambda *said: (asked.append(said), found)[1])
    for synced in (False, True):
        server = SimpleNamespace(answerer=answerer, has_synced=synced)
        answer = ClusterDNS.answer(cast(Any, server), "web.shop.svc.cluster.local.", "A")
        if synced:
            assert answer is found
            assert asked == [("web.shop.svc.cluster.local.", "A")]
        else:
            assert (answer.rcode, answer.authoritative, answer.answer, asked) == (SERVFAIL, False, [], [])
