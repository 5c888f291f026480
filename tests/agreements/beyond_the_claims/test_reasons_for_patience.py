"""What a client says of its waiting: how often it has tried, how long it waits, and at whose wish."""

from __future__ import annotations

import pytest

from lifecycle.api.http.wire import Request, Response
from lifecycle.cluster.rehearsal import on_virtual_time
from lifecycle.kubectl.failures import ConnectionFailed
from lifecycle.kubectl.request.throttling import RetryTransport, TokenBucket

FAIRNESS = {"x-kubernetes-pf-flowschema-uid": "u-1"}
OURSELVES = 'reason="client-side throttling, not priority and fairness"'
THROTTLED = (
    r'reason="retries: {}, retry-after: {}s - retry-reason: due to server-side throttling, FlowSchema UID: \"{}\""'
)
BROKEN = 'reason="retries: {}, retry-after: 1s - retry-reason: due to retryable error, error: EOF"'


class _Answers:
    """One answer after the other, then 200."""

    def __init__(self, *answers: Response | ConnectionFailed) -> None:
        self._answers = list(answers)

    async def round_trip(self, request: Request) -> Response:
        answer = self._answers.pop(0) if self._answers else Response(200)
        if isinstance(answer, ConnectionFailed):
            raise answer
        return answer

    async def close(self) -> None:
        """Nothing is open."""


def told(*answers: Response | ConnectionFailed, qps: float = 0.1, level: int = 0, requests: int = 1) -> list[str]:
    """What is written, from the message on, of requests through a bucket that holds one token."""
    lines = list[str]()

    async def main() -> None:
        transport = RetryTransport(_Answers(*answers), TokenBucket(qps, 1), level=level, log=lines.append)
        for _ in range(requests):
            await transport.round_trip(Request("GET", "/version", query={"timeout": "32s"}))

    on_virtual_time(main())
    return [line.partition("] ")[2].rstrip("\n") for line in lines]


def asks_for(status: int, after: int, **headers: str) -> Response:
    return Response(status, {"retry-after": str(after), **headers})


def _waited(seconds: str, reason: str) -> str:
    return f'"Waited before sending request" delay="{seconds}s" {reason} verb="GET" URL="/version"'


@pytest.mark.parametrize(
    ("answers", "reasons"),
    [
        ((asks_for(429, 3, **FAIRNESS),), [THROTTLED.format(1, 3, "u-1")]),
        ((asks_for(429, 3),), [THROTTLED.format(1, 3, "")]),
        ((asks_for(429, 0, **FAIRNESS),) * 2, [THROTTLED.format(1, 0, "u-1"), THROTTLED.format(2, 0, "u-1")]),
        ((asks_for(503, 2, **FAIRNESS),), ['reason="retries: 1, retry-after: 2s - retry-reason: 503"']),
        ((asks_for(500, 1),), ['reason="retries: 1, retry-after: 1s - retry-reason: 500"']),
        ((ConnectionFailed("EOF", "eof", "h:1"),), [BROKEN.format(1)]),
        (
            (asks_for(503, 1), ConnectionFailed("EOF", "eof", "h:1"), asks_for(429, 4)),
            ['reason="retries: 1, retry-after: 1s - retry-reason: 503"', BROKEN.format(2), THROTTLED.format(3, 4, "")],
        ),
    ],
)
def test_who_waits_for_a_token_says_what_brought_the_request_back(
    answers: tuple[Response | ConnectionFailed, ...], reasons: list[str]
) -> None:
    """Upstream: `client-go/rest/with_retry.go` (`getRetryReason`)."""
    found = told(*answers)
    assert [reason in line for line, reason in zip(found, reasons, strict=True)] == [True] * len(reasons), found


def test_a_request_that_comes_too_soon_says_that_nobody_but_its_client_holds_it_back() -> None:
    assert told(requests=2) == [_waited("10", OURSELVES)]
    assert told(asks_for(429, 1), requests=2, qps=1.0, level=3) == [_waited("1", OURSELVES)], "the next one is another"


@pytest.mark.parametrize(
    ("qps", "level", "lines"),
    [
        (1.0, 2, 0),  # a second is no long wait
        (1.0, 3, 1),
        (0.9, 2, 1),
        (0.9, 0, 1),
        (20.0, 3, 0),  # nor is a twentieth of one at all
        (19.0, 3, 1),
        (19.0, 2, 0),
    ],
)
def test_long_waits_are_told_to_everybody_and_short_ones_to_who_asked_for_more(
    qps: float, level: int, lines: int
) -> None:
    """Upstream: `client-go/rest/request.go` (`longThrottleLatency`, `extraLongThrottleLatency`)."""
    assert len(told(requests=2, qps=qps, level=level)) == lines


@pytest.mark.parametrize("level", [3, 4])
def test_each_retry_is_told_from_the_fourth_level_on(level: int) -> None:
    found = told(asks_for(503, 2), asks_for(429, 1), qps=100.0, level=level)
    assert found == [
        f'"Got a Retry-After response" delay="{delay}s" attempt={attempt} url="/version"'
        for attempt, delay in ((1, 2), (2, 1))
        if level == 4
    ]
