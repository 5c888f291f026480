"""What an added server is told about who asks, held against a real API server.

A real API server passed requests on to a server that only keeps what it is sent. Who
asked is known by its own answer to a SelfSubjectReview. From the same user and the same
headers, ours are to be the same.
"""

from __future__ import annotations

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object, UserInfo
from lifecycle.apiserver.aggregation.backend import (
    auth_proxy_headers,
    forwarded_headers,
)
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

OF_THE_CONNECTION = frozenset(
    {
        *("host", "audit-id", "accept-encoding", "content-length", "connection"),
        *("x-forwarded-for", "x-forwarded-host", "x-forwarded-proto"),
        *("x-forwarded-uri", "content-type", "traceparent"),
    }
)
"""What is another one each time, or says nothing of who asks."""


def forwarded_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each request. `programs`: what the real one passed on; None: as
    recorded.
    """
    requests = asked(programs, "forwarded")
    table = AgreementTable(
        "Whom an added server hears of",
        "lifecycle",
        f"{requests[0].program}, asked directly",
        lambda table: (
            f"{len(requests)} requests were passed on to an added server, some with"
            " forged headers. Which of them arrive, and what they say of who asks:"
            f" {table.outcome('requests')}."
        ),
    )
    for each in requests:
        theirs = [list(pair) for pair in each.answer["received"]]
        mine = our_headers(each.answer["user"], each.answer["sent"])
        what = each.question.partition("/")[2]
        table.add(
            "aggregation",
            what,
            f"{len(mine)} headers",
            f"{len(theirs)} headers",
            compare({"headers": mine}, {"headers": theirs}),
        )
    return table


def our_headers(user: Object, sent: Object) -> list[list[str]]:
    """The headers, by name and value, that our aggregator would send."""
    extra = {key: tuple(values) for key, values in user.get("extra", {}).items()}
    info = UserInfo(
        user["username"], tuple(user.get("groups", ())), user.get("uid", ""), extra
    )
    own = {name.lower(): value for name, value in sent.items()}
    headers = forwarded_headers(own) + auth_proxy_headers(info)
    return sorted([name.lower(), value] for name, value in headers)
