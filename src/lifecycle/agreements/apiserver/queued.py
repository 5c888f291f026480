"""Fair queuing held against a real API server: who is let in, and who is sent away,
when there are more requests than seats.

Behind the real one stood a webhook that keeps each request until it is told to let it
go. So who is inside is known after every step, and whose turn it is next shows when
somebody leaves. Ours is the filter, with a handler in the webhook's place, the same
flow schemas and levels, and the same pace: how long each request took counts.
"""

from __future__ import annotations

import asyncio
from typing import Any

from lifecycle.agreements.asked_programs import asked
from lifecycle.api.http.wire import Object, Request, Response, UserInfo
from lifecycle.apiserver.filters.priority_and_fairness import (
    FlowController,
    with_priority_and_fairness,
)
from lifecycle.apiserver.filters.request_info import RequestInfoFactory
from lifecycle.apiserver.filters.seat_borrowing import ADJUSTMENT_PERIOD
from lifecycle.apiserver.server.chain import REQUEST_TIMEOUT
from lifecycle.apiserver.storage.object_reader import StaticReader
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.compare import AgreementTable
from lifecycle.compare.compare import compare
from lifecycle.compare.program_answers import ProgramAnswers

PAUSE = 0.6
"""Seconds after a step, until it is looked who is inside."""


def queuing_agreement(programs: ProgramAnswers | None = None) -> AgreementTable:
    """A row for each step. `programs`: what the real one did; None: as recorded."""
    scenes = asked(programs, "queued")
    table = AgreementTable(
        "Whose turn it is",
        "lifecycle",
        f"{scenes[0].program}, asked directly",
        lambda table: (
            f"{len(table.computed)} times somebody comes to a server with few seats, or"
            " leaves. Who is inside then, and who is sent away, at a real API server"
            f" and at ours: {table.outcome('steps')}."
        ),
    )
    for scene in scenes:
        what, steps = scene.question.partition("/")[2], scene.answer["steps"]
        ours = our_steps(scene.answer)
        for number, (mine, step) in enumerate(zip(ours, steps, strict=True), 1):
            theirs = step["after"]
            table.add(
                what,
                f"{number}. {named(step)}",
                _short(mine),
                _short(theirs),
                compare(mine, theirs),
            )
    return table


def named(step: Object) -> str:
    """What is done in a step."""
    if "ask" in step:
        return f"{step['user']} asks for {step['ask']}"
    if "give up" in step:
        return f"{step['give up']} gives up"
    return "the first leaves" if "release" in step else "nothing"


def _short(after: Object) -> str:
    turned = [name for name, [code, _] in after["answered"].items() if code == 429]
    inside = ", ".join(after["inside"]) or "nobody"
    return f"{inside}; not {', '.join(turned)}" if turned else inside


class _Gate:
    """Knows who has arrived, and lets whoever it is told go on."""

    def __init__(self) -> None:
        self.arrived: list[str] = []
        self.doors: dict[str, asyncio.Event] = {}

    async def __call__(self, request: Request) -> Response:
        name = request.body.decode()
        self.arrived.append(name)
        self.doors[name] = asyncio.Event()
        await self.doors[name].wait()
        return Response(201)


def our_steps(scene: Object) -> list[Object]:
    """Who is inside after each step, with our filter."""

    async def play() -> list[Object]:
        gate = _Gate()
        controller = FlowController(StaticReader(scene["objects"]), scene["seats"])
        handler = with_priority_and_fairness(gate, controller, REQUEST_TIMEOUT / 4)
        visitors: dict[str, asyncio.Task[Response]] = {}
        told: set[str] = set()
        done: set[str] = set()
        steps = []
        await _have_been_idle(controller)
        begun = asyncio.get_running_loop().time()
        for step in scene["steps"]:
            now = asyncio.get_running_loop().time()
            await asyncio.sleep(begun + step["t"] - now)
            if "ask" in step:
                asking = handler(_request(step))
                visitors[step["ask"]] = asyncio.ensure_future(asking)
            elif "give up" in step:
                visitors.pop(step["give up"]).cancel()
            elif "release" in step:
                for first in [n for n in gate.arrived if n not in done][:1]:
                    done.add(first)
                    gate.doors[first].set()
            await asyncio.sleep(PAUSE)
            new = {
                name: _answer(task.result())
                for name, task in visitors.items()
                if task.done() and name not in told
            }
            told |= new.keys()
            inside = [name for name in gate.arrived if name not in done]
            steps.append(after(inside, new))
        return steps

    return on_virtual_time(play())


async def _have_been_idle(controller: FlowController) -> None:
    """As the real server had been, until it had dealt out what nobody needed: whoever
    comes now and then is answered at once.
    """

    async def at_once(request: Request) -> Response:
        return Response(200)

    handler = with_priority_and_fairness(at_once, controller, REQUEST_TIMEOUT / 4)
    for _ in range(2):
        await handler(_request({"ask": "", "user": "visitor", "namespace": "default"}))
        await asyncio.sleep(ADJUSTMENT_PERIOD)


def after(inside: list[str], answered: dict[str, list[Any]]) -> Object:
    """Who is inside, in the order of their coming; who was answered what since."""
    return {"inside": inside, "answered": answered}


def _request(step: Object) -> Request:
    path = f"/api/v1/namespaces/{step['namespace']}/configmaps"
    return Request(
        "POST",
        path,
        body=step["ask"].encode(),
        user=UserInfo(step["user"], ("queued", "system:authenticated")),
        info=RequestInfoFactory().new_request_info("POST", path, {}),
        deadline=asyncio.get_running_loop().time()
        + float(step.get("timeout", REQUEST_TIMEOUT)),
    )


def _answer(response: Response) -> list[Any]:
    """Its code, and when to come again."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    return [response.status, headers.get("retry-after", "")]
