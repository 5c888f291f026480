"""Not too many requests at once: a token bucket in the client, and patience when the
server asks for it.

A client may send `burst` requests at once and `qps` a second after that. An answer of
429 or 5xx that names a `Retry-After` is not the end: the request is sent again after so
many seconds, up to ten times. Connections that break are tried again for GET alone.

Upstream: `client-go/util/flowcontrol/throttle.go` (`tokenBucketRateLimiter`),
`client-go/rest/request.go` (`tryThrottle`), `with_retry.go` (`IsNextRetry`,
`checkWait`), `kubectl/pkg/cmd/cmd.go` (`WithDiscoveryBurst`, `WithDiscoveryQPS`),
v1.36.2.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from lifecycle.api.http.wire import Request, Response
from lifecycle.api.loop.clock import Clock
from lifecycle.client.rest import Transport
from lifecycle.kubectl import source_lines
from lifecycle.kubectl.failures import ConnectionFailed
from lifecycle.kubectl.request.debugging import Log, klog_line

DEFAULT_QPS, DEFAULT_BURST = 5.0, 10
DISCOVERY_QPS, DISCOVERY_BURST = 50.0, 300
MAX_RETRIES = 10
LONG_THROTTLE_LATENCY = 0.05
"""Seconds of waiting from which on it is worth a line in the log (level 3)."""
EXTRA_LONG_THROTTLE_LATENCY = 1.0
"""… and from which on it is worth one at any level."""


class TokenBucket:
    """`burst` tokens to begin with, `qps` new ones a second; `wait` takes one, when
    there is one.
    """

    def __init__(self, qps: float, burst: int) -> None:
        self._qps, self._burst = qps, burst
        self._tokens = float(burst)
        self._at: float | None = None

    def reserve(self, now: float) -> float:
        """Take a token, even from the future; seconds until it may be used."""
        if self._at is not None:
            self._tokens = min(
                float(self._burst), self._tokens + (now - self._at) * self._qps
            )
        self._at = now
        self._tokens -= 1
        return max(0.0, -self._tokens / self._qps)

    async def wait(self) -> float:
        """Wait for a token; the seconds waited."""
        delay = self.reserve(asyncio.get_running_loop().time())
        if delay:
            await asyncio.sleep(delay)
        return delay


def retry_after_seconds(response: Response) -> int | None:
    """How long the server asks to be left alone, if it does: only with 429 and 5xx, and
    only in whole seconds.
    """
    after = response.headers.get("retry-after", "")
    if (response.status == 429 or response.status >= 500) and after.isdecimal():
        return int(after)
    return None


class RetryTransport:
    """Throttles, sends, and sends again. `level` is the verbosity: waiting is told from
    3 on, retries from 4 on.
    """

    def __init__(
        self,
        inner: Transport,
        bucket: TokenBucket,
        *,
        level: int = 0,
        log: Log | None = None,
    ) -> None:
        self._inner = inner
        self._bucket = bucket
        self._level = level
        self._write = log
        self._clock = Clock()

    async def round_trip(self, request: Request) -> Response:
        """See `Transport`. The last answer or error comes back when there were enough
        attempts.
        """
        reason = "client-side throttling, not priority and fairness"
        for attempt in range(1, MAX_RETRIES + 2):
            self._tell_throttled(await self._bucket.wait(), request, reason)
            try:
                answer = await self._inner.round_trip(request)
            except ConnectionFailed as broken:
                if (
                    broken.kind != "eof"
                    or request.method != "GET"
                    or attempt > MAX_RETRIES
                ):
                    raise
                seconds = 1
                why = f"due to retryable error, error: {broken}"
            else:
                after = retry_after_seconds(answer)
                if after is None or attempt > MAX_RETRIES:
                    return answer
                seconds = after
                uid = answer.headers.get("x-kubernetes-pf-flowschema-uid", "")
                throttled = f'due to server-side throttling, FlowSchema UID: "{uid}"'
                why = throttled if answer.status == 429 else str(answer.status)
            await asyncio.sleep(seconds)
            reason = (
                f"retries: {attempt}, retry-after: {seconds}s - retry-reason: {why}"
            )
            if self._level >= 4:
                values = {
                    "delay": f"{seconds}s",
                    "attempt": attempt,
                    "url": request.path,
                }
                self._log(
                    "Got a Retry-After response", values, source_lines.RETRY_AFTER
                )
        raise AssertionError("the last attempt returns or raises")

    def _tell_throttled(self, delay: float, request: Request, reason: str) -> None:
        if delay > LONG_THROTTLE_LATENCY and (
            self._level >= 3 or delay > EXTRA_LONG_THROTTLE_LATENCY
        ):
            values = {
                "delay": f"{delay:.9g}s",
                "reason": reason,
                "verb": request.method,
                "URL": request.path,
            }
            self._log("Waited before sending request", values, source_lines.THROTTLED)

    def _log(self, message: str, values: Mapping[str, object], source: str) -> None:
        if self._write is not None:
            self._write(
                klog_line(message, values, source=source, now=self._clock.now())
            )

    async def close(self) -> None:
        """See `Transport`."""
        await self._inner.close()
