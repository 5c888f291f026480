"""The aggregation layer held against a real API server: added servers that are not
there, each for another reason.

For each an APIService is made, with a Service and EndpointSlices or without. What does
its condition say, what is a client told who asks for the group, is the group in the
list of all, and what is left when the APIService is deleted?
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.agreements.bare_server import on_bare_server
from lifecycle.api.http.wire import Object
from lifecycle.cluster.target import HandlerTarget
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"
SETTLED = 3.0


def aggregation_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each added server. `programs`: what the real one said; None: as
    recorded.
    """
    servers = asked(programs, "aggregated")
    table = AgreementTable(
        "Added servers that are not there",
        "lifecycle",
        f"{servers[0].program}, asked directly",
        lambda table: (
            f"{len(servers)} API servers are added, and each is out of reach for"
            " another reason. The real API server and ours are asked the same about"
            f" each: {table.outcome('answers')}."
        ),
    )
    ours = on_bare_server(lambda target: _ask(target, [s.answer for s in servers]))
    for each, mine in zip(servers, ours, strict=True):
        theirs = each.answer["answers"]
        what = each.question.partition("/")[2]
        table.add(
            "aggregation", what, _short(mine), _short(theirs), compare(mine, theirs)
        )
    return table


def _short(answers: Object) -> str:
    return f"{answers['condition'].get('reason')}, {answers['resource']['code']}"


async def _ask(target: HandlerTarget, cases: list[Object]) -> list[Object]:
    answers = []
    for case in cases:
        for path, obj in case["objects"]:
            await _send(target, "POST", path, obj)
        await asyncio.sleep(SETTLED)
        group, name = case["group"], case["name"]
        seen = {
            "condition": condition(await _send(target, "GET", f"{API_SERVICES}/{name}"))
        }
        for what, path in questions(group).items():
            seen[what] = told(await _send(target, "GET", path))
        seen["listed"] = listed(group, await _send(target, "GET", "/apis"))
        await _send(target, "DELETE", f"{API_SERVICES}/{name}")
        await asyncio.sleep(SETTLED)
        seen["gone"] = told(await _send(target, "GET", f"/apis/{group}/v1/things"))
        answers.append(seen)
    return answers


async def _send(
    target: HandlerTarget, method: str, path: str, body: Object | None = None
) -> tuple[int, Any]:
    headers = {"Accept": "application/json", "Content-Type": "application/json"}
    content = json.dumps(body).encode() if body else b""
    status, _, answer = await target.request(method, path, headers, content)
    return status, parsed(answer.decode())


def parsed(text: str) -> Any:
    """JSON if it is."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def questions(group: str) -> dict[str, str]:
    """What is asked about a group."""
    return {
        "group": f"/apis/{group}",
        "version": f"/apis/{group}/v1",
        "resource": f"/apis/{group}/v1/things",
    }


def told(reply: tuple[int, Any]) -> Object:
    """Code, and what a client is told: a text, or a Status's words."""
    code, body = reply
    if isinstance(body, dict) and body.get("kind") == "Status":
        body = {key: body[key] for key in ("reason", "message") if key in body}
    return {"code": code, "body": body}


def condition(reply: tuple[int, Any]) -> Object:
    """`Available`: status, reason, message."""
    for each in reply[1].get("status", {}).get("conditions", ()):
        if each["type"] == "Available":
            return {key: each[key] for key in ("status", "reason", "message")}
    return {}


def listed(group: str, reply: tuple[int, Any]) -> Any:
    """The group's entry in the list of all, or nothing."""
    return next((each for each in reply[1]["groups"] if each["name"] == group), None)
