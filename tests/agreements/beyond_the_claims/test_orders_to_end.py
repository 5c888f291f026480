"""Who is told to end, and how soon: less time counts, more does not, and nothing brings back what has ended."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from lifecycle.kubelet.pod_sync_status import State
from lifecycle.kubelet.pod_workers import PodWorkers


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (State.SYNC, State.TERMINATING),
        (State.TERMINATING, State.TERMINATING),
        (State.TERMINATED, State.TERMINATED),
    ],
)
@pytest.mark.parametrize(
    ("had", "given", "has"),
    [(None, None, None), (None, 5.0, 5.0), (30.0, 5.0, 5.0), (5.0, 30.0, 5.0), (5.0, 5.0, 5.0), (5.0, None, 5.0)],
)
@pytest.mark.parametrize("stops", [False, True])
def test_the_shortest_time_that_anybody_has_said_counts(
    before: State, after: State, had: float | None, given: float | None, has: float | None, stops: bool
) -> None:
    """Who is being stopped is stopped again if there is less time now. Upstream: `calculateEffectiveGracePeriod`,
    `UpdatePod`.
    """
    cancelled = list[None]()
    stopping = SimpleNamespace(cancel=lambda: cancelled.append(None)) if stops else None
    known = SimpleNamespace(state=before, grace_period=had, stopping=stopping)
    PodWorkers._terminate(cast(Any, None), cast(Any, known), given)
    assert (known.state, known.grace_period) == (after, has)
    assert len(cancelled) == (stops and has != had)
