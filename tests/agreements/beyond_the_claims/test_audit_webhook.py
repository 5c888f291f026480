"""An audit webhook, and what becomes of events that it does not take."""

from __future__ import annotations

import asyncio
import json
from typing import Any, cast

import pytest

from lifecycle.apiserver.audit.backends import BUFFER_BYTES, WebhookBackend
from lifecycle.apiserver.webhook.call import WebhookError
from lifecycle.cluster.rehearsal import on_virtual_time
from tests.agreements.beyond_the_claims.logged import logged

MINUTE = 60.0


class _Collector:
    """Takes batches, or is out to lunch; notes when each came, and how large it was."""

    def __init__(self, *, fails: bool = False) -> None:
        self.fails = fails
        self.told: list[tuple[int, int]] = []
        self.began = asyncio.get_running_loop().time()

    async def tell(self, body: bytes) -> None:
        """One batch."""
        at = round(asyncio.get_running_loop().time() - self.began)
        self.told.append((at, len(json.loads(body)["items"])))
        if self.fails:
            raise WebhookError("out to lunch")


def batches(
    events: int, line: bytes = b"{}", *, fails: bool = False, room: int = 5
) -> tuple[list[tuple[int, int]], int]:
    """When batches are sent and how many events are in each, if so many come at once,
    and then one more; and how many are lost. A batch is three, or what has come in half
    a minute; the buffer has `room`.
    """

    async def main() -> tuple[list[tuple[int, int]], int]:
        collector = _Collector(fails=fails)
        backend = WebhookBackend(cast(Any, collector), buffer_size=room, max_batch=3, max_wait=MINUTE / 2)
        for _ in range(events):
            backend.write(line)
        await asyncio.sleep(2 * MINUTE)
        backend.write(b"{}")
        await backend.close()
        return collector.told, backend.dropped

    with logged(WebhookBackend.__module__) as lines:
        sent, lost = on_virtual_time(main())
    assert len(lines) == (len(sent) if fails else 0), "whoever runs the server is told"
    return sent, lost


LARGE = b'{"x":"%b"}' % (b"x" * (BUFFER_BYTES // 2))


@pytest.mark.parametrize(
    ("events", "more", "sent", "lost"),
    [
        (2, {}, [(30, 2), (120, 1)], 0),
        (4, {}, [(0, 3), (30, 1), (120, 1)], 0),
        (8, {}, [(0, 3), (30, 2), (120, 1)], 3),
        (2, {"fails": True}, [(30, 2), (120, 1)], 3),
        (2, {"line": LARGE}, [(30, 1), (120, 1)], 1),
    ],
    ids=["few", "a batch", "more than there is room for", "nobody takes them", "larger than there is room for"],
)
def test_events_arrive_when_a_batch_is_full_or_after_a_while_or_are_lost(
    events: int, more: Any, sent: list[tuple[int, int]], lost: int
) -> None:
    assert batches(events, **more) == (sent, lost)


def test_the_event_that_fills_a_batch_ends_the_wait_for_more() -> None:
    """They come a second apart, so the batch of three is full after two seconds, and the fourth is alone."""

    async def main() -> list[tuple[int, int]]:
        collector = _Collector()
        backend = WebhookBackend(cast(Any, collector), buffer_size=5, max_batch=3, max_wait=MINUTE / 2)
        for _ in range(4):
            backend.write(b"{}")
            await asyncio.sleep(1)
        await asyncio.sleep(MINUTE)
        await backend.close()
        return collector.told

    assert on_virtual_time(main()) == [(2, 3), (33, 1)]
