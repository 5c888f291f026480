"""A scenario played, and judged."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from lifecycle.api.loop.clock import run_virtual
from tests.chaos import end_state
from tests.chaos.history import History
from tests.chaos.invariants import broken
from tests.chaos.revisions import misremembered
from tests.chaos.scenario import Scenario
from tests.chaos.users import Users
from tests.chaos.world import ChaosCluster

QUIET = 420.0
"""Nothing has happened for so many virtual seconds: longer than pods tolerate a silent node, and than the longest pause."""
PATIENCE = 4 * 3600.0


@dataclass
class Outcome:
    """What came of playing a scenario once."""

    history: History
    tasks: Counter[str] = field(default_factory=Counter)
    watchers: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


class _Complaints(logging.Handler):
    """Keeps what is logged with a traceback: nobody expected that."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.said: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """See `logging.Handler`."""
        error = record.exc_info[1] if record.exc_info else None
        if record.exc_info and not isinstance(error, OSError | TimeoutError | EOFError):
            self.said.append(f"logged: {record.getMessage()}: {error!r}")


def play(scenario: Scenario) -> Outcome:
    """Once, with the faults that it has."""
    complaints = _Complaints()
    root = logging.getLogger()
    root.addHandler(complaints)
    try:
        outcome = run_virtual(_play(scenario))
    finally:
        root.removeHandler(complaints)
    outcome.problems += [f"invariant {violation}" for violation in broken(outcome.history)]
    outcome.problems += sorted(set(complaints.said))
    return outcome


async def _play(scenario: Scenario) -> Outcome:
    loop = asyncio.get_running_loop()
    complaints: list[str] = []
    loop.set_exception_handler(
        lambda _, context: complaints.append(f"unheard: {context['message']}: {context.get('exception')!r}")
    )
    cluster = ChaosCluster(scenario)
    outcome = Outcome(cluster.history)
    try:
        await cluster.start()
        day = asyncio.create_task(_day(cluster, scenario, outcome), name="the day")
        await asyncio.wait([day, cluster.following], return_when=asyncio.FIRST_COMPLETED)
        if day.done():
            await day
        else:
            day.cancel()
            outcome.problems.append(f"it runs away: {_busiest(cluster)}")
        if cluster.supervisor.failed.done():
            error = cluster.supervisor.failed.exception()
            outcome.problems.append(f"a component died: {error!r} {' '.join(getattr(error, '__notes__', ()))}")
        outcome.tasks, outcome.watchers = end_state.tasks(), end_state.watchers(cluster)
    finally:
        await cluster.stop()
    await asyncio.sleep(1)
    left = end_state.tasks() - Counter([asyncio.current_task().get_coro().__qualname__])  # type: ignore[union-attr]
    outcome.problems += [f"still runs when all is stopped: {name} ({count})" for name, count in left.items()]
    outcome.problems += complaints
    return outcome


async def _day(cluster: ChaosCluster, scenario: Scenario, outcome: Outcome) -> None:
    """Users act and things go wrong; then it is over, and things settle."""
    loop = asyncio.get_running_loop()
    await asyncio.sleep(5)
    users = Users(cluster.client("kubectl"))
    storm = asyncio.create_task(cluster.storm(), name="the storm")
    began = loop.time()
    acting = set()
    for _, action in scenario.actions:
        await asyncio.sleep(max(0.0, began + action.at - loop.time()))
        acting.add(asyncio.create_task(_after(acting.copy(), users.act(action)), name=str(action)))
    await asyncio.gather(*acting, storm)
    await users.go_home()
    if await _quiet(cluster):
        outcome.problems += end_state.left_behind(cluster.history)
        outcome.problems += await end_state.leaked(cluster)
        outcome.problems += misremembered(cluster.history)
    else:
        outcome.problems.append(f"nothing settles: {_busiest(cluster)}")


def _busiest(cluster: ChaosCluster) -> list[tuple[str, int]]:
    return Counter(change.key for change in cluster.history.changes[-200:]).most_common(3)


async def _after(earlier: set[asyncio.Task[None]], action: Any) -> None:
    """Users do one thing after the other, however long the first took."""
    if earlier:
        await asyncio.wait(earlier)
    await action


async def _quiet(cluster: ChaosCluster) -> bool:
    """Wait until nothing has happened for long; False if that does not come."""
    loop = asyncio.get_running_loop()
    ends = loop.time() + PATIENCE
    since = loop.time()
    while loop.time() < ends:
        since = max(since, cluster.history.last_news)
        if loop.time() - since >= QUIET:
            return True
        await asyncio.sleep(max(1.0, since + QUIET - loop.time()))
    return False


def judge(scenario: Scenario) -> list[str]:
    """What is wrong; empty if nothing is."""
    calm = play(scenario.without_faults())
    problems = [f"without faults: {problem}" for problem in calm.problems]
    if scenario.faults:
        stormy = play(scenario)
        problems += stormy.problems
        states = [end_state.end_state(each.history) for each in (calm, stormy)]
        differences = end_state.differences(*states)
        problems += [f"end state: {line}" for line in differences]
        problems += end_state.more(stormy.tasks, calm.tasks, "tasks left:")
        problems += end_state.more(stormy.watchers, calm.watchers, "watches left:")
    return problems
