"""Added servers that answer, but not well, held against a real API server.

It asks an added server several times at once whether it is there, and believes the
first good answer. Behind the real one stood a server that answers by a script; what its
APIService's condition said first is what one round of questions came to.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object
from lifecycle.apiserver.aggregation.availability import check_discovery
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

ADDRESS = re.compile(r"https://[0-9.]+:[0-9]+")


def answering_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each script. `programs`: what the real one said; None: as recorded."""
    scripts = asked(programs, "answering")
    table = AgreementTable(
        "Added servers that answer",
        "lifecycle",
        f"{scripts[0].program}, asked directly",
        lambda table: (
            f"{len(scripts)} added servers answer by a script when they are asked"
            " whether they are there. What a real API server says of each first, and"
            f" what ours does: {table.outcome('scripts')}."
        ),
    )
    for each in scripts:
        mine, theirs = our_word(each.answer), each.answer["said"]
        what = each.question.partition("/")[2]
        table.add(
            "aggregation",
            what,
            mine.get("reason", ""),
            theirs.get("reason", ""),
            compare(mine, theirs),
        )
    return table


def without_address(said: Object) -> Object:
    """A condition whose message does not say where the server is."""
    return {**said, "message": ADDRESS.sub("https://ADDRESS", said["message"])}


class _Scripted:
    """A way to a server that answers by a script."""

    def __init__(self, codes: list[int], then: int) -> None:
        self._codes, self._then = list(codes), then

    async def send(self, *_: Any, **__: Any) -> Any:
        """The next answer."""
        code = self._codes.pop(0) if self._codes else self._then
        return SimpleNamespace(status=code, close=lambda: None)

    def resolve_endpoint(self, *_: Any) -> tuple[str, int]:
        """Where it is."""
        return "192.0.2.1", 443


def our_word(case: Object) -> Object:
    """What ours says after one round of questions."""
    server: Any = _Scripted(case["first"], case["then"])
    service = {"name": "answering", "namespace": "default"}
    spec = {"group": case["group"], "version": "v1", "service": service}
    found = on_virtual_time(check_discovery({"spec": spec}, server, server))
    return without_address(
        {"status": found.status, "reason": found.reason, "message": found.message}
    )
