"""What is said of a hook: whom it asked, what it answered, and that it did without TLS."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from lifecycle.api.http.wire import Object
from lifecycle.cri.apis.pod_network import NO_TLS, HTTPAnswer, HTTPRequest
from lifecycle.kubelet.lifecycle.handlers import HookRunner

POD: Object = {"metadata": {"name": "p", "namespace": "n", "uid": "u"}}
CONTAINER: Object = {"name": "c", "ports": [{"name": "web", "containerPort": 8080}]}
WHERE = 'for Container "c" in Pod "p_n(u)" failed - error: '


class _Runtime:
    def __init__(self, secure: HTTPAnswer, plain: HTTPAnswer, ran: tuple[int, str, str] = (0, "", "")) -> None:
        self.answers, self.ran = {"https": secure, "http": plain}, ran
        self.asked = list[str]()

    async def http_get(self, request: HTTPRequest, timeout: float) -> HTTPAnswer:
        self.asked.append(request.url)
        return self.answers[request.scheme.lower()]

    async def exec_sync(self, container_id: str, command: tuple[str, ...], timeout: float) -> Any:
        self.asked.append(f"{container_id}: {'|'.join(command)}")
        code, stdout, stderr = self.ran
        return type("Answer", (), {"exit_code": code, "stdout": stdout, "stderr": stderr})()


def _said(runtime: _Runtime, hook: Object) -> tuple[str, list[str]]:
    """Why it failed, and the events."""
    events = list[str]()
    runner = HookRunner(cast(Any, runtime), lambda pod, kind, reason, message, _: events.append(f"{reason}: {message}"))
    return asyncio.run(runner.run(POD, "id", CONTAINER, hook, "10.0.0.9")), events


OK, REFUSED, NONE = HTTPAnswer(200), HTTPAnswer(0, "connection refused"), HTTPAnswer(0, f"Get: {NO_TLS}")
FALLBACK = "LifecycleHTTPFallback: request to HTTPS lifecycle hook {} got HTTP response, retry with HTTP succeeded"


@pytest.mark.parametrize(
    ("get", "secure", "plain", "failed", "told"),
    [
        ({}, OK, OK, "", []),
        ({}, HTTPAnswer(500), REFUSED, "", []),  # an answer is an answer
        ({}, NONE, OK, "", [FALLBACK.format("10.0.0.9:8080")]),
        ({"host": "other.example"}, NONE, OK, "", [FALLBACK.format("other.example:8080")]),
        ({}, NONE, HTTPAnswer(404), "", [FALLBACK.format("10.0.0.9:8080")]),
        # who does not answer in plain either is told of as it was asked first
        ({}, NONE, REFUSED, f"Get: {NO_TLS}", []),
        # and another failure is no reason to give TLS up
        ({}, REFUSED, OK, "connection refused", []),
        ({"path": "/bye"}, REFUSED, OK, "connection refused", []),
    ],
)
def test_who_asks_for_tls_goes_without_it_only_where_there_is_none(
    get: Object, secure: HTTPAnswer, plain: HTTPAnswer, failed: str, told: list[str]
) -> None:
    runtime = _Runtime(secure, plain)
    why, events = _said(runtime, {"httpGet": {"port": "web", "scheme": "HTTPS", **get}})
    assert why == (f"HTTP lifecycle hook ({get.get('path', '')}) {WHERE}{failed}" if failed else "")
    assert events == told
    assert len(runtime.asked) == 1 + (secure is NONE)


def test_a_port_that_nobody_has_declared_is_not_asked() -> None:
    runtime = _Runtime(OK, OK)
    why, _ = _said(runtime, {"httpGet": {"port": "nope", "path": "/x"}})
    assert why == f'HTTP lifecycle hook (/x) {WHERE}strconv.Atoi: parsing "nope": invalid syntax'
    assert runtime.asked == []


@pytest.mark.parametrize(
    ("ran", "failed"),
    [
        ((0, "bye", ""), ""),
        ((0, "", "warning"), ""),
        ((1, "", ""), "command 'say good bye' exited with 1: , message: \"\""),
        ((3, 'a"b\n', "é"), 'command \'say good bye\' exited with 3: é, message: "a\\"b\\né"'),
    ],
)
def test_a_command_fails_with_its_code_whether_it_has_said_anything_or_not(
    ran: tuple[int, str, str], failed: str
) -> None:
    runtime = _Runtime(OK, OK, ran)
    why, _ = _said(runtime, {"exec": {"command": ["say", "good", "bye"]}})
    assert why == (f"Exec lifecycle hook ([say good bye]) {WHERE}{failed}" if failed else "")
    assert runtime.asked == ["id: say|good|bye"]
