"""What an API server still takes, held against a real one: fields with values on both
sides of their bounds.

The longest name and one letter more, the last port and the one after it, a request as
large as its limit and a thousandth larger. Both servers are asked as a dry run, and of
each answer the code is compared, and what is said if it is a no.
"""

from __future__ import annotations

import json
import re
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.bare_server import on_bare_server
from lifecycle.api.http.wire import Object
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

SPACE = "bounded"
HERE = f"/api/v1/namespaces/{SPACE}"
REPEAT = "repeat"
GENERATED = re.compile(r'("(?:-?a+|lent-))[b-df-hj-np-tv-xz24-9]{5}(?=")')
"""What a server adds to the beginning of a name."""
LONGEST = 600
"""Letters of a message that are compared: some repeat what was sent."""


def bounded_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each field. `programs`: what the real one said; None: as recorded."""
    fields = asked(programs, "bounded")
    values = sum(len(each.answer["values"]) for each in fields)
    table = AgreementTable(
        "On both sides of a bound",
        "lifecycle",
        f"{fields[0].program}, asked directly",
        lambda table: (
            f"{len(fields)} fields, and {values} values just within their bounds and"
            " just beyond. Which of them a real API server takes, what it says of the"
            f" others, and ours: {table.outcome('fields')}."
        ),
    )
    ours = our_answers([each.answer for each in fields])
    for each, mine in zip(fields, ours, strict=True):
        theirs = each.answer["answers"]
        table.add(
            "bounds",
            each.question.partition("/")[2],
            _short(mine),
            _short(theirs),
            compare(
                _by_value(each.answer["values"], mine),
                _by_value(each.answer["values"], theirs),
            ),
        )
    return table


def our_answers(fields: list[Object]) -> list[list[Object]]:
    """What ours says to each value, field by field."""
    return on_bare_server(lambda target: _ask(target, fields))


def _short(answers: list[Object]) -> str:
    taken = sum(answer["code"] == 201 for answer in answers)
    return f"{taken} of {len(answers)} taken"


def _by_value(values: list[Any], answers: list[Object]) -> Object:
    return {
        f"{number}. {json.dumps(value)}": answer
        for number, (value, answer) in enumerate(zip(values, answers, strict=True), 1)
    }


def expanded(body: Any) -> Any:
    """An object with its long texts: `{"repeat": ["x", 3]}` is `xxx`."""
    if isinstance(body, dict):
        if body.keys() == {REPEAT}:
            text, count = body[REPEAT]
            return text * count
        return {key: expanded(value) for key, value in body.items()}
    return [expanded(each) for each in body] if isinstance(body, list) else body


def in_short(code: int, body: Any) -> Object:
    """A code, and what is said if it is a no."""
    if code < 400:
        return {"code": code}
    told = body if isinstance(body, dict) else {}
    causes = (told.get("details") or {}).get("causes") or []
    message = GENERATED.sub(r"\1GENERATED", str(told.get("message", "")))
    return {
        "code": code,
        "reason": told.get("reason"),
        "message": message if len(message) < LONGEST else f"{message[:LONGEST]} …",
        "fields": [f"{each.get('reason')} {each.get('field')}" for each in causes],
    }


async def _ask(target: HandlerTarget, fields: list[Object]) -> list[list[Object]]:
    await _send(target, "POST", "/api/v1/namespaces", {"metadata": {"name": SPACE}})
    account = {"metadata": {"name": "default"}}
    await _send(target, "POST", f"{HERE}/serviceaccounts", account)
    answers = []
    for field in fields:
        if field["before"]:
            await _send(target, "POST", f"{HERE}/limitranges", field["before"])
        answers.append(
            [
                in_short(*await _send(target, "POST", field["path"], expanded(body)))
                for body in field["bodies"]
            ]
        )
    return answers


async def _send(
    target: HandlerTarget, method: str, path: str, body: Object
) -> tuple[int, Any]:
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    code, _, answer = await target.request(
        method, path, headers, json.dumps(body).encode()
    )
    return code, json.loads(answer)
