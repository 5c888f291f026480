"""How much work a request is, held against a real API server: its own metrics say how
many seats it gave to each.

Reads and writes, of which more or fewer people hear. How many there were, and how many
seats there were for all, is recorded beside it, and ours estimates from the same
numbers. (Lists depend on what the server knows of its store, too; that was not to be
had.)
"""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.filters.request_info import RequestInfoFactory
from lifecycle.apiserver.filters.work_estimate import WorkEstimator, max_seats
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

HANDS = {"weighed-queues": 6, "weighed-refuses": 0}
"""How many queues the flows of a level are dealt; 0: it has none."""


def work_estimate_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each request. `programs`: what the real one did; None: as recorded."""
    requests = asked(programs, "weighed")
    table = AgreementTable(
        "How much work a request is",
        "lifecycle",
        f"{requests[0].program}, asked directly",
        lambda table: (
            f"{len(requests)} requests, each by somebody whose level has queues or has"
            " none, while few or many watch. How many seats a real API server takes"
            " each for,"
            f" and ours: {table.outcome('requests')}."
        ),
    )
    for each in requests:
        level, _, what = each.question.partition("/")[2].partition(": ")
        mine, theirs = our_seats(each.answer), int(each.answer["weighs"])
        seats = {"seats": mine}, {"seats": theirs}
        table.add(level, what, str(mine), str(theirs), compare(*seats))
    return table


def our_seats(asked: Object) -> int:
    """How many ours gives it."""
    url = urlsplit(asked["path"])
    query = parse_qs(url.query, keep_blank_values=True)
    info = RequestInfoFactory().new_request_info(asked["method"], url.path, query)
    estimator = WorkEstimator(
        lambda group, plural: None, lambda info: asked.get("watchers", 0)
    )
    limit = max_seats(int(asked["seats"]), HANDS[asked["level"]])
    return estimator.estimate(info, query, limit).seats
