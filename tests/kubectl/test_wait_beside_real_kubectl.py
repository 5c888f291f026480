"""`wait`: the real kubectl 1.36 and ours wait for the same, and say the same."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lifecycle.api.http.wire import Request, Response, WatchFrame
from lifecycle.kubectl.commands.wait_conditions import StatusCondition
from tests.kubectl.beside import Answer, Both
from tests.kubectl.fake_server import FakeServer, kubectl

LINES = """
wait
wait pod/lonely --for=
wait pod/lonely --for=bogus
wait pod/lonely --for=create,condition=Ready
wait pod/lonely --for=CONDITION=Ready
wait pod/lonely --for=condition=Ready
wait pod/lonely --for=condition=READY=tRUE --for=jsonpath={.status.phase}=Running
wait pod/lonely --for=create
wait pod/nope --for=create --timeout=0
wait -f HOME/settings.yaml --for=create --timeout=1s
wait pod/lonely --for=delete --timeout=0
wait pod/nope --for=delete
wait pod/nope --for=condition=Ready --timeout=1s
wait pods --for=condition=Ready
wait pods --all --for=condition=Ready -o name
wait pods -l a=b --for=condition=Ready
wait pods -l a=b --for=delete
wait pod --field-selector metadata.name=lonely --for=condition=ready
wait deploy/web --for=jsonpath={.status.readyReplicas}=3
wait deploy/web --for=jsonpath=.status.readyReplicas='"3"'
wait deploy/web --for=jsonpath={.status.nope}=3 --timeout=0
wait deploy/web --for=jsonpath={.spec.template}
wait deploy/web --for=jsonpath={.spec.template}=x
wait deploy/web --for=jsonpath={.status.conditions[*].type}=x
wait deploy/web --for='jsonpath={.status.conditions[?(@.type=="Available")].status}=True'
wait deploy/web --for=jsonpath={.a}=b=c
wait deploy/web --for=jsonpath={.a}=
wait deploy/web --for=jsonpath=
wait deploy/web --for='jsonpath={.a'
wait deploy/web --for=condition=Available --timeout=-1s -o jsonpath={.metadata.name}
wait deploy/web --for=condition=Available -o bad
wait deploy/web --for=condition=Available=false --timeout=0
wait nope/x --for=delete
wait -f HOME/nope.yaml --for=delete
""".strip().splitlines()


def settled(answer: Answer, who: str = "") -> tuple[object, ...]:
    """Without client-go's notes about its own watches, and the random ends of names."""
    code, out, err = answer
    return code, re.sub(r"web-\w+-\w{5}", "web-<random>", out), re.sub(r"(?m)^[EIW]\d{4} .*\n", "", err)


def test_the_two_wait_for_the_same(both: Both) -> None:
    answers = both.ahead(LINES)
    asked = [(line, settled(answers[line].result()), settled(both.ours(line))) for line in LINES]
    wrong = [each for each in asked if each[1] != each[2]]
    assert not wrong, "\n\n".join("\n".join(map(str, each)) for each in wrong)


@pytest.mark.parametrize(
    ("line", "meanwhile"),
    [
        ("wait cm/later --for=create --timeout=20s", "create configmap later"),
        ("wait cm/later --for=jsonpath={.data.a}=b --timeout=20s", 'patch cm later -p {"data":{"a":"b"}}'),
    ],
)
def test_what_comes_later_is_waited_for(both: Both, line: str, meanwhile: str) -> None:
    namespace = " -n ours"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(both.ours, line + namespace)
        command, quote, patch = meanwhile.partition("{")
        assert both.real(f"{command}{quote and repr(quote + patch)}{namespace}")[0] == 0
        assert waiting.result() == (0, "configmap/later condition met\n", "")


LONELY = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "lonely", "namespace": "default"},
    "status": {"conditions": [{"type": "Ready", "status": "True"}]},
}
PODS = "/api/v1/namespaces/default/pods"


def test_what_goes_while_somebody_waits_is_told_as_it_was() -> None:
    listed = {"items": [LONELY], "metadata": {"resourceVersion": "1"}}
    frames = [("MODIFIED", LONELY), ("DELETED", LONELY)]
    answers = {f"GET {PODS}/lonely": LONELY, f"GET {PODS}": listed, f"WATCH {PODS}": frames}
    code, out, err, server = kubectl("wait pod/lonely --for=delete", answers)
    assert (code, out, err) == (0, "pod/lonely condition met\n", "")
    watch = server.requests[-1]
    assert (watch.param("resourceVersion"), watch.param("fieldSelector")) == ("1", "metadata.name=lonely")


@pytest.mark.parametrize(
    ("line", "out", "err"),
    [
        (
            "wait pod/lonely --for=create --for=condition=ready=false --timeout=1s",
            "pod/lonely condition met\n",
            "error: timed out waiting for the condition on pods/lonely\n",
        ),
        ("wait pod/nope --for=create --timeout=1s", "", "error: timed out waiting for the condition\n"),
        (
            "wait pod/lonely --for=delete --timeout=2m",
            "",
            "error: timed out waiting for the condition on pods/lonely\n",
        ),
        (
            "wait pod/lonely --for=delete --for=create --timeout=1s",
            "",
            "error: timed out waiting for the condition on pods/lonely\n",
        ),
    ],
)
def test_what_lasts_too_long_is_given_up_in_the_real_one_s_words(line: str, out: str, err: str) -> None:
    """On virtual time; the words are those of kubectl 1.36 about the same lines. Watches end at once here, and are begun anew."""
    listed = {"items": [LONELY], "metadata": {"resourceVersion": "1"}}
    answers = {f"GET {PODS}/lonely": LONELY, f"GET {PODS}": listed, f"WATCH {PODS}": []}
    assert kubectl(line, answers)[:3] == (1, out, err)


class Lasting(FakeServer):
    """Its watches last an hour and tell nothing. `begun`: when they began, in seconds."""

    def __init__(self, answers: dict[str, Any]) -> None:
        super().__init__(answers)
        self.begun: list[float] = []

    async def round_trip(self, request: Request) -> Response:
        if not request.query.get("watch"):
            return await super().round_trip(request)
        self.begun.append(asyncio.get_running_loop().time())
        return Response(stream=self._nothing())

    async def _nothing(self) -> AsyncIterator[WatchFrame]:
        await asyncio.sleep(HOUR)
        for frame in ():
            yield frame


HOUR = 3600.0


def test_less_than_no_time_is_a_week() -> None:
    listed = {"items": [LONELY], "metadata": {"resourceVersion": "1"}}
    server = Lasting({f"GET {PODS}/lonely": LONELY, f"GET {PODS}": listed})
    code, out, err, _ = kubectl("wait pod/lonely --for=condition=Nope --timeout=-1s", server=server)
    assert (code, out, err) == (1, "", "error: timed out waiting for the condition on pods/lonely\n")
    assert 7 * 24 * HOUR - HOUR - 10 < server.begun[-1] - server.begun[0] < 7 * 24 * HOUR
    assert len(server.begun) == 7 * 24


def test_a_condition_that_was_found_before_the_last_change_does_not_count() -> None:
    condition = {"type": "Ready", "status": "True"}
    obj = {"metadata": {"generation": 2}, "status": {"conditions": [condition], "observedGeneration": 1}}
    ready = StatusCondition("ready", "true")
    assert not ready.check(obj)
    assert ready.check({**obj, "metadata": {"generation": 1}})
    assert ready.check(
        {**obj, "status": {"conditions": [{**condition, "observedGeneration": 2}], "observedGeneration": 1}}
    )
